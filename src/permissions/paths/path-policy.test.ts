import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type JailWorld, jailWorld, SENTINEL } from '../../jail/jail-world.fixture.ts';
import { traversalSpellings } from '../../jail/traversal-spellings.fixture.ts';
import { makeRequest } from '../make-request.fixture.ts';
import { type PathPolicyOptions, pathPolicy } from './path-policy.ts';
import type { FilesystemKind, PermissionAnswer, PermissionPolicy } from '../permission.ts';
import { howMany } from '../../../conformance/how-many.fixture.ts';

let world: JailWorld;
beforeEach(() => {
  world = jailWorld();
});
afterEach(() => world.remove());

const make = (options: Partial<PathPolicyOptions> = {}): PermissionPolicy =>
  pathPolicy({ roots: [world.root], ...options });

async function ask(
  policy: PermissionPolicy,
  kind: FilesystemKind,
  path: string,
  to?: string,
): Promise<PermissionAnswer> {
  const answer = await policy.evaluate(
    makeRequest({}, { kind, path, ...(to === undefined ? {} : { to }) }),
  );
  return answer as PermissionAnswer; // Ready-made policies answer with the object form.
}

const codeOf = async (...asked: Parameters<typeof ask>): Promise<string> => {
  const { decision, code } = await ask(...asked);
  return decision === 'allow' ? 'allow' : `${decision}: ${code}`;
};

const OUTSIDE = 'deny: path_outside';

