import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Client as ModernSdkClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernTransport } from '@modelcontextprotocol/client/stdio';
import { Client as FirstSdkClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { built } from '../../stores/built.fixture.ts';

const root = resolve(import.meta.dirname, '../../..');
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'allium-aggregate-')));
const installed = (path: string) => join(root, 'node_modules/@modelcontextprotocol', path);
const program = built('src/mcp/aggregate/run-aggregate.fixture.ts');
const twoEras = built('src/mcp/aggregate/two-eras.fixture.ts');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface ServerEntry {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}
const node = (name: string, ...args: string[]): ServerEntry => ({
  name,
  command: process.execPath,
  args,
});
const everything = () => node('everything', installed('server-everything/dist/index.js'), 'stdio');
const files = () => node('files', installed('server-filesystem/dist/index.js'), folder);
const memory = () => ({
  ...node('memory', installed('server-memory/dist/index.js')),
  env: { MEMORY_FILE_PATH: join(folder, 'memory.json') },
});
/** Reads everything and says nothing. */
const hanging = () => node('hanging', '-e', 'process.stdin.resume()');
const both = (name: string) => node(name, twoEras, name);

const commandOf = (servers: readonly ServerEntry[], slowMs = 20_000) => ({
  command: process.execPath,
  args: [program, JSON.stringify(servers), `${slowMs}`],
  stderr: 'pipe' as const,
});

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

const capabilities = { elicitation: { form: {} }, roots: { listChanged: true } };
type Names = { readonly tools: readonly { readonly name: string }[] };
const namesOf = ({ tools }: Names) => tools.map(({ name }) => name);
const textOf = (result: unknown): unknown =>
  (result as { content?: { text?: string }[] }).content?.[0]?.text;

async function firstClient(
  servers: readonly ServerEntry[],
  slowMs?: number,
): Promise<FirstSdkClient> {
  const client = new FirstSdkClient({ name: 'first', version: '1' }, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, () => ({
    action: 'accept' as const,
    content: { colour: 'red', name: 'Ada', check: true },
  }));
  open.push(client);
  await client.connect(new FirstTransport(commandOf(servers, slowMs)));
  return client;
}

async function secondClient(
  servers: readonly ServerEntry[],
  mode?: 'auto' | { pin: string },
): Promise<ModernSdkClient> {
  const client = new ModernSdkClient(
    { name: 'second', version: '1' },
    {
      capabilities: { elicitation: { form: {} } },
      ...(mode === undefined ? {} : { versionNegotiation: { mode } }),
    },
  );
  client.setRequestHandler('elicitation/create', (request) => ({
    action: 'accept' as const,
    content: { colour: `blue for ${request.params.message}` },
  }));
  open.push(client);
  await client.connect(new ModernTransport(commandOf(servers)));
  return client;
}

