import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { strictCheck, undescribed } from '../core/wire/schema-check.fixture.ts';
import { tempFolder } from './cli.fixture.ts';
import { runCli } from './run-cli.ts';
import { SCHEMAS as LOADED } from './schema.ts';

const SCHEMAS = new Map(
  await Promise.all(
    Object.entries(LOADED).map(async ([name, load]) => [name, await load()] as const),
  ),
);

const files = [...SCHEMAS.keys()].map((name) => `${name}.schema.json`).sort();

async function schema(...args: readonly string[]) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const io = { stdin, stdout, stderr, env: {}, cwd: '/', signal: new AbortController().signal };
  const seen = [text(stdout), text(stderr)] as const;
  const code = await runCli(['schema', ...args], io);
  stdout.end();
  stderr.end();
  return { code, stdout: await seen[0], stderr: await seen[1] };
}

const fine = { code: 0, stdout: '', stderr: '' };
/** One line. */
const mistake = (part: string) => ({
  code: 2,
  stdout: '',
  stderr: expect.stringMatching(new RegExp(`^allium: .*${part}.*\\n$`)) as unknown,
});

describe('allium schema', () => {
  it('--list prints the names, one a line', async () => {
    expect(await schema('--list')).toEqual({
      ...fine,
      stdout: `${[...SCHEMAS.keys()].join('\n')}\n`,
    });
  });

  it.each([...SCHEMAS])(
    'prints %s, which compiles where a validator is strict',
    async (name, constant) => {
      const { code, stdout, stderr } = await schema(name);
      const printed = JSON.parse(stdout) as typeof constant;

      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(printed).toEqual(constant);
      expect(() => strictCheck(printed)).not.toThrow();
      expect(printed['$schema']).toBe('https://json-schema.org/draft/2020-12/schema');
      expect(printed['title']).toContain('allium');
    },
  );

  it.each(['receipt', 'event', 'span', 'handoff'])('names and describes all of %s', (name) => {
    expect(SCHEMAS.get(name)).toMatchObject({
      $id: `urn:allium:schema:${name}`,
      description: expect.any(String) as unknown,
    });
    expect(undescribed(SCHEMAS.get(name))).toEqual([]);
  });

  it('--out writes all of them, or the one that is named, and replaces what is there', async () => {
    const folder = join(tempFolder(), 'a', 'b');

    expect(await schema('event', '--out', folder)).toEqual(fine);
    expect(readdirSync(folder)).toEqual(['event.schema.json']);
    writeFileSync(join(folder, 'event.schema.json'), 'old');

    expect(await schema('--out', folder)).toEqual(fine);
    expect(readdirSync(folder).sort()).toEqual(files);
    for (const name of SCHEMAS.keys()) {
      expect(readFileSync(join(folder, `${name}.schema.json`), 'utf8')).toBe(
        (await schema(name)).stdout,
      );
    }
  });

  it('is in the package as files', () => {
    expect(readdirSync(resolve(import.meta.dirname, '../../dist/schemas')).sort()).toEqual(files);
  });

  it.each([
    [
      'a name that is nearly one',
      ['recipt'],
      'there is no schema "recipt"; did you mean "receipt"\\?',
    ],
    ['a name that is none', ['constructor'], 'there are: receipt, event'],
    ['no name', [], 'One of: receipt, event'],
    ['a list of one', ['event', '--list'], '--list stands alone'],
  ])('tells of %s', async (_name, args, part) => {
    expect(await schema(...args)).toEqual(mistake(part));
  });

  it('tells of a folder that cannot be written to', async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'file'), '');
    mkdirSync(join(folder, 'event.schema.json'));

    expect(await schema('--out', join(folder, 'file'))).toEqual(mistake('/file: is there already'));
    expect(await schema('--out', folder)).toEqual(mistake('event.schema.json: is a folder'));
  });
});