describe('pathPolicy', () => {
  it.each([
    'inside.txt',
    './inside.txt',
    'dir/deep/',
    'new.txt',
    'new/folder/file.txt',
    'dir/../inside.txt',
    'link-inside',
    '.',
    '...',
    '%2e%2e',
    'a:b',
  ])('allows %j below its roots', async (path) => {
    expect(await ask(make(), 'filesystem.read', path)).toEqual({
      decision: 'allow',
      code: 'path_inside',
    });
    expect(await codeOf(make(), 'filesystem.write', join(world.root, 'new.txt'))).toBe('allow');
  });

  it('has no opinion on other kinds', async () => {
    expect(await make().evaluate(makeRequest())).toEqual({ decision: 'no_opinion' });
    expect(
      await make().evaluate(makeRequest({}, { kind: 'network.connect', host: 'example.org' })),
    ).toEqual({ decision: 'no_opinion' });
  });

  it.each([
    ...[
      'link-file',
      'link-out/secret.txt',
      'link-out/new.txt',
      'link-absolute/secret.txt',
      'link-chain/secret.txt',
      'link-up/outside/secret.txt',
    ],
    ...[
      'link-dangling',
      'dir/link-out/new/deep.txt',
      'dir/link-file',
      '../outside/secret.txt',
      '../root-beside/x',
      '/etc/passwd',
      '/',
      '..',
      'dir/../../outside',
    ],
  ])('denies %j, which leads outside', async (path) => {
    for (const kind of [
      'filesystem.read',
      'filesystem.write',
      'filesystem.delete',
      'filesystem.list',
      'filesystem.mkdir',
    ] as const) {
      expect(await codeOf(make(), kind, path)).toBe(OUTSIDE);
    }
  });

  it.each([
    ['~/x', 'path_invalid'],
    ['~root/x', 'path_invalid'],
    ['', 'path_invalid'],
    ['a\0b', 'path_invalid'],
    ['a\nb', 'path_invalid'],
    ['a\\..\\b', 'path_invalid'],
    ['file:///etc/passwd', 'path_invalid'],
    ['FILE:/etc/passwd', 'path_invalid'],
    ['\ud800', 'path_invalid'],
    ['x'.repeat(5000), 'path_invalid'],
    ['link-loop', 'path_unresolved'],
    ['link-loop/x', 'path_unresolved'],
    ['link-fd/0', 'path_unresolved'],
    ['/proc/self/cwd/x', 'path_unresolved'],
    ['link-out/../inside.txt', 'path_ambiguous'],
    ['link-out/../root/inside.txt', 'path_ambiguous'],
  ])('denies %j: %s', async (path, code) => {
    expect(await codeOf(make({ outside: 'ask' }), 'filesystem.read', path)).toBe(`deny: ${code}`);
    expect(await codeOf(make({ outside: 'ask' }), 'filesystem.move', 'inside.txt', path)).toBe(
      `deny: ${code}`,
    );
  });

  it('denies what is no text, a kind nobody knows, and a target where nothing is moved', async () => {
    const hostile = (fields: object) => make().evaluate({ ...makeRequest(), ...fields });

    expect(await hostile({ kind: 'filesystem.read', path: 7 })).toMatchObject({
      decision: 'deny',
      code: 'path_invalid',
    });
    expect(await hostile({ kind: 'filesystem.read' })).toMatchObject({
      decision: 'deny',
      code: 'path_invalid',
    });
    expect(await hostile({ kind: 'filesystem.chmod', path: 'inside.txt' })).toMatchObject({
      decision: 'deny',
      code: 'path_kind',
    });
    expect(await hostile({ kind: 'filesystem.write', path: 'inside.txt', to: 'x' })).toMatchObject({
      decision: 'deny',
      code: 'path_invalid',
    });
    expect(await hostile({ kind: 'filesystem.move', path: 'inside.txt' })).toMatchObject({
      decision: 'deny',
      code: 'path_invalid',
    });
  });

  it('checks both ends of a move', async () => {
    expect(await codeOf(make(), 'filesystem.move', 'inside.txt', 'dir/moved.txt')).toBe('allow');
    expect(await ask(make(), 'filesystem.move', '../outside/secret.txt', 'taken')).toMatchObject({
      code: 'path_outside',
      reason: expect.stringContaining('`path`') as unknown,
    });
    expect(await ask(make(), 'filesystem.move', 'inside.txt', 'link-out/x')).toMatchObject({
      code: 'path_outside',
      reason: expect.stringContaining('`to`') as unknown,
    });
    expect(
      await codeOf(
        make({ outside: 'ask', protect: ['.env'] }),
        'filesystem.move',
        '/tmp/x',
        '.env',
      ),
    ).toBe('deny: path_protected');
  });

  it('tells which argument failed and what would pass, and never what it was', async () => {
    const { reason } = await ask(make(), 'filesystem.read', '/etc/very-secret-name');

    expect(reason).toBe(`\`path\` lies outside of what is allowed; allowed: ${world.root}`);
  });

  it('asks outside of the roots if told so', async () => {
    expect(await codeOf(make({ outside: 'ask' }), 'filesystem.read', '/etc/hosts')).toBe(
      'require_approval: path_outside',
    );
    expect(
      await codeOf(make({ outside: 'ask', readOnly: true }), 'filesystem.write', '/etc/hosts'),
    ).toBe('deny: path_read_only');
  });

  it('takes several roots, the first for relative paths, and roots that are links or not there yet', async () => {
    symlinkSync(world.outside, join(world.base, 'link-to-outside'));
    const both = make({ roots: [join(world.base, 'link-to-outside'), join(world.base, 'later')] });

    expect(await codeOf(both, 'filesystem.read', 'secret.txt')).toBe('allow');
    expect(await codeOf(both, 'filesystem.read', join(world.outside, 'secret.txt'))).toBe('allow');
    expect(await codeOf(both, 'filesystem.write', join(world.base, 'later/x'))).toBe('allow');
    expect(await codeOf(both, 'filesystem.write', join(world.base, 'later-than/x'))).toBe(OUTSIDE);
    expect(await codeOf(both, 'filesystem.read', join(world.root, 'inside.txt'))).toBe(OUTSIDE);
  });

  it('allows nothing without roots', async () => {
    expect(await codeOf(make({ roots: [] }), 'filesystem.read', 'inside.txt')).toBe(OUTSIDE);
    expect(await codeOf(make({ roots: [], outside: 'ask' }), 'filesystem.read', '/')).toBe(OUTSIDE);
  });
});

