import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineTool, fileOutputs, type GovernedTools, governTools } from '../index.ts';
import type { ReadableOutputs } from '../layer.ts';
import { outputLimit } from '../../middleware/output-limit/output-limit.ts';
import { readOutputTool } from './read-output-tool.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'allium-read-output-'));
});
afterAll(() => rm(folder, { recursive: true }));

const text = Array.from({ length: 3000 }, (_, index) => `line ${index} é 😀 語`).join('\n');

/** A stack that cuts at 1 KB, over a tool with a long answer. */
function setup(store: ReadableOutputs = fileOutputs(folder)): GovernedTools {
  const dump = defineTool({
    name: 'dump',
    description: '',
    inputSchema: { type: 'object' },
    execute: () => text,
  });
  return governTools({
    tools: [dump, readOutputTool({ store, maxBytes: 1024 })],
    layers: [outputLimit({ store, maxBytes: 1024 })],
  });
}

const inSession = (sessionId: string) => ({ turn: { sessionId } });
const read = (governed: GovernedTools, args: object, sessionId = 'one') =>
  governed.call({ name: 'read_output', arguments: args }, inSession(sessionId));

/** The id and the offset that the note of a cut result names. */
async function cut(
  governed: GovernedTools,
  sessionId = 'one',
): Promise<{ id: string; offset: number; shown: string }> {
  const { renderedResult } = await governed.call(
    { name: 'dump', arguments: {} },
    inSession(sessionId),
  );
  const at = renderedResult.lastIndexOf('\n[cut: ');
  const { id, offset } = JSON.parse(renderedResult.slice(renderedResult.lastIndexOf('{'), -1)) as {
    id: string;
    offset: number;
  };
  return { id, offset, shown: renderedResult.slice(0, at) };
}

describe('readOutputTool', () => {
  it('leads a model that follows the notes through all of a result, and every part is small enough', async () => {
    const governed = setup();
    const { id, offset, shown } = await cut(governed);
    let all = shown;
    for (let next: string | undefined = String(offset); next !== undefined; ) {
      const { renderedResult, outputFiles } = await read(governed, { id, offset: Number(next) });
      expect([Buffer.byteLength(renderedResult) <= 1024, outputFiles]).toEqual([true, []]);
      const at = renderedResult.lastIndexOf('\n[bytes ');
      all += renderedResult.slice(0, at);
      next = /go on with offset (\d+)\]$/.exec(renderedResult.slice(at))?.[1];
    }

    expect(all).toBe(text);
  });

  it('reads a range', async () => {
    const governed = setup();
    const { id } = await cut(governed);

    expect((await read(governed, { id, offset: 5, length: 6 })).renderedResult).toBe(
      `0 é \n[bytes 5 to 10 of ${Buffer.byteLength(text)}: go on with offset 10]`,
    );
    expect((await read(governed, { id, length: 4 })).renderedResult).toMatch(
      /^line\n\[bytes 0 to 4 of /,
    );
  });

  it('says where the end is, also to whoever asks for more', async () => {
    const governed = setup();
    const { id } = await cut(governed);
    const bytes = Buffer.byteLength(text);

    expect((await read(governed, { id, offset: bytes - 4 })).renderedResult).toBe(
      ` 語\n[bytes ${bytes - 4} to ${bytes} of ${bytes}: the end]`,
    );
    expect((await read(governed, { id, offset: 10 ** 15 })).renderedResult).toBe(
      `\n[bytes ${bytes} to ${bytes} of ${bytes}: the end]`,
    );
  });

  it('does not read what another session kept, and tells it from nothing', async () => {
    const governed = setup();
    const { id } = await cut(governed);
    const theirs = await read(governed, { id }, 'two');
    const nobodys = await read(governed, { id: '0'.repeat(64) }, 'two');

    expect(theirs).toMatchObject({
      ok: false,
      status: 'executor_error',
      errorCategory: 'not_found',
      errorClass: 'repairable',
    });
    expect(theirs.error).toBe(nobodys.error);
    expect((await read(governed, { id }, 'one')).ok).toBe(true);
  });

  it.each([
    '../../etc/passwd',
    '/etc/passwd',
    'file:///etc/passwd',
    '..',
    '\0',
    '__proto__',
    'a'.repeat(300),
  ])('finds nothing under %j, and does not repeat it', async (id) => {
    const result = await read(setup(), { id });

    expect(result).toMatchObject({ ok: false, errorCategory: 'not_found' });
    expect(result.error).not.toContain(id.slice(0, 5));
  });

  it.each([
    [{}],
    [{ id: '' }],
    [{ id: 1 }],
    [{ id: 'a', offset: -1 }],
    [{ id: 'a', length: 3 }],
    [{ id: 'a', length: 825 }],
    [{ id: 'a', path: '/' }],
  ])('is not entered with %j', async (args) => {
    expect(await read(setup(), args)).toMatchObject({ status: 'schema_violation', executed: 'no' });
  });

  it('keeps the words of a store that fails to itself', async () => {
    const store: ReadableOutputs = {
      ...fileOutputs(folder),
      read: () => Promise.reject(new Error('EACCES /home/someone/x')),
    };
    const result = await read(setup(store), { id: 'a' });

    expect(result).toMatchObject({ errorCategory: 'store_failed', errorClass: 'retryable' });
    expect(JSON.stringify(result)).not.toContain('someone');
  });

  it('tells what it is: a reading tool of this process', () => {
    expect(readOutputTool({ store: fileOutputs(folder) })).toMatchObject({
      name: 'read_output',
      annotations: {
        kind: 'read',
        readOnly: true,
        destructive: false,
        idempotent: true,
        openWorld: false,
        sideEffectLevel: 'read_only',
      },
    });
    expect(readOutputTool({ store: fileOutputs(folder), name: 'more' }).name).toBe('more');
  });

  it.each([
    [undefined],
    [{}],
    [{ store: {} }],
    [{ store: { write: () => {} } }],
    [{ store: { read: () => {} }, maxBytes: 511 }],
  ])('refuses %j', (options) => {
    expect(() => readOutputTool(options as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error,
    );
  });
});
