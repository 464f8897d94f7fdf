import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtin, type BuiltinCall, type Value } from '../../../src/starlark/index.ts';
import { iterableLength } from '../../../src/starlark/iterate.ts';
import { List } from '../../../src/starlark/values.ts';
import { compareOutcomes } from './compare-outcomes.ts';
import { fuzzStarlark, type StarlarkSubject } from './fuzz-starlark.ts';
import { ENTRY, generateProgram } from './generate-program.ts';
import { type Oracle, oracleProblem, startOracle } from './oracle.ts';
import { decode, fromAnswer, type Outcome } from './outcome.ts';
import { runHere } from './run-here.ts';
import { shrinkProgram } from './shrink-program.ts';
import { howMany } from '../../how-many.fixture.ts';

const problem = oracleProblem();
const isSkipped = problem !== null && process.env.CI !== 'true';
if (isSkipped)
  process.stderr.write(
    `random programs are not compared with the native interpreter: ${problem}\n`,
  );

/**
 * An interpreter with one fault: what ours says of the program with some of its operations
 * exchanged for faulty ones. Where that makes a program fail, the places of errors would differ too
 * and prove nothing, so that only values may tell.
 */
const faulty =
  (
    change: (source: string) => string,
    faults: Readonly<Record<string, BuiltinCall>>,
  ): StarlarkSubject =>
  (source) => {
    const predeclared = new Map<string, Value>(
      Object.entries(faults).map(([name, call]) => [name, builtin(name, call)]),
    );
    const right = runHere(source, { then: ENTRY });
    const wrong = runHere(change(source), { predeclared, then: ENTRY });
    return right.ok && wrong.ok ? wrong : right;
  };

/**
 * The sign of a remainder is that of the dividend in JavaScript, and that of the divisor in
 * Starlark.
 */