describe('pathPolicy readOnly', () => {
  it.each([true, ['**'], ['dir'], ['dir/deep'], ['dir/*'], ['d?r/**'], ['DIR/DEEP/']])(
    '%j lets only read and list pass',
    async (readOnly) => {
      const policy = make({ readOnly });

      for (const kind of ['filesystem.read', 'filesystem.list'] as const)
        expect(await codeOf(policy, kind, 'dir/deep/file.txt')).toBe('allow');
      for (const kind of [
        'filesystem.write',
        'filesystem.edit',
        'filesystem.delete',
        'filesystem.mkdir',
      ] as const) {
        expect(await codeOf(policy, kind, 'dir/deep/file.txt')).toBe('deny: path_read_only');
      }
      expect(await codeOf(policy, 'filesystem.move', 'dir/deep/file.txt', 'x')).toBe(
        'deny: path_read_only',
      );
      expect(await codeOf(policy, 'filesystem.move', 'inside.txt', 'dir/deep/y')).toBe(
        'deny: path_read_only',
      );
    },
  );

  it('leaves the rest alone', async () => {
    for (const readOnly of [false, [], ['dir'], ['deep/file.txt'], ['*.md']])
      expect(await codeOf(make({ readOnly }), 'filesystem.write', 'inside.txt')).toBe('allow');
  });
});

describe('pathPolicy protect', () => {
  const protect = ['.env', '.git', '**/.ssh/**', '*.pem', 'conf/keys', '/etc', '~/.aws'];

  it.each([
    ...[
      '.env',
      '.ENV',
      '.Env',
      '.env/',
      './.env',
      'dir/.env',
      '.env.',
      '.env ',
      '.e\u200bnv',
      '\uff0eenv',
      '.git',
      '.git/config',
      'a/.GIT/hooks/x',
      '.ssh',
      'x/.ssh/id',
    ],
    ...[
      'server.pem',
      'a/b/SERVER.PEM',
      'conf/keys',
      'Conf/Keys/one',
      'link-env',
      '/etc/passwd',
      '/ETC/passwd',
      join(homedir(), '.aws/credentials'),
    ],
  ])('denies %j for reading and writing', async (path) => {
    symlinkSync('.env', join(world.root, 'link-env'));
    const policy = make({ protect, outside: 'ask' });

    for (const kind of [
      'filesystem.read',
      'filesystem.write',
      'filesystem.list',
      'filesystem.delete',
    ] as const)
      expect(await codeOf(policy, kind, path)).toBe('deny: path_protected');
  });

  it.each(['.envrc', 'env', '.github/x', 'keys', 'x/conf/keys', 'pem', 'a.pem.txt', 'dir'])(
    'leaves %j alone',
    async (path) => {
      expect(await codeOf(make({ protect }), 'filesystem.delete', path)).toBe('allow');
    },
  );

  it('sees the name of a link that leads to a plain file, also in the middle of a chain', async () => {
    symlinkSync('inside.txt', join(world.root, '.env'));
    symlinkSync('.env', join(world.root, 'innocent'));

    expect(await codeOf(make({ protect }), 'filesystem.read', '.env')).toBe('deny: path_protected');
    expect(await codeOf(make({ protect }), 'filesystem.read', 'innocent')).toBe(
      'deny: path_protected',
    );
  });

  it('does not let a folder be moved or removed with what is protected in it, nor brought to where it is', async () => {
    writeFileSync(join(world.root, 'dir/deep/.env'), '');
    mkdirSync(join(world.root, 'other/keys'), { recursive: true });
    const policy = make({ protect });

    expect(await codeOf(policy, 'filesystem.delete', 'dir')).toBe('deny: path_protected');
    expect(await codeOf(policy, 'filesystem.move', 'dir', 'elsewhere')).toBe(
      'deny: path_protected',
    );
    expect(await codeOf(policy, 'filesystem.move', 'inside.txt', 'dir')).toBe(
      'deny: path_protected',
    );
    expect(await codeOf(policy, 'filesystem.move', 'other', 'conf')).toBe('deny: path_protected');
    expect(await codeOf(policy, 'filesystem.move', 'other', 'others')).toBe('allow');
    expect(await codeOf(policy, 'filesystem.delete', '.')).toBe('deny: path_read_only');
  });
});

