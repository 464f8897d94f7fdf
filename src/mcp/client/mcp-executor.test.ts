import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { permissions } from '../../../middleware/index.ts';
import { defineTool, governTools } from '../../index.ts';
import { mcpExecutor, type McpTarget } from '../index.ts';
import { mcpServerPolicy } from '../../policy/index.ts';
import { connected, governed, modern, official, scripted, tempFolder } from './peers.fixture.ts';

describe('mcpExecutor', () => {
  it('lists and calls the tools of a server that is a child process', async () => {
    const { server, problems } = await connected(official('everything', 'stdio'));
    const tools = governed(server);
    const progress: unknown[] = [];

    const echo = await tools.call({ name: 'echo', arguments: { message: 'hi' } });
    const weather = await tools.call({
      name: 'get-structured-content',
      arguments: { location: 'Chicago' },
    });
    const image = await tools.call({ name: 'get-tiny-image', arguments: {} });
    const slow = { name: 'trigger-long-running-operation', arguments: { duration: 0.2, steps: 4 } };
    const long = await tools.call(slow, { onProgress: (each) => void progress.push(each) });

    expect(echo).toMatchObject({
      status: 'ok',
      executed: 'yes',
      executor: 'mcp_server',
      renderedResult: 'Echo: hi',
    });
    expect(weather).toMatchObject({
      status: 'ok',
      result: { humidity: expect.any(Number) as number },
    });
    expect(image.content.map(({ type }) => type)).toEqual(['text', 'image', 'text']);
    expect(long.status).toBe('ok');
    expect(progress[0]).toEqual({ progress: 1, total: 4 });
    expect(problems).toEqual([]);
  });

  it('keeps what a server says of its tools', async () => {
    const { server } = await connected(official('filesystem', tempFolder()));
    const [read, write] = ['read_text_file', 'write_file'].map((name) => server.tools.get(name));

    expect(read).toMatchObject({
      executor: 'mcp_server',
      annotations: { readOnly: true, destructive: false },
    });
    expect(write).toMatchObject({
      annotations: { destructive: true },
      metadata: { mcp: { server: 'filesystem', tool: 'write_file' } },
    });
    expect(read?.outputSchema).toMatchObject({ type: 'object' });
    expect(read?.inputSchema.properties).toHaveProperty('path');
  });

  it('runs several servers in one dispatcher, and closes them with it', async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'note.txt'), 'hello');
    const files = (await connected(official('filesystem', folder))).server;
    const memory = (
      await connected({
        ...official('memory'),
        env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') },
      })
    ).server;
    const tools = governTools({
      tools: files.tools.prefix('fs').merge(memory.tools),
      executor: [files, memory],
      layers: [],
    });

    const read = await tools.call({
      name: 'fs_read_text_file',
      arguments: { path: join(folder, 'note.txt') },
    });
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['counts'] }];
    const made = await tools.call({ name: 'create_entities', arguments: { entities } });
    await tools.close();
    const late = await governed(memory).call({ name: 'create_entities', arguments: { entities } });

    expect(read).toMatchObject({
      status: 'ok',
      executor: 'mcp_server',
      result: { content: 'hello' },
    });
    expect(made.status).toBe('ok');
    expect(readFileSync(join(folder, 'memory.jsonl'), 'utf8').trim().split('\n')).toHaveLength(1);
    expect(late).toMatchObject({
      status: 'executor_error',
      errorCategory: 'closed',
      executed: 'no',
    });
  });

  it('runs a tool that was written by hand under its own name', async () => {
    const { server } = await connected(official('everything', 'stdio'));
    const inputSchema = {
      type: 'object',
      properties: { message: { type: 'string', maxLength: 5 } },
    } as const;
    const echo = defineTool({
      name: 'echo',
      description: 'short',
      executor: 'mcp_server',
      inputSchema,
    });
    const tools = governed(server, { tools: [echo] });

    expect(await tools.call({ name: 'echo', arguments: { message: 'hi' } })).toMatchObject({
      renderedResult: 'Echo: hi',
    });
    expect(await tools.call({ name: 'echo', arguments: { message: 'longer' } })).toMatchObject({
      status: 'schema_violation',
    });
  });

  it('says which server is about to be asked, for policies', async () => {
    const { server } = await connected(scripted().target);
    const policy = mcpServerPolicy({
      allow: ['script'],
      tools: { script: { allow: ['answer'], deny: ['twice'] } },
    });
    const tools = governed(server, {
      tools: server.tools.prefix('x'),
      layers: [permissions({ checkers: [policy] })],
    });

    expect(
      await tools.call({ name: 'x_answer', arguments: { result: { content: [] } } }),
    ).toMatchObject({ status: 'ok' });
    expect(await tools.call({ name: 'x_twice', arguments: {} })).toMatchObject({
      status: 'permission_denied',
      executed: 'no',
    });
  });
});

