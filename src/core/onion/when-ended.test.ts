import { describe, expect, it } from 'vitest';
import { ok, raise, refuse, withResult } from './results.ts';
import { echoExecutor, makeCall } from '../../../conformance/index.ts';
import { composeToolCallers } from './compose.ts';
import { defineLayer, type ToolLayer } from '../contract/layer.ts';
import type { ToolResult } from '../contract/result.ts';
import { whenEnded } from './account.ts';

function listener(): { readonly layer: ToolLayer; readonly heard: ToolResult[] } {
  const heard: ToolResult[] = [];
  const layer = defineLayer({
    name: 'listener',
    caller(call, next) {
      void whenEnded(call).then((result) => heard.push(result));
      return next(call);
    },
  });
  return { layer, heard };
}

const outer = defineLayer({
  name: 'outer',
  caller: async (call, next) => withResult(await next(call), { result: 'from outside' }),
});

describe('whenEnded', () => {
  it('tells a layer inside what the caller gets', async () => {
    const { layer, heard } = listener();
    const result = await composeToolCallers([outer, layer])(makeCall(), echoExecutor());

    expect(heard).toEqual([result]);
    expect(heard[0]?.result).toBe('from outside');
  });

  it('tells the refusal that is raised', async () => {
    const { layer, heard } = listener();
    const refusing = defineLayer({
      name: 'no',
      caller: (call) => raise(refuse(call, 'policy_blocked', 'No.')),
    });

    await expect(
      composeToolCallers([outer, layer, refusing])(makeCall(), echoExecutor()),
    ).rejects.toThrow('policy_blocked');
    expect(heard.map(({ status }) => status)).toEqual(['policy_blocked']);
  });

  it('waits for the outermost stack, where the layer stands in one that runs inside a layer', async () => {
    const { layer, heard } = listener();
    const inner = composeToolCallers([layer]);
    const wrapping = defineLayer({ name: 'wrapping', caller: (call, next) => inner(call, next) });
    const result = await composeToolCallers([outer, wrapping])(makeCall(), echoExecutor());

    expect(heard).toEqual([result]);
  });

  it('is a promise of its own for every pass, also over the same call', async () => {
    const { layer, heard } = listener();
    const stack = composeToolCallers([layer]);
    const call = makeCall();
    await Promise.all([
      stack(call, async (sent) => ok(sent, 1)),
      stack(call, async (sent) => ok(sent, 2)),
    ]);

    expect(heard.map(({ result }) => result).sort()).toEqual([1, 2]);
  });
});