/** What many file servers do. */
const startsWithCheck = (root: string, path: string): boolean => join(root, path).startsWith(root);

const SPELLINGS = howMany(1_000, 5_000);

describe('spellings of a way out', () => {
  const reads = (root: string, path: string): string[] =>
    [join(root, path), `${root}/${path}`, path].map((name) => {
      try {
        return readFileSync(name, 'utf8');
      } catch {
        return '';
      }
    });

  it('are not allowed where they lead out, however they are joined', async () => {
    const policy = make();
    const escaped: string[] = [];
    let allowed = 0;
    for (const path of traversalSpellings(SPELLINGS, world.base)) {
      if ((await ask(policy, 'filesystem.read', path)).decision !== 'allow') continue;
      allowed += 1;
      if (reads(world.root, path).some((text) => text.includes(SENTINEL))) escaped.push(path);
    }

    expect(escaped).toEqual([]);
    expect(allowed).toBeGreaterThan(SPELLINGS / 17);
  });

  it('get past a check of how the path begins', () => {
    const passed = traversalSpellings(SPELLINGS, world.base).filter((path) =>
      startsWithCheck(world.root, path),
    );

    expect(
      passed.filter((path) => reads(world.root, path).some((text) => text.includes(SENTINEL)))
        .length,
    ).toBeGreaterThan(SPELLINGS / 200);
  });

  it.each(['*'.repeat(2000), `${'*a'.repeat(1000)}b`, `${'**/a/'.repeat(400)}b`])(
    'cost a pattern no time, whatever it looks like',
    async (pattern) => {
      expect(
        await codeOf(make({ protect: [`x${pattern}`] }), 'filesystem.read', 'a/'.repeat(1000)),
      ).toBe('allow');
    },
  );
});

describe('a pathPolicy', () => {
  it('has a digest that stands for its rules', () => {
    const digests = [
      make(),
      make({ readOnly: true }),
      make({ protect: ['a'] }),
      make({ outside: 'ask' }),
      make({ roots: [world.base] }),
    ].map(({ digest }) => digest);

    expect(new Set(digests).size).toBe(5);
    expect(make().digest).toBe(digests[0]);
    expect(make().name).toBe('pathPolicy');
  });

  it.each([
    [undefined, 'options'],
    [{}, 'roots'],
    [{ roots: '/tmp' }, 'roots'],
    [{ roots: [''] }, 'roots'],
    [{ roots: ['~root'] }, 'roots'],
    [{ roots: ['/tmp'], readOnly: 'yes' }, 'readOnly'],
    [{ roots: ['/tmp'], readOnly: ['[ab]'] }, 'readOnly'],
    [{ roots: ['/tmp'], protect: '.env' }, 'protect'],
    [{ roots: ['/tmp'], protect: ['{a,b}'] }, 'protect'],
    [{ roots: ['/tmp'], protect: ['!a'] }, 'protect'],
    [{ roots: ['/tmp'], protect: ['../a'] }, 'protect'],
    [{ roots: ['/tmp'], protect: [''] }, 'protect'],
    [{ roots: ['/tmp'], outside: 'allow' }, 'outside'],
    [{ roots: ['/tmp'], protects: [] }, 'protects'],
  ])('is not made of %j', (options, option) => {
    expect(() => pathPolicy(options as never)).toThrow(
      expect.objectContaining({
        code: 'ERR_INVALID_OPTION',
        details: expect.objectContaining({ option }) as unknown,
      }),
    );
  });

  it('is not made of a root whose links go round', () => {
    expect(() => make({ roots: [join(world.root, 'link-loop')] })).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }),
    );
  });
});
