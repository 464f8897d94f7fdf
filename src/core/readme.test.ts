import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const core = import.meta.dirname;
const sources = readdirSync(core, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
);
const readme = readFileSync(join(core, 'README.md'), 'utf8');

/** The sources that a name such as `onion/frame.ts` or `frame.ts` means. */
const meantBy = (name: string) =>
  sources.filter((file) => file === name || basename(file) === name);

/** Every file that is named, with the functions that are named behind it. */
const named = [
  ...readme.matchAll(/`([\w/-]+\.ts)`((?: `\w+`(?:, `\w+`(?! [^|.;,]*`\w+\.ts))*)?)/g),
].map(([, file = '', functions = '']) => ({
  file,
  functions: [...functions.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
}));

describe('the README of the core', () => {
  it('names files that are there, each by a name that means one', () => {
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter(({ file }) => meantBy(file).length !== 1)).toEqual([]);
  });

  it('names functions that are in the file it says', () => {
    const missing = named.flatMap(({ file, functions }) => {
      const text = meantBy(file).map((source) => readFileSync(join(core, source), 'utf8'));
      return functions.filter((name) => !new RegExp(`\\b${name}\\b`).test(text.join()));
    });

    expect(named.flatMap(({ functions }) => functions).length).toBeGreaterThan(15);
    expect(missing).toEqual([]);
  });

  it('fits on two pages', () => {
    expect(readme.split(/\s+/).length).toBeLessThan(1_400);
  });
});
