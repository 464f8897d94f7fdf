import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withResult } from '../../core/onion/results.ts';
import { defineLayer } from '../../core/contract/layer.ts';
import { defineTool } from '../../tools/define-tool.ts';
import { safeName } from '../../system/state-folder.ts';
import { fileOutputs } from './output-files.ts';
import { memoryOutputs, setup } from '../testing.fixture.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'allium-outputs-'));
});
afterAll(() => rm(folder, { recursive: true }));

const big = (text: string) =>
  defineTool({
    name: 'big',
    description: '',
    inputSchema: { type: 'object' },
    execute: () => text,
  });

describe('a large result', () => {
  it('becomes a file with a preview that says where it is', async () => {
    const text = 'line\n'.repeat(1000);
    const { governed } = setup({
      toolList: () => [big(text)],
      limits: { maxPreviewBytes: 100 },
      outputFiles: fileOutputs(folder),
    });

    const result = await governed.call(
      { name: 'big', arguments: {} },
      { turn: { sessionId: 's1' } },
    );
    const [file] = result.outputFiles;

    expect(await readFile(fileURLToPath(file?.uri ?? ''), 'utf8')).toBe(text);
    expect(file).toMatchObject({
      bytes: 5000,
      sha256: createHash('sha256').update(text).digest('hex'),
    });
    expect(result.renderedResult).toContain(file?.uri);
    expect(Buffer.byteLength(result.renderedResult)).toBeLessThan(100 + 400);
    expect(result.observation).toContain(result.renderedResult);
  });

  it('of exactly the preview size stays as it is', async () => {
    const outputFiles = memoryOutputs();
    const { governed } = setup({
      toolList: () => [big('x'.repeat(100))],
      limits: { maxPreviewBytes: 100 },
      outputFiles,
    });

    expect((await governed.call({ name: 'big', arguments: {} })).outputFiles).toEqual([]);
    expect(outputFiles.texts).toEqual([]);
  });

  it('that a layer has kept aside already is not cut once more', async () => {
    const file = { uri: 'memory:own', bytes: 500, sha256: '', mediaType: 'text/plain' };
    const keeps = defineLayer({
      name: 'keeps',
      caller: async (call, next) => withResult(await next(call), { outputFiles: [file] }),
    });
    const outputFiles = memoryOutputs();
    const { governed } = setup({
      toolList: () => [big('x'.repeat(500))],
      layers: [keeps],
      limits: { maxPreviewBytes: 100 },
      outputFiles,
    });

    expect((await governed.call({ name: 'big', arguments: {} })).outputFiles).toEqual([file]);
    expect(outputFiles.texts).toEqual([]);
  });

  it('is kept and cut as the layers left it', async () => {
    const redact = defineLayer({
      name: 'redact',
      caller: async (call, next) => withResult(await next(call), { result: '#'.repeat(500) }),
    });
    const outputFiles = memoryOutputs();
    const { governed } = setup({
      toolList: () => [big('c4n4ry'.repeat(100))],
      layers: [redact],
      limits: { maxPreviewBytes: 100 },
      outputFiles,
    });

    const result = await governed.call({ name: 'big', arguments: {} });

    expect(outputFiles.texts).toEqual(['#'.repeat(500)]);
    expect(JSON.stringify(result)).not.toContain('c4n4ry');
  });

  it('is cut between characters', async () => {
    const { governed } = setup({
      toolList: () => [big('😀'.repeat(100))],
      limits: { maxPreviewBytes: 66 },
    });

    const { renderedResult } = await governed.call({ name: 'big', arguments: {} });

    expect(renderedResult.split('\n')[0]).toBe('😀'.repeat(16));
  });

  it('still answers when it cannot be kept, says so, and logs it', async () => {
    const outputFiles = { write: () => Promise.reject(new Error('disk full')) };
    const { governed, logger } = setup({
      toolList: () => [big('x'.repeat(500))],
      limits: { maxPreviewBytes: 100 },
      outputFiles,
    });

    const result = await governed.call({ name: 'big', arguments: {} });

    expect(result).toMatchObject({ status: 'ok', outputFiles: [] });
    expect(result.renderedResult).toContain('could not be kept');
    expect(logger.lines.join()).toContain('disk full');
  });
});

describe('output files', () => {
  it('are readable by their owner only, and leave no half-written file', async () => {
    const file = await fileOutputs(folder).write({
      sessionId: 'mode',
      text: 'secret',
      mediaType: 'text/plain',
    });
    const path = fileURLToPath(file.uri);

    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(path, '..'))).toEqual([`${file.sha256}.txt`]);
  });

  it.each(['../../etc', '/etc/passwd', '..', '', 'a/b\\c', 'nul\0byte', 'x'.repeat(5000)])(
    'stay in their folder whatever the session is called: %j',
    async (sessionId) => {
      const file = await fileOutputs(folder).write({
        sessionId,
        text: 't',
        mediaType: 'text/plain',
      });

      expect(fileURLToPath(file.uri).startsWith(`${folder}/`)).toBe(true);
      expect(safeName(sessionId)).toMatch(/^[A-Za-z0-9_-]+$/);
    },
  );

  it('of sessions with similar names do not share a folder', () => {
    expect(safeName('a/b')).not.toBe(safeName('a_b'));
  });
});
