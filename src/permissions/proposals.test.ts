import { describe, expect, it } from 'vitest';
import { echoExecutor, makeCall } from '../../conformance/index.ts';
import { permissions } from '../../middleware/index.ts';
import { defineTool, governTools, type JsonObject } from '../index.ts';
import { isObject } from '../core/json/json.ts';
import { FILESYSTEM_KINDS } from './permission.ts';
import { requestsOf, shownRequests } from './proposals.ts';

/**
 * What comes of a call whose tool proposes this, where everything that can be understood is
 * allowed.
 */
async function proposing(propose: () => unknown) {
  const ran: unknown[] = [];
  const seen: unknown[] = [];
  const tool = defineTool({
    ...{ name: 'act', description: '', inputSchema: { type: 'object' } },
    proposedRequests: propose as () => readonly JsonObject[],
    execute: (args) => void ran.push(args),
  });
  const checker = ({ call: _call, ...fields }: { readonly call: unknown }) => (
    seen.push(fields), 'allow' as const
  );
  const governed = governTools({
    tools: [tool],
    layers: [permissions({ checkers: [checker], fallback: 'allow' })],
  });
  const result = await governed.call({ name: 'act', arguments: {}, id: 'call-1' });
  return { result, ran, seen };
}

const explode = (): never => {
  throw new Error('canary');
};
const revoked = (): unknown => {
  const { proxy, revoke } = Proxy.revocable([], {});
  revoke();
  return proxy;
};
const cyclic = (): unknown => {
  const value: Record<string, unknown> = { kind: 'custom.loop' };
  value.self = value;
  return [value];
};
const deep = (depth: number): unknown => (depth === 0 ? 1 : { in: deep(depth - 1) });

/** Says yes to a look and something else afterwards. */
function changing(member: string, ...values: readonly unknown[]): object {
  let reads = -1;
  return Object.defineProperty({ kind: 'filesystem.write' }, member, {
    enumerable: true,
    get: () => values[Math.min((reads += 1), values.length - 1)],
  });
}

const write = (fields: object) => [{ kind: 'filesystem.write', path: '/work/a', ...fields }];
const command = (fields: object) => [{ kind: 'process.command', ...fields }];

