import { afterEach, describe, expect, it, vi } from 'vitest';
import { defineTool } from '../tools/define-tool.ts';
import type { ToolLayer } from '../core/layer.ts';
import { governTools } from './govern-tools.ts';

const tool = defineTool({ name: 'echo', description: '', inputSchema: {}, execute: () => 1 });

function boom(secret: string): never {
  throw Object.assign(new Error(`boom ${secret}`), { token: secret });
}

/** Calls the tool once, behind these layers, and answers with the lines that were logged. */
async function linesOf(...layers: readonly ToolLayer[]): Promise<readonly { readonly fields: object; readonly message: string }[]> {
  const lines: { fields: object; message: string }[] = [];
  const log = (fields: object, message: string) => void lines.push({ fields, message });
  const governed = governTools({ tools: [tool], layers, logger: { debug: log, info: log, warn: log, error: log } });
  expect((await governed.call({ name: 'echo', arguments: {}, id: 'c1' })).status).toBe('tool_middleware_exception');
  return lines;
}

const failing = (secret: string): ToolLayer => ({ name: 'failing', caller: () => boom(secret) });
const outer: ToolLayer = { name: 'outer', caller: (call, next) => next(call) };

describe('a layer that throws', () => {
  afterEach(() => void vi.unstubAllEnvs());

  it('is logged once with its stack, whatever stands outside of it', async () => {
    const lines = await linesOf(outer, failing('x'));

    expect(lines).toMatchObject([{ message: 'a layer failed', fields: { toolName: 'echo', toolCallId: 'c1' } }]);
    expect(JSON.stringify(lines)).toMatch(/Error: boom x\\n +at boom /);
  });

  it('is logged without what the stack scrubs, and without the members of its error', async () => {
    const secret = crypto.randomUUID();
    const scrubbing: ToolLayer = { ...outer, scrub: (text) => text.replaceAll(secret, '[clean]') };

    expect(JSON.stringify(await linesOf(scrubbing, failing(secret)))).toMatch(/boom \[clean\]/);
    expect(JSON.stringify(await linesOf(scrubbing, failing(secret)))).not.toContain(secret);
    expect(JSON.stringify(await linesOf(failing('x')))).not.toContain('token');
  });

  it('is answered, too, where the logger fails', async () => {
    const log = () => boom('log');
    const governed = governTools({ tools: [tool], layers: [failing('x')], logger: { debug: log, info: log, warn: log, error: log } });

    expect((await governed.call({ name: 'echo', arguments: {} })).status).toBe('tool_middleware_exception');
  });

  it('is not logged in production', async () => {
    vi.stubEnv('NODE_ENV', 'production');

    expect(await linesOf(failing('x'))).toEqual([]);
  });
});
