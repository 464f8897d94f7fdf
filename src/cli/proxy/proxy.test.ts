import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { JsonObject } from '../../core/json/json-value.ts';
import { hasPty, KEYS } from '../../consent/pty.fixture.ts';
import { createPlace, type Place } from '../../../conformance/benches/mcp/processes.ts';
import { CLIENTS } from '../wrap/print-config.ts';
import { queryReceipts } from '../../receipts/index.ts';
import { DUAL, type Start, startProxy } from './proxy.fixture.ts';
import { allium, MAIN } from '../run-command.fixture.ts';

let place: Place;
beforeEach(() => void (place = createPlace()));
afterEach(() => place.close());

const SERVER = ['--', process.execPath, DUAL, 'stdio'];
const notes = (name = 'notes') =>
  existsSync(join(place.folder, name)) ? readFileSync(join(place.folder, name), 'utf8') : '';
const started = (words: readonly string[], more: Partial<Start> = {}) =>
  startProxy(words, {
    cwd: place.folder,
    ...more,
    env: { ...place.env, DUAL_NOTES: join(place.folder, 'notes'), ...more.env },
  });
const writeConfig = (text: string) =>
  writeFileSync(
    join(place.folder, 'allium.yaml'),
    `version: 1\nstate: { dir: .allium }\n${text}\n`,
  );

async function receiptsIn(state: string) {
  const found: (readonly (string | null)[])[] = [];
  for await (const { session_id, tool_name, status } of queryReceipts(join(state, 'receipts')))
    found.push([session_id, tool_name, status]);
  return found;
}

describe('allium proxy', () => {
  it('records calls where there is no file, says so, and ends with the client', async () => {
    const proxy = started(['--name', 'dual', ...SERVER]);
    await proxy.greet();
    expect(await proxy.call('write_note', { text: 'one' })).toMatchObject({
      result: { content: [{ text: 'noted one' }] },
    });
    proxy.leave();

    expect(await proxy.ended).toBe(0);
    expect(await place.endProcesses(0)).toBe(0);
    expect(proxy.err()).toContain('no allium.yaml here: calls are recorded in');
    const [receipt, ...others] = await receiptsIn(join(place.folder, '.allium'));
    expect(others).toEqual([]);
    expect(receipt?.[0]).toMatch(/^dual-[0-9a-f]{12}$/);
  });

  it('takes the session it is told', async () => {
    const proxy = started(['--name', 'dual', '--session', 'monday', ...SERVER]);
    await proxy.greet();
    await proxy.call('write_note', { text: 'one' });
    proxy.leave();
    await proxy.ended;

    expect(await receiptsIn(join(place.folder, '.allium'))).toEqual([
      ['monday', 'write_note', 'ok'],
    ]);
  });

  it('ends with 1 when the server does, and says how', async () => {
    const died = started(['--', process.execPath, '-e', 'process.exit(3)']);
    const absent = started(['--', join(place.folder, 'nobody')]);

    expect(await died.ended).toBe(1);
    expect(died.err()).toContain('the server is gone: it ended with code 3');
    expect(await absent.ended).toBe(1);
    expect(absent.err()).toContain('the server is gone: it could not be started (ENOENT)');
  });
});

describe('allium proxy, where nothing can be written,', () => {
  // Nobody can, not even root.
  const cwd = '/proc';

  it.runIf(process.platform === 'linux')(
    "keeps its receipts in the user's own folder",
    async () => {
      const home = join(place.folder, 'home');
      const proxy = started(['--session', 'desk', ...SERVER], { cwd, env: { HOME: home } });
      await proxy.greet();
      await proxy.call('write_note', { text: 'one' });
      proxy.leave();

      expect(await proxy.ended).toBe(0);
      const state = join(home, '.local', 'state', 'allium');
      expect(proxy.err()).toContain(state);
      expect(await receiptsIn(state)).toEqual([['desk', 'write_note', 'ok']]);
    },
  );

  it.runIf(process.platform === 'linux').each([
    ['home', { HOME: '/proc/none' }, 'neither to'],
    ['variable', { ALLIUM_STATE_DIR: '/proc/none' }, 'which ALLIUM_STATE_DIR names'],
  ])('does not start without a place for them: %s', async (_name, env, line) => {
    const proxy = started(SERVER, { cwd, env });

    expect(await proxy.ended).toBe(2);
    expect(proxy.err()).toContain(line);
    expect(proxy.err().trim().split('\n')).toHaveLength(1);
  });
});

