import { describe, expect, it } from 'vitest';
import { ok, type ToolCall } from '../index.ts';
import { composeToolCallers } from '../core/onion/compose.ts';
import { LAYER_FACTORIES } from './layer-factories.ts';

describe('a factory that was not called', () => {
  it.each([...LAYER_FACTORIES])('is refused when the stack is composed: %s', (name, factory) => {
    expect(() => composeToolCallers([factory as never])).toThrow(
      expect.objectContaining({
        code: 'ERR_INVALID_LAYER',
        message: `member 1 of the stack is the function "${name}", which does not take (call, next): call it, ${name}(…), and put the layer that it makes into the stack`,
      }) as Error,
    );
  });

  it('is told from a caller that answers every call itself', () => {
    expect(
      composeToolCallers([(call: ToolCall) => ok(call, 1), () => Promise.reject(new Error('x'))])
        .layers,
    ).toHaveLength(2);
  });
});