describe('three real servers as one', () => {
  it.each([
    ['the first SDK', firstClient],
    ['the second SDK', (servers: readonly ServerEntry[]) => secondClient(servers)],
  ])('serve %s: tools, resources, prompts and questions', async (_, connect) => {
    writeFileSync(join(folder, 'note.txt'), 'kept');
    const client = await connect([everything(), files(), memory()]);

    expect(client.getServerVersion()).toMatchObject({ name: 'allium' });
    const names = namesOf(await client.listTools());
    expect(names).toEqual(
      expect.arrayContaining(['everything_echo', 'files_read_text_file', 'memory_read_graph']),
    );
    expect(names.findIndex((name) => name.startsWith('files_'))).toBeGreaterThan(
      names.indexOf('everything_echo'),
    );

    const [echo, read, graph] = await Promise.all([
      client.callTool({ name: 'everything_echo', arguments: { message: 'hi' } }),
      client.callTool({
        name: 'files_read_text_file',
        arguments: { path: join(folder, 'note.txt') },
      }),
      client.callTool({ name: 'memory_read_graph', arguments: {} }),
    ]);
    expect([textOf(echo), textOf(read)]).toEqual(['Echo: hi', 'kept']);
    expect((graph as { structuredContent?: unknown }).structuredContent).toEqual({
      entities: [],
      relations: [],
    });

    const asked = await client.callTool({
      name: 'everything_trigger-elicitation-request',
      arguments: {},
    });
    expect(textOf(asked)).toContain('provided the requested information');
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toContain('everything_simple-prompt');
    expect((await client.getPrompt({ name: 'everything_simple-prompt' })).messages).toHaveLength(1);
    const { contents } = await client.readResource({ uri: 'demo://resource/dynamic/text/1' });
    expect(contents).toHaveLength(1);
  });

  it('do not wait for one that hangs, nor for one that is not there', async () => {
    const missing: ServerEntry = {
      name: 'missing',
      command: join(folder, 'no-such-program'),
      args: [],
    };
    const client = await firstClient([hanging(), missing, files()], 3000);

    expect(namesOf(await client.listTools()).every((name) => name.startsWith('files_'))).toBe(true);
    await expect(client.callTool({ name: 'missing_x', arguments: {} })).rejects.toThrow(
      /server "missing" is away/,
    );
    await expect(client.callTool({ name: 'hanging_x', arguments: {} })).rejects.toThrow(
      /server "hanging" has not started yet/,
    );
  });

  it('go on when one dies in the middle of a call, and it comes back', async () => {
    const client = await firstClient([both('a'), both('b')]);

    await expect(client.callTool({ name: 'a_die', arguments: {} })).rejects.toThrow(
      /server "a" is gone: it ended with code 3/,
    );
    expect(textOf(await client.callTool({ name: 'b_echo', arguments: { text: 'on' } }))).toBe(
      'b: on',
    );
    expect(textOf(await client.callTool({ name: 'a_echo', arguments: { text: 'again' } }))).toBe(
      'a: again',
    );
  });
});

describe('servers of both eras as one', () => {
  it('serve a modern client: questions in results, changes on a stream', async () => {
    const client = await secondClient([both('a'), both('b')], { pin: '2026-07-28' });
    expect(client.getProtocolEra()).toBe('modern');
    expect(client.getInstructions()).toContain(
      '# b\n\nNames of tools and prompts of this server begin with `b_`.\n\nI am b.',
    );

    expect(namesOf(await client.listTools())).toEqual(
      ['a', 'b'].flatMap((name) => ['echo', 'ask', 'grow', 'die'].map((tool) => `${name}_${tool}`)),
    );
    const [one, two] = await Promise.all(
      ['a', 'b'].map((name) => client.callTool({ name: `${name}_ask`, arguments: {} })),
    );
    expect([textOf(one), textOf(two)]).toEqual(['a: blue for a asks', 'b: blue for b asks']);
    expect((await client.readResource({ uri: 'card://b' })).contents).toMatchObject([
      { text: 'b' },
    ]);

    const changed = vi.fn();
    client.setNotificationHandler('notifications/tools/list_changed', changed);
    const stream = await client.listen({
      toolsListChanged: true,
      resourceSubscriptions: ['card://b'],
    });
    expect(stream.honoredFilter).toEqual({
      toolsListChanged: true,
      resourceSubscriptions: ['card://b'],
    });
    await client.callTool({ name: 'b_grow', arguments: {} });
    await vi.waitFor(() => expect(changed).toHaveBeenCalled());
    expect(namesOf(await client.listTools())).toContain('b_grown');
    await stream.close();
  });

  it('serve a client that speaks both in the era that all of them speak', async () => {
    const modern = await secondClient([both('a'), both('b')], 'auto');
    const legacy = await secondClient([both('a'), files()], 'auto');

    expect([modern.getProtocolEra(), legacy.getProtocolEra()]).toEqual(['modern', 'legacy']);
    expect(textOf(await legacy.callTool({ name: 'a_ask', arguments: {} }))).toBe(
      'a: blue for a asks',
    );
    expect(namesOf(await legacy.listTools())).toContain('files_read_text_file');
  });
});

it.skipIf(process.platform !== 'linux')('ends its servers when the client leaves', async () => {
  const client = await firstClient([both('a'), both('b')]);
  await client.listTools();
  const transport = client.transport as FirstTransport;
  const children = readFileSync(
    `/proc/${transport.pid ?? 0}/task/${transport.pid ?? 0}/children`,
    'utf8',
  )
    .trim()
    .split(' ');
  expect(children).toHaveLength(2);

  await client.close();

  await vi.waitFor(() => expect(children.filter(isAlive)).toEqual([]), 5000);
});

function isAlive(pid: string): boolean {
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch {
    return false;
  }
}