describe('a mistake in the call of allium proxy', () => {
  const http = ['--http', 'http://127.0.0.1:1/mcp'];
  it.each([
    ['no server', [], 'name the command that starts the server'],
    ['two servers', [...http, ...SERVER], 'not both'],
    ['an address that is none', ['--http', 'nowhere'], '--http takes an http or https address'],
    [
      'an address of another kind',
      ['--http', 'file:///etc/passwd'],
      '--http takes an http or https address',
    ],
    [
      'a header without a variable',
      [...http, '--header-env', 'Authorization'],
      '--header-env takes Header-Name=VARIABLE',
    ],
    [
      'a header with a value',
      [...http, '--header-env', 'X-Key=a secret'],
      '--header-env takes Header-Name=VARIABLE',
    ],
    ['a variable that is not set', [...http, '--header-env', 'X-Key=NOT_SET'], 'NOT_SET'],
    [
      'headers for a command',
      ['--header-env', 'X-Key=PATH', ...SERVER],
      '--header-env is for a server that is reached with --http',
    ],
    ['a port that is none', ['--listen', '70000', ...SERVER], '--listen takes a port'],
    [
      'a short token',
      ['--listen', '0', '--token-env', 'SHORT', ...SERVER],
      'at least 16 characters',
    ],
    [
      'an unknown client',
      ['--print-config', 'emacs', ...SERVER],
      '--print-config takes one of claude, cursor, vscode, codex',
    ],
    ['nothing to print', ['--print-config', 'claude'], 'give the command'],
    ['a file that is not there', ['--config', 'gone.yaml', ...SERVER], 'gone.yaml'],
    [
      'a file to print that is not there',
      ['--print-config', 'claude', '--config', 'gone.yaml', ...SERVER],
      'gone.yaml: there is no such file',
    ],
  ])('is told in one line, without a value, and starts nothing: %s', (_name, words, line) => {
    const { code, out, err } = allium(place.folder, ['proxy', ...words], {
      env: { SHORT: 'so-short', DUAL_PIDS: join(place.folder, 'pids') },
    });

    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(line);
    expect(err).not.toMatch(/so-short|a secret/);
    expect(existsSync(join(place.folder, 'pids'))).toBe(false);
  });
});

describe('allium proxy --print-config', () => {
  const printed = (client: string) =>
    allium(place.folder, ['proxy', '--print-config', client, '--name', 'dual', ...SERVER]);
  const keys: Readonly<Record<string, string>> = {
    claude: 'mcpServers',
    cursor: 'mcpServers',
    vscode: 'servers',
  };

  it.each(CLIENTS)('prints what %s takes, and beside it where that goes', (client) => {
    const { code, out, err } = printed(client);

    expect(code).toBe(0);
    expect(err).toContain('paste it into');
    if (client === 'codex')
      expect(out).toMatch(/^\[mcp_servers\.dual\]\ncommand = ".+"\nargs = \[".+"\]\n$/);
    else
      expect(JSON.parse(out)).toMatchObject({
        [keys[client] ?? '']: {
          dual: { args: expect.arrayContaining(['proxy', DUAL]) as string[] },
        },
      });
  });

  it('prints a command that serves', async () => {
    const { mcpServers } = JSON.parse(printed('claude').out) as {
      mcpServers: { dual: { command: string; args: string[] } };
    };
    const { command, args } = mcpServers.dual;
    const proxy = started(args, { program: [command] });

    expect(await proxy.greet()).toMatchObject({ result: { serverInfo: { name: 'dual' } } });
    proxy.leave();
    expect(await proxy.ended).toBe(0);
  });
});

