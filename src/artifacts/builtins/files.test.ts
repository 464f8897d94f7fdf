import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type JailWorld, jailWorld, SENTINEL } from '../../jail/jail-world.fixture.ts';
import { traversalSpellings } from '../../jail/traversal-spellings.fixture.ts';
import { type UsedBuiltins, useBuiltins } from './use.fixture.ts';
import { howMany } from '../../../conformance/how-many.fixture.ts';

let world: JailWorld;
let use: UsedBuiltins;
beforeEach(() => {
  world = jailWorld();
  use = useBuiltins({ workspace: world.root });
});
afterEach(() => world.remove());

describe('fs', () => {
  it('reads, writes, looks at and lists files of the workspace', async () => {
    expect(await use.call('fs.read', ['dir/deep/file.txt'])).toBe('deep');
    expect(await use.call('fs.write', ['dir/new.txt', 'né'])).toBe(3);
    expect(await use.call('fs.read', ['dir/new.txt'])).toBe('né');
    expect(await use.call('fs.exists', ['dir/new.txt'])).toBe(true);
    expect(await use.call('fs.exists', ['dir/missing.txt'])).toBe(false);
    expect(await use.call('fs.exists', ['missing/missing.txt'])).toBe(false);
    expect(await use.call('fs.stat', ['inside.txt'])).toEqual({
      type: 'file',
      size: 6,
      modified: expect.stringMatching(/^\d{4}-.*Z$/) as unknown,
    });
    expect(await use.call('fs.stat', ['.'])).toMatchObject({ type: 'directory' });
    expect(await use.call('fs.list', ['dir'])).toEqual([
      { name: 'deep', type: 'directory' },
      { name: 'link-file', type: 'link' },
      { name: 'link-out', type: 'link' },
      { name: 'new.txt', type: 'file' },
    ]);
    expect(await use.call('fs.list')).toContainEqual({ name: 'inside.txt', type: 'file' });
  });

  it('asks about every place by its whole path, and records every use without it', async () => {
    await use.call('fs.read', ['inside.txt']);
    await use.call('fs.write', ['inside.txt', 'x']);
    await use.call('fs.list');

    expect(use.asked).toEqual([
      { kind: 'filesystem.read', path: join(world.root, 'inside.txt') },
      { kind: 'filesystem.write', path: join(world.root, 'inside.txt') },
      { kind: 'filesystem.list', path: world.root },
    ]);
    expect(use.recorded.map(({ builtin, outcome }) => [builtin, outcome])).toEqual([
      ['fs.read', 'ok'],
      ['fs.write', 'ok'],
      ['fs.list', 'ok'],
    ]);
    expect(JSON.stringify(use.recorded)).not.toContain('inside');
  });

  it('does nothing that is not permitted', async () => {
    const denied = useBuiltins({ workspace: world.root }, { denies: 'filesystem.' });
    for (const name of ['read', 'write', 'exists', 'stat', 'list']) {
      const args = name === 'write' ? ['inside.txt', 'x'] : ['inside.txt'];
      await expect(denied.call(`fs.${name}`, args)).rejects.toThrow('not permitted');
    }

    expect(readFileSync(join(world.root, 'inside.txt'), 'utf8')).toBe('inside');
    await expect(useBuiltins({}).call('fs.read', ['inside.txt'])).rejects.toThrow(
      'fs.read: not granted: there is no workspace',
    );
  });

  it('replaces a file as a whole, keeps its mode, and leaves nothing beside it', async () => {
    writeFileSync(join(world.root, 'tool.sh'), 'old', { mode: 0o750 });
    const earlier = statSync(join(world.root, 'tool.sh'));
    await use.call('fs.write', ['tool.sh', 'new']);
    const later = statSync(join(world.root, 'tool.sh'));

    expect([later.mode & 0o777, later.ino === earlier.ino]).toEqual([0o750, false]);
    await expect(use.call('fs.write', ['dir', 'x'])).rejects.toThrow(
      'fs.write: the path names a link, a folder or a special file',
    );
    await expect(use.call('fs.write', ['missing/new.txt', 'x'])).rejects.toThrow(
      'fs.write: jail: there is nothing under this path',
    );
    expect(
      [world.root, join(world.root, 'dir')]
        .flatMap((folder) => readdirSync(folder))
        .filter((name) => name.endsWith('.tmp')),
    ).toEqual([]);
  });

  it('reads and writes up to a limit', async () => {
    const small = useBuiltins({ workspace: world.root, maxOutputBytes: 10 });
    writeFileSync(join(world.root, 'ten'), 'x'.repeat(10));
    writeFileSync(join(world.root, 'eleven'), 'x'.repeat(11));

    expect(await small.call('fs.read', ['ten'])).toBe('x'.repeat(10));
    await expect(small.call('fs.read', ['eleven'])).rejects.toThrow(
      'fs.read: the file is larger than 10 bytes',
    );
    await expect(small.call('fs.write', ['new', 'é'.repeat(6)])).rejects.toThrow(
      'fs.write: the content is larger than 10 bytes',
    );
  });

  it('reads files that do not know their size to the end', async () => {
    const proc = useBuiltins({ workspace: '/proc/self' });

    expect(await proc.call('fs.read', ['status'])).toMatch(
      /^Name:[\s\S]*nonvoluntary_ctxt_switches/,
    );
  });

  it('opens no pipe and waits for none', async () => {
    execFileSync('mkfifo', [join(world.root, 'pipe')]);

    await expect(use.call('fs.read', ['pipe'])).rejects.toThrow(
      'pipes, sockets and devices are not opened',
    );
    await expect(use.call('fs.write', ['pipe', 'x'])).rejects.toThrow('special file');
    expect(await use.call('fs.stat', ['pipe'])).toMatchObject({ type: 'other' });
  });

  it.each([
    ...[
      '.allium/tools/a.md',
      '.ALLIUM/tools/a.md',
      '.harness/hooks/x.md',
      'allium.yaml',
      'Allium.YAML',
      'harness.md',
      './allium.yaml',
    ],
    ...['plugins/a.md', 'overrides/x/b.MD', 'builtins/c.md', '.allium'],
  ])('does not write to %s, which describes tools and the stack', async (path) => {
    await expect(use.call('fs.write', [path, 'x'])).rejects.toThrow(
      'fs.write: this path is protected',
    );
    expect(use.asked).toEqual([]);
  });

  it('protects what a host names instead', async () => {
    const other = useBuiltins({ workspace: world.root, protect: ['dir/deep'] });

    await expect(other.call('fs.write', ['dir/DEEP/x', ''])).rejects.toThrow('protected');
    expect(await other.call('fs.write', ['allium.yaml', ''])).toBe(0);
    expect(await use.call('fs.write', ['dir/plugins.md', ''])).toBe(0);
  });

  it.each([
    ['fs.read', [], {}, 'fs.read: missing argument "path", a string'],
    ['fs.read', [7], {}, 'fs.read: "path" must be a string, got an int'],
    ['fs.read', [], { pat: 'x' }, 'fs.read: has no argument "pat"; did you mean "path"?'],
    ['fs.write', ['x'], {}, 'fs.write: missing argument "content", a string'],
    ['fs.write', ['x', { a: 1 }], {}, 'fs.write: "content" must be a string, got a dict'],
    [
      'fs.write',
      ['x', ''],
      { append: true },
      'fs.write: has no argument "append"; it takes path, content',
    ],
    ['fs.list', ['inside.txt'], {}, 'fs.list: jail:'],
  ])('%s refuses %j %j', async (name, args, kwargs, message) => {
    await expect(use.call(name, args, kwargs)).rejects.toThrow(message);
  });
});