const remainderOfJavaScript = faulty(
  (source) => source.replaceAll(/\((\w+) % (-?\d+)\)/g, 'remainder($1, $2)'),
  {
    remainder: (_thread, [x, y]) => (typeof x === 'number' && typeof y === 'number' ? x % y : null),
  },
);
const lengthOfJavaScript = faulty((source) => source, {
  len: (_thread, [value = null]) =>
    typeof value === 'string' ? decode(value).length : lengthOf(value),
});
const lengthOf = (value: Value): Value => iterableLength(value) ?? null;
const orderOfJavaScript = faulty((source) => source.replaceAll(/\bsorted\(\[/g, 'arranged(['), {
  arranged: (_thread, [list = null]) =>
    list instanceof List ? new List([...list.items].sort()) : list,
});
/** Without a freeze the call after the module ends where the frozen one failed. */
const withoutFreezing: StarlarkSubject = (source) => {
  const frozen = runHere(source, { then: ENTRY });
  if (frozen.error === undefined || !/frozen/.test(frozen.error.text)) return frozen;
  const { RESULT = '', ...globals } = runHere(`${source}RESULT = ${ENTRY}()\n`).globals;
  return { ok: true, globals: { ...globals, $result: RESULT }, prints: frozen.prints, reports: [] };
};
const otherPlace: StarlarkSubject = (source) => {
  const outcome = runHere(source, { then: ENTRY });
  return outcome.error === undefined
    ? outcome
    : { ...outcome, error: { ...outcome.error, column: outcome.error.column + 1 } };
};

describe.skipIf(isSkipped)('fuzzStarlark', () => {
  let oracle: Oracle;
  beforeAll(async () => {
    expect(problem, 'CI compares with the native interpreter').toBeNull();
    oracle = await startOracle(resolve(import.meta.dirname, '../../..'));
  }, 120_000);
  afterAll(() => oracle.close());

  it('finds this interpreter and the native one of one mind in hundreds of programs', async () => {
    const programs = howMany(500, 2_000);
    const figures = await fuzzStarlark({ programs, seed: 20_260_101, oracle });

    expect(figures.differences).toEqual([]);
    expect(figures.programs).toBe(programs);
    expect(figures.byEnding.ok).toBeGreaterThan(programs * 0.4);
    expect(figures.byEnding.eval).toBeGreaterThan(programs * 0.2);
    expect(figures.byEnding.syntax).toBeGreaterThan(programs * 0.05);
    expect(figures.byEnding.resolve).toBeGreaterThan(programs * 0.01);
    expect(figures.leftOut).toBeLessThan(programs * 0.01);
  }, 180_000);

  it.each([
    ['a remainder as JavaScript has it', remainderOfJavaScript],
    ['lengths in UTF-16 units', lengthOfJavaScript],
    ['an order by text, as JavaScript has it', orderOfJavaScript],
    ['globals that are not frozen', withoutFreezing],
    ['errors one column further', otherPlace],
  ])(
    'finds %s',
    async (_what, subject) => {
      const { differences } = await fuzzStarlark({
        programs: howMany(600, 2_000),
        seed: 1,
        oracle,
        subject,
      });

      expect(differences.length).toBeGreaterThan(0);
      expect(differences[0]).toMatch(/program \d+ of seed 1:\n[^]*native: [^]*here: /);
    },
    180_000,
  );

  it.each([
    '(A and B)[:]',
    '(A or B)[:]',
    '((A and 1) or 2)[:]',
    '(1 if A else 2)[:]',
    '(A if not B else 1)[:]',
    '(A if A and B else 1)[:]',
    '(1 if A or B else A)[:]',
    '(1 if A not in L else B)[:]',
    '"abc"[A and B:]',
    '"abc"[:(1 if A and L else 2)][::0]',
    '[A and B for v in L][::0]',
    '[(A and B, v or A) for v in L if A and not (B and v)][::0]',
    '{v: (A if B else 1) for v in L for w in L if v if w not in L or A}[:]',
    '[str((len if A else 1) if 1.5 or A else ("x" and B)) for v in L for w in L][::0]',
  ])('finds both of one mind about the place of the error in %s', async (expression) => {
    const source = `A = 1\nB = 2.5\nL = [1, 2]\ndef main():\n  return ${expression}\n`;
    const [answer] = await oracle.ask([{ id: '0', file: 'places.star', source, then: ENTRY }]);
    if (answer === undefined) throw new Error('every program is answered');

    expect(answer.error).toMatchObject({ kind: 'eval', line: 5 });
    expect(
      compareOutcomes(fromAnswer(answer), runHere(source, { file: 'places.star', then: ENTRY })),
    ).toEqual([]);
  });

  it('leaves out a program that the native interpreter would be at for minutes', async () => {
    const source = 'def main():\n  t = ()\n  for i in range(400000):\n    t += (i,)\n';
    const [answer] = await oracle.ask([{ id: '0', file: 'slow.star', source, then: ENTRY }]);

    expect(answer?.error).toMatchObject({
      kind: 'steps',
      text: expect.stringContaining('too much time') as unknown,
    });
  });

  it('repeats itself with the same seed', async () => {
    expect(await fuzzStarlark({ programs: 100, seed: 5, oracle })).toEqual(
      await fuzzStarlark({ programs: 100, seed: 5, oracle }),
    );
  });
});

describe('generateProgram', () => {
  it('makes the same program of the same seed, and others of others', () => {
    const programs = Array.from({ length: 200 }, (_, seed) => generateProgram(seed));

    expect(programs).toEqual(Array.from({ length: 200 }, (_, seed) => generateProgram(seed)));
    expect(new Set(programs).size).toBeGreaterThan(195);
  });
});

const outcome = (changes: Partial<Outcome>): Outcome => ({
  ok: true,
  globals: { a: '1' },
  prints: ['x'],
  reports: [],
  ...changes,
});
const failed = (changes: object): Outcome =>
  outcome({
    ok: false,
    error: {
      kind: 'eval',
      text: 'no',
      line: 1,
      column: 2,
      stack: [{ name: 'f', line: 1, column: 2 }],
      ...changes,
    },
  });

describe('compareOutcomes', () => {
  it('finds nothing between equal outcomes', () => {
    expect(compareOutcomes(outcome({}), outcome({}))).toEqual([]);
    expect(compareOutcomes(failed({}), failed({}))).toEqual([]);
  });

  it.each([
    ['another value', outcome({}), outcome({ globals: { a: '2' } })],
    ['a missing global', outcome({}), outcome({ globals: {} })],
    ['another print', outcome({}), outcome({ prints: ['y'] })],
    ['a success', failed({}), outcome({})],
    ['another kind', failed({}), failed({ kind: 'memory' })],
    ['another text', failed({}), failed({ text: 'yes' })],
    ['another line', failed({}), failed({ line: 2 })],
    ['another column', failed({}), failed({ column: 3 })],
    ['another traceback', failed({}), failed({ stack: [] })],
    [
      'a mistake that the native resolver does not find',
      failed({ kind: 'resolve', all: [] }),
      failed({ kind: 'resolve', all: [{ text: 'no', line: 1, column: 2 }] }),
    ],
  ])('finds %s', (_what, native, here) => {
    expect(compareOutcomes(native, here)).toHaveLength(1);
  });

  it('takes the mistakes of the resolver in any order', () => {
    const all = [
      { text: 'no', line: 1, column: 2 },
      { text: 'neither', line: 3, column: 4 },
    ];
    const here = failed({
      kind: 'resolve',
      text: 'neither',
      line: 3,
      column: 4,
      all: [...all].reverse(),
    });

    expect(compareOutcomes(failed({ kind: 'resolve', all }), here)).toEqual([]);
  });
});

describe('shrinkProgram', () => {
  it('keeps what shows the difference and drops the rest', async () => {
    const source = 'a = 1\nb = [2, len("é"), 3]\nc = 3\n';

    expect(await shrinkProgram(source, async (candidate) => candidate.includes('len("é")'))).toBe(
      'len("é")',
    );
  });
});