const hostile: readonly (readonly [string, () => unknown])[] = [
  ['a throw', explode],
  ['a rejection', () => Promise.reject(new Error('canary'))],
  ['a rejection with nothing', () => Promise.reject(undefined)],
  ['a thenable that throws', () => ({ then: explode })],
  ['an object whose then throws', () => Object.defineProperty({}, 'then', { get: explode })],
  ['a text', () => 'filesystem.write'],
  ['a number', () => 1],
  ['true', () => true],
  ['one request instead of a list', () => ({ kind: 'filesystem.write', path: '/work/a' })],
  ['a map', () => new Map()],
  ['a set', () => new Set([{ kind: 'filesystem.write', path: '/work/a' }])],
  ['a generator', () => (function* () {})()],
  ['a function', () => () => []],
  ['a revoked proxy', revoked],
  ['a proxy whose every trap throws', () => new Proxy([], { get: explode })],
  ['a list that contains itself', () => cyclic()],
  ['a list of lists', () => [[{ kind: 'filesystem.write', path: '/work/a' }]]],
  ['a list with nothing in it', () => [undefined]],
  ['a list with null', () => [null]],
  [
    'a list with a hole',
    () => Array.from({ length: 2 }).map((_, index) => (index === 0 ? write({})[0] : undefined)),
  ],
  ['a list with a text', () => ['filesystem.write']],
  ['a list with a promise', () => [Promise.resolve(write({})[0])]],
  ['more than a thousand', () => Array.from({ length: 1001 }, () => write({})[0])],
  ['a list that is deeper than any', () => [{ kind: 'custom.deep', at: deep(600) }]],
  ['no kind', () => [{ path: '/work/a' }]],
  ['a kind that is no text', () => [{ kind: ['filesystem.write'], path: '/work/a' }]],
  ['a kind that becomes a text', () => [{ kind: { toString: () => 'custom.x' } }]],
  ['an empty kind', () => [{ kind: '' }]],
  ['a kind nobody knows', () => [{ kind: 'filesystem.format', path: '/' }]],
  ['a kind in capitals', () => [{ kind: 'FILESYSTEM.WRITE', path: '/' }]],
  ['a kind with a space behind it', () => [{ kind: 'filesystem.write ', path: '/' }]],
  ['a kind with a line behind it', () => [{ kind: 'filesystem.write\n', path: '/' }]],
  [
    'a kind with another character in place of the dot',
    () => [{ kind: 'filesystemxwrite', path: '/' }],
  ],
  ['a kind of every object', () => [{ kind: 'constructor' }]],
  ['the call itself', () => [{ kind: 'tool.call' }]],
  ['custom without a name', () => [{ kind: 'custom.' }]],
  ['custom with a line in its name', () => [{ kind: 'custom.a\nb' }]],
  ['custom with a long name', () => [{ kind: `custom.${'a'.repeat(129)}` }]],
  ['custom with a function', () => [{ kind: 'custom.x', run: () => {} }]],
  ['custom with a number that is none', () => [{ kind: 'custom.x', amount: Number.NaN }]],
  ['custom with a big number', () => [{ kind: 'custom.x', amount: 1n }]],
  [
    'custom with a getter that throws',
    () => [Object.defineProperty({ kind: 'custom.x' }, 'a', { enumerable: true, get: explode })],
  ],
  ['a file without a path', () => [{ kind: 'filesystem.write' }]],
  ['a file whose path is misspelt', () => [{ kind: 'filesystem.write', paht: '/' }]],
  ['a file with an empty path', () => write({ path: '' })],
  ['a file whose path is a list', () => write({ path: ['/work/a'] })],
  ['a file whose path is null', () => write({ path: null })],
  ['a file whose path ends early', () => write({ path: '/work/a\0/../../etc/passwd' })],
  ['a file with a field nobody knows', () => write({ force: true })],
  [
    'a file with a __proto__',
    () => [
      JSON.parse(
        '{"kind":"filesystem.write","path":"/work/a","__proto__":{"path":"/etc"}}',
      ) as unknown,
    ],
  ],
  ['a write that goes somewhere', () => write({ to: '/etc/passwd' })],
  ['a write with the fields of the call', () => write({ toolName: 'other', call: {} })],
  ['a move to nowhere', () => [{ kind: 'filesystem.move', path: '/work/a' }]],
  ['a move to an empty place', () => [{ kind: 'filesystem.move', path: '/work/a', to: '' }]],
  [
    'a path that is inherited',
    () => [Object.create({ kind: 'filesystem.write', path: '/work/a' }) as unknown],
  ],
  ['a path that changes into none', () => [changing('path', 7, '/work/a')]],
  [
    'a path that throws',
    () => [
      Object.defineProperty({ kind: 'filesystem.write' }, 'path', {
        enumerable: true,
        get: explode,
      }),
    ],
  ],
  ['a command of neither', () => command({})],
  ['a command of both', () => command({ command: 'ls', argv: ['rm'] })],
  ['an empty command', () => command({ command: '' })],
  ['a command that ends early', () => command({ command: 'ls\0; rm -rf /' })],
  ['a command of no arguments', () => command({ argv: [] })],
  ['a command without a program', () => command({ argv: ['', 'x'] })],
  ['a command of numbers', () => command({ argv: ['kill', 9] })],
  ['arguments that are one text', () => command({ argv: 'rm -rf /' })],
  ['arguments with a zero character', () => command({ argv: ['ls', 'a\0b'] })],
  ['a command in a folder that is none', () => command({ command: 'ls', cwd: 7 })],
  ['a command in an empty folder', () => command({ command: 'ls', cwd: '' })],
  ['an environment that is a list', () => command({ command: 'ls', env: ['PATH=/'] })],
  ['an environment of numbers', () => command({ command: 'ls', env: { DEBUG: 1 } })],
  [
    'an environment with two names in one',
    () => command({ command: 'ls', env: { 'A=1\nLD_PRELOAD': 'x' } }),
  ],
  ['a command with a shell', () => command({ command: 'ls', shell: true })],
  ['a connection to nowhere', () => [{ kind: 'network.connect', port: 443 }]],
  ['a connection to a list', () => [{ kind: 'network.connect', host: ['a'], port: 443 }]],
  ['a port that is a text', () => [{ kind: 'network.connect', host: 'a', port: '443' }]],
  ['a port beyond all', () => [{ kind: 'network.connect', host: 'a', port: 65_536 }]],
  ['a port below all', () => [{ kind: 'network.connect', host: 'a', port: -1 }]],
  ['a port and a half', () => [{ kind: 'network.connect', host: 'a', port: 80.5 }]],
  ['a connection by address', () => [{ kind: 'network.connect', host: 'a', url: 'http://b' }]],
  ['a server without a name', () => [{ kind: 'mcp.invoke', tool: 'x' }]],
  ['a server’s tool that is none', () => [{ kind: 'mcp.invoke', server: 'a', tool: 7 }]],
  ['a server with more', () => [{ kind: 'mcp.connect', server: 'a', url: 'http://b' }]],
  ['a payment of a text', () => [{ kind: 'payment', amount: '5', currency: 'EUR' }]],
  ['a payment of less than nothing', () => [{ kind: 'payment', amount: -5, currency: 'EUR' }]],
  [
    'a payment without end',
    () => [{ kind: 'payment', amount: Number.POSITIVE_INFINITY, currency: 'EUR' }],
  ],
  ['a payment in no currency', () => [{ kind: 'payment', amount: 5 }]],
  ['a payment to somebody', () => [{ kind: 'payment', amount: 5, currency: 'EUR', to: 'eve' }]],
  ['one good one and one bad one', () => [...write({}), { kind: 'nonsense' }]],
];