describe('a server of the newer protocol', () => {
  it('is spoken to in it, and in the older one where that is wanted', async () => {
    expect((await connected(modern())).server.protocolVersion).toBe('2026-07-28');
    expect((await connected(modern(), { era: 'modern' })).server.protocolVersion).toBe(
      '2026-07-28',
    );
    expect((await connected(modern(), { era: 'legacy' })).server.protocolVersion).toBe(
      '2025-11-25',
    );
  });

  it('may answer with any value', async () => {
    const { server } = await connected(modern());

    expect(await governed(server).call({ name: 'number', arguments: {} })).toMatchObject({
      status: 'ok',
      result: 7,
    });
  });

  it('cannot be reached in the newer one where it has only the older', async () => {
    await expect(mcpExecutor(scripted().target, { era: 'modern' })).rejects.toMatchObject({
      code: 'ERR_MCP_UNAVAILABLE',
    });
  });

  it('is started again in the older one where a question has killed it', async () => {
    const { target, effects } = scripted(undefined, 'die-of-questions');
    const { server } = await connected(target);

    expect(server.protocolVersion).toBe('2025-11-25');
    expect(effects().filter((line) => line.startsWith('started'))).toHaveLength(2);
  });

  it.each(['auto', 'legacy'] as const)('tells that its list has changed (%s)', async (era) => {
    const told = vi.fn();
    const { server, kinds } = await connected(modern(), { era, onToolsChanged: told });
    await governed(server).call({ name: 'change', arguments: {} });

    await vi.waitFor(() => expect(told).toHaveBeenCalled());
    expect(server.tools.get('ask')?.description).toBe('other');
    expect(kinds()).toContain('definition_changed');
  });
});

describe('a question of a server', () => {
  it.each(['auto', 'legacy'] as const)('is put to whoever the host says (%s)', async (era) => {
    const onElicit = vi.fn(() => ({ action: 'accept', content: { name: 'Ada' } }) as const);
    const { server } = await connected(modern(), { era, onElicit });

    expect(await governed(server).call({ name: 'ask', arguments: {} })).toMatchObject({
      status: 'ok',
      renderedResult: 'hello Ada',
    });
    expect(onElicit).toHaveBeenCalledWith(
      expect.objectContaining({ server: 'modern', message: 'who are you?' }),
    );
  });

  it.each([
    ['throws', () => Promise.reject(new Error('gone'))],
    ['answers with nothing', () => undefined as never],
    ['accepts without an answer', () => ({ action: 'accept' }) as never],
  ])('is cancelled where the host %s', async (_what, onElicit) => {
    const { server, kinds } = await connected(modern(), { onElicit });

    expect(await governed(server).call({ name: 'ask', arguments: {} })).toMatchObject({
      renderedResult: 'nobody',
    });
    expect(kinds()).toEqual(['question_failed']);
  });

  it('ends the call where nobody can be asked', async () => {
    const { server } = await connected(modern());

    expect(await governed(server).call({ name: 'ask', arguments: {} })).toMatchObject({
      status: 'executor_error',
      errorCategory: expect.stringMatching(/input_required|protocol_error/) as string,
      executed: 'unknown',
    });
  });
});

describe('mcpExecutor refuses', () => {
  it.each([
    ['no server', { name: 'x' }],
    ['two servers', { name: 'x', command: 'node', url: 'http://localhost' }],
    ['a name with blanks', { name: 'a b', command: 'node' }],
    ['an address of another kind', { name: 'x', url: 'file:///etc/passwd' }],
    ['a password in an address', { name: 'x', url: 'http://user:secret@localhost' }],
    ['a misspelt member', { name: 'x', command: 'node', arg: [] }],
  ])('%s', async (_what, target) => {
    const refused = mcpExecutor(target as unknown as McpTarget);

    await expect(refused).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION' });
    await expect(refused).rejects.not.toThrow(/secret/);
  });

  it('options that it does not know', async () => {
    await expect(
      mcpExecutor({ name: 'x', command: 'node' }, { eras: 'auto' } as never),
    ).rejects.toThrow('did you mean "era"?');
  });

  it('a program that is not there', async () => {
    await expect(mcpExecutor({ name: 'x', command: '/there/is/nothing' })).rejects.toMatchObject({
      code: 'ERR_MCP_UNAVAILABLE',
    });
  });

  it('a program that is no server', async () => {
    const target = { name: 'x', command: process.execPath, args: ['-e', '0'] };

    await expect(mcpExecutor(target)).rejects.toMatchObject({ code: 'ERR_MCP_UNAVAILABLE' });
  });
});