/** What many file tools do: decide by the real path, and open it then. */
async function naiveRead(root: string, path: string, between = () => {}): Promise<string> {
  const real = await realpath(join(root, path));
  if (!real.startsWith(root)) throw new Error('outside');
  between();
  return readFile(join(root, path), 'utf8');
}

const SPELLINGS = howMany(1_000, 5_000);

describe('spellings of a way out', () => {
  it('lead to nothing outside of the workspace by any file built-in', async () => {
    const before = world.outsideText();
    const reached: string[] = [];
    for (const path of traversalSpellings(SPELLINGS, world.base)) {
      const answers = await Promise.all([
        use.call('fs.read', [path]).catch(() => ''),
        use.call('fs.list', [path]).catch(() => ''),
        use.call('fs.stat', [path]).catch(() => ''),
        use.call('fs.write', [path, 'written']).catch(() => ''),
      ]);
      if (JSON.stringify(answers).includes(SENTINEL)) reached.push(path);
    }

    expect(reached).toEqual([]);
    expect(world.outsideText()).toBe(before);
  });

  it('lead out where a path is only joined', async () => {
    const spellings = traversalSpellings(SPELLINGS, world.base);
    const texts = await Promise.all(
      spellings.map((path) => readFile(join(world.root, path), 'utf8').catch(() => '')),
    );

    expect(texts.filter((text) => text.includes(SENTINEL)).length).toBeGreaterThan(SPELLINGS / 100);
  });
});

describe('a link that is flipped underneath', () => {
  const rounds = 400;
  const flip = (round: number): void => {
    const place = join(world.root, 'flip');
    unlinkSync(place);
    if (round % 2 === 0) symlinkSync(world.outside, place);
    else symlinkSync(join(world.root, 'real'), place);
  };
  beforeEach(() => {
    mkdirSync(join(world.root, 'real'));
    writeFileSync(join(world.root, 'real', 'secret.txt'), 'inside');
    symlinkSync('real', join(world.root, 'flip'));
  });

  it('leads nowhere, whenever it is flipped', async () => {
    const before = world.outsideText();
    const seen: unknown[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const work = [
        use.call('fs.read', ['flip/secret.txt']).catch(() => ''),
        use.call('fs.write', ['flip/secret.txt', 'written']).catch(() => ''),
        use.call('fs.list', ['flip']).catch(() => ''),
        use.call('exec.run', ['cat', ['secret.txt']], { cwd: 'flip' }).catch(() => ''),
      ];
      flip(round);
      seen.push(...(await Promise.all(work)));
    }

    expect(seen.filter((answer) => JSON.stringify(answer).includes(SENTINEL))).toEqual([]);
    expect(world.outsideText()).toBe(before);
  });

  it('leads nowhere either when a folder itself changes places with a link', async () => {
    const [folder, aside] = [join(world.root, 'real'), join(world.root, 'aside')];
    const seen: unknown[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const reading = use.call('fs.read', ['real/secret.txt']).catch(() => '');
      renameSync(folder, aside);
      symlinkSync(world.outside, folder);
      seen.push(await reading, await use.call('fs.read', ['real/secret.txt']).catch(() => ''));
      unlinkSync(folder);
      renameSync(aside, folder);
    }

    expect(seen.filter((answer) => answer === SENTINEL)).toEqual([]);
  });

  it('leads out whoever looks first and opens then', async () => {
    expect(await naiveRead(world.root, 'flip/secret.txt', () => flip(0))).toBe(SENTINEL);
  });
});
