import { afterEach, describe, expect, it, vi } from 'vitest';
import { defineTool } from '../tools/define-tool.ts';
import type { ToolLayer } from '../core/contract/layer.ts';
import { governTools } from './govern-tools.ts';

const tool = defineTool({ name: 'echo', description: '', inputSchema: {}, execute: () => 1 });

function boom(secret: string): never {
  throw Object.assign(new Error(`boom ${secret}`), { token: secret });
}

/** Calls the tool once, behind these layers, and answers with the lines that were logged. */
async function linesOf(
  ...layers: readonly ToolLayer[]
): Promise<readonly { readonly fields: object; readonly message: string }[]> {
  const lines: { fields: object; message: string }[] = [];
  const log = (fields: object, message: string) => void lines.push({ fields, message });
  const governed = governTools({
    tools: [tool],
    layers,
    logger: { debug: log, info: log, warn: log, error: log },
  });
  expect((await governed.call({ name: 'echo', arguments: {}, id: 'c1' })).status).toBe(
    'tool_middleware_exception',
  );
  return lines;
}

const failing = (secret: string): ToolLayer => ({ name: 'failing', caller: () => boom(secret) });
const outer: ToolLayer = { name: 'outer', caller: (call, next) => next(call) };

describe('a layer that throws', () => {
  afterEach(() => void vi.unstubAllEnvs());

  it('is logged once with the places of its stack, whatever stands outside of it', async () => {
    const [line, ...others] = await linesOf(outer, failing('x'));

    expect(others).toEqual([]);
    expect(line).toMatchObject({
      message: 'a layer failed',
      fields: { toolName: 'echo', toolCallId: 'c1' },
    });
    expect(line?.fields).toHaveProperty('stack.0', expect.stringMatching(/^at boom /));
  });

  it.each([
    ['of one line', 'x'],
    ['that looks like a place', 'x\n    at '],
  ])(
    'is logged without its message %s, and without the members of its error',
    async (_name, before) => {
      const secret = crypto.randomUUID();

      expect(JSON.stringify(await linesOf(failing(before + secret)))).not.toContain(secret);
      expect(JSON.stringify(await linesOf(failing(secret)))).not.toContain('token');
    },
  );

  it.each(['other', ''])(
    'is logged without places where its message is %j by now',
    async (message) => {
      const secret = crypto.randomUUID();
      const changing: ToolLayer = {
        name: 'changing',
        caller: () => {
          throw Object.assign(new Error(`x\n    at ${secret}`), { message });
        },
      };

      expect(JSON.stringify(await linesOf(changing))).not.toContain(secret);
    },
  );

  it('is answered, too, where the logger fails', async () => {
    const log = () => boom('log');
    const governed = governTools({
      tools: [tool],
      layers: [failing('x')],
      logger: { debug: log, info: log, warn: log, error: log },
    });

    expect((await governed.call({ name: 'echo', arguments: {} })).status).toBe(
      'tool_middleware_exception',
    );
  });

  it('is not logged in production', async () => {
    vi.stubEnv('NODE_ENV', 'production');

    expect(await linesOf(failing('x'))).toEqual([]);
  });
});