const good: readonly JsonObject[] = [
  ...FILESYSTEM_KINDS.map((kind) => ({
    kind,
    path: '/work/a',
    ...(kind === 'filesystem.move' ? { to: '/work/b' } : {}),
  })),
  { kind: 'process.command', command: 'ls -l' },
  { kind: 'process.command', argv: ['ls', ''], cwd: '/work', env: { LANG: 'C', EMPTY: '' } },
  { kind: 'network.connect', host: 'example.com' },
  { kind: 'network.connect', host: 'example.com', port: 443 },
  { kind: 'mcp.connect', server: 'files' },
  { kind: 'mcp.invoke', server: 'files', tool: 'read' },
  { kind: 'payment', amount: 0.5, currency: 'EUR' },
  { kind: 'custom.mail.send', to: ['ada'], nested: { of: [1, null] } },
];

describe('what a tool proposes', () => {
  it.each(good)('is asked about as it was said: %j', async (request) => {
    const { result, ran, seen } = await proposing(() => [request]);

    expect(seen).toEqual([
      { kind: 'tool.call', toolName: 'act', callId: 'call-1' },
      { ...request, toolName: 'act', callId: 'call-1' },
    ]);
    expect([result.status, ran.length]).toEqual(['ok', 1]);
  });

  it.each(['undefined', 'null'])('may be nothing at all: %s', async (nothing) => {
    expect((await proposing(() => (nothing === 'null' ? null : undefined))).result.status).toBe(
      'ok',
    );
  });

  it('says nothing for the call: its own names stand', async () => {
    const { seen } = await proposing(() => [
      { kind: 'custom.x', toolName: 'harmless', callId: 'other', call: { toolArgs: {} } },
    ]);

    expect(seen[1]).toEqual({ kind: 'custom.x', toolName: 'act', callId: 'call-1' });
  });

  it.each(hostile)('denies, whatever the rules allow, where it is %s', async (_title, propose) => {
    const { result, ran, seen } = await proposing(propose);

    expect(result).toMatchObject({
      status: 'permission_denied',
      executed: 'no',
      errorCategory: 'permission_denied',
    });
    expect(JSON.stringify(result)).not.toContain('canary');
    expect([ran, seen]).toEqual([[], []]);
  });

  it('has enough hostile forms for the table to mean something', () => {
    expect(hostile.length).toBeGreaterThanOrEqual(60);
  });

  it('is caught where a reader trusts a kind and a path: it would let most of the table through', async () => {
    // What somebody writes first: a list of objects with a kind.
    const naive = (value: unknown): boolean =>
      Array.isArray(value) &&
      value.every((item) => isObject(item) && typeof item.kind === 'string');
    const passed = await Promise.all(
      hostile.map(([, propose]) =>
        Promise.resolve()
          .then(propose)
          .then(naive, () => false),
      ),
    );

    expect(passed.filter(Boolean).length).toBeGreaterThan(30);
  });

  it('is read once: a member that changes afterwards changes nothing', async () => {
    const { seen, result } = await proposing(() => [changing('path', '/work/a', '/etc/passwd')]);

    expect(seen[1]).toMatchObject({ path: '/work/a' });
    expect(result.status).toBe('ok');
  });

  it('is no more than the call where nobody dispatches it', async () => {
    const call = makeCall();
    await echoExecutor()(call);

    expect((await requestsOf(call)).map(({ kind }) => kind)).toEqual(['tool.call']);
  });

  it('is shown to people without the call', async () => {
    const call = makeCall();
    const requests = [
      { kind: 'tool.call', toolName: 'echo', callId: 'call-1', call },
      { kind: 'filesystem.write', path: '/work/a', toolName: 'echo', callId: 'call-1', call },
    ] as const;

    expect(shownRequests(requests)).toEqual([{ kind: 'filesystem.write', path: '/work/a' }]);
  });
});