describe('the servers of the file', () => {
  const server = (name: string) =>
    `{ command: ${process.execPath}, args: [${DUAL}, stdio], env: { DUAL_NOTES: ${join(place.folder, name)} } }`;
  const namesOf = ({ result }: JsonObject) =>
    (result as { tools: { name: string }[] }).tools.map(({ name }) => name);

  it('keep their names where there is one', async () => {
    writeConfig(`layers: [auditLog: local]\nproxy: { servers: { a: ${server('a')} } }`);
    const proxy = started([]);
    await proxy.greet();
    expect(namesOf(await proxy.request('tools/list'))).toContain('write_note');
    await proxy.call('write_note', { text: 'one' });
    proxy.leave();

    expect(await proxy.ended).toBe(0);
    expect(notes('a')).toBe('one\n');
  });

  it('become one where there are several, with names that say whose each tool is', async () => {
    writeConfig(
      `session: { id: both }\nlayers: [auditLog: local]\nproxy: { servers: { a: ${server('a')}, b: ${server('b')} } }`,
    );
    const proxy = started([]);
    await proxy.greet();
    expect(namesOf(await proxy.request('tools/list'))).toEqual(
      expect.arrayContaining(['a_write_note', 'b_write_note']),
    );
    await proxy.call('b_write_note', { text: 'two' });
    expect(await proxy.call('write_note', { text: 'nobody' })).toMatchObject({
      result: { isError: true },
    });
    proxy.leave();

    expect(await proxy.ended).toBe(0);
    expect([notes('a'), notes('b')]).toEqual(['', 'two\n']);
    expect(await receiptsIn(join(place.folder, '.allium'))).toContainEqual([
      'both',
      'b_write_note',
      'ok',
    ]);
  });

  /** Answers a greeting, and remembers what it was sent along. */
  async function httpServer() {
    const authorizations: (string | undefined)[] = [];
    const server_ = createServer((request, response) => {
      if (request.method !== 'POST') return void response.writeHead(405).end();
      authorizations.push(request.headers.authorization);
      void (async () => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer); // Nobody has set an encoding.
        const { id } = JSON.parse(Buffer.concat(chunks).toString()) as { id?: number };
        if (id === undefined) return void response.writeHead(202).end();
        const result = {
          protocolVersion: '2025-11-25',
          capabilities: {},
          serverInfo: { name: 'web', version: '1' },
        };
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ jsonrpc: '2.0', id, result }));
      })();
    });
    server_.listen(0, '127.0.0.1');
    await once(server_, 'listening');
    onTestFinished(() => {
      server_.closeAllConnections();
      server_.close();
    });
    return {
      url: `http://127.0.0.1:${(server_.address() as AddressInfo).port}/mcp`,
      authorizations,
    }; // It listens on a port.
  }

  it.each(['the file', 'the command line'])(
    'get headers from variables that %s names',
    async (where) => {
      const { url, authorizations } = await httpServer();
      const headers = '{ authorization: "Bearer ${WEB_TOKEN}" }';
      writeConfig(
        `layers: [auditLog: local]\nproxy: { servers: { web: { url: "${url}", headers: ${headers} } } }`,
      );
      const words =
        where === 'the file' ? [] : ['--http', url, '--header-env', 'Authorization=WEB_HEADER'];
      const proxy = started(words, {
        env: { WEB_TOKEN: 'from-a-variable', WEB_HEADER: 'Bearer from-a-variable' },
      });

      expect(await proxy.greet()).toMatchObject({ result: { serverInfo: { name: 'web' } } });
      expect(authorizations[0]).toBe('Bearer from-a-variable');
      expect(proxy.err()).not.toContain('from-a-variable');
      proxy.leave();
      expect(await proxy.ended).toBe(0);
    },
  );
});

/** Hears nothing of an end, and has a process of its own. */
const STUBBORN = `
process.on('SIGTERM', () => {});
require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
process.stdin.once('data', () => process.stdout.write('{"jsonrpc":"2.0","id":1,"result":{}}\\n'));
setInterval(() => {}, 1000);
`;

describe('a proxy that is stopped', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('by %s leaves no process behind', async (signal, code) => {
    const proxy = started(signal === 'SIGINT' ? SERVER : ['--', process.execPath, '-e', STUBBORN]);
    await proxy.greet();
    proxy.child.kill(signal);

    expect(await proxy.ended).toBe(code);
    expect(await place.endProcesses(0)).toBe(0);
  });
});

describe.runIf(hasPty)('allium proxy --prompt', () => {
  it('asks on the terminal it was started from, while the streams carry the protocol', async () => {
    writeConfig('layers: [auditLog: local, consent: { default: ask }]');
    const proxy = started(['--prompt', '--session', 'desk', ...SERVER], {
      atTerminal: true,
      env: { TERM: 'xterm' },
    });
    await proxy.greet();
    const calling = proxy.call('write_note', { text: 'seen' });
    await vi.waitFor(() => expect(proxy.screen()).toContain('Allow this call?'), 30_000);
    expect(notes()).toBe('');
    proxy.press(KEYS.up + KEYS.enter);

    expect(await calling).toMatchObject({ result: { content: [{ text: 'noted seen' }] } });
    expect(notes()).toBe('seen\n');
    proxy.leave();
    expect(await proxy.ended).toBe(0);
    expect(await receiptsIn(join(place.folder, '.allium'))).toEqual([['desk', 'write_note', 'ok']]);
  });

  it('needs one', async () => {
    // Whoever leads a session of its own has no terminal.
    const proxy = started(['--prompt', ...SERVER], {
      program: ['setsid', '-w', process.execPath, MAIN, 'proxy'],
    });

    expect(await proxy.ended).toBe(2);
    expect(proxy.err()).toContain('--prompt needs a terminal');
  });
});
