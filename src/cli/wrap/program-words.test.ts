import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { programWords, splitCommand } from './program-words.ts';

describe('what a client starts', () => {
  it('is this program by its paths', () => {
    expect(
      programWords({ node: '/opt/node', script: '/opt/allium/main.js', version: '1.2.3' }),
    ).toEqual(['/opt/node', '/opt/allium/main.js']);
  });

  it.skipIf(process.platform === 'win32')(
    'is a name on the PATH that leads to the same program, because that is there after an update too',
    () => {
      const folder = realpathSync(mkdtempSync(join(tmpdir(), 'allium-words-')));
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      writeFileSync(join(folder, 'node-20.1'), '');
      symlinkSync('node-20.1', join(folder, 'node'));
      mkdirSync(join(folder, 'other'));
      writeFileSync(join(folder, 'other', 'node'), '');
      const started = { node: join(folder, 'node-20.1'), script: '/x.js', version: '1' };

      expect(programWords({ ...started, path: `bin::/none:${folder}/other:${folder}` })).toEqual([
        join(folder, 'node'),
        '/x.js',
      ]);
      expect(programWords({ ...started, path: '/none' })).toEqual([
        join(folder, 'node-20.1'),
        '/x.js',
      ]);
    },
  );

  it('is npx with this version where the program is in the cache of npx', () => {
    const script = '/home/u/.npm/_npx/ab12/node_modules/allium/dist/src/cli/main.js';

    expect(programWords({ node: '/opt/node', script, version: '1.2.3' }).slice(-3)).toEqual([
      'npx',
      '-y',
      'allium@1.2.3',
    ]);
  });
});

describe('a typed command', () => {
  it.each([
    ['npx -y allium', ['npx', '-y', 'allium']],
    ['  "/a b/node" \'it is\'.js ', ['/a b/node', 'it is.js']],
    ['a""b ""', ['ab', '']],
  ])('%s', (text, words) => {
    expect(splitCommand(text)).toEqual(words);
  });

  it.each(['', '  ', '"npx', "npx 'a"])('is refused: %j', (text) => {
    expect(() => splitCommand(text)).toThrow(/a quote in it does not end/);
  });
});
