import { describe, expect, it } from 'vitest';
import { judged } from './command-policy.fixture.ts';
import { rowsOf } from './judge-invocation.ts';
import { PROGRAMS_THAT_RUN } from './programs-that-run.ts';
import { readCommand } from './read-command.ts';
import { WRAPPERS } from './wrappers.ts';

const rows = PROGRAMS_THAT_RUN.map((row) => ({ ...row, name: row.programs.join(' ') }));
const passing = rows.filter(({ passes }) => passes !== undefined);

/** Only its programs are allowed, and nothing else is known. */
const decided = (line: string, programs: readonly string[]) =>
  judged(line, { allow: [...programs], unknown: 'deny' });

/** Splits a sample that uses no shell syntax but quotes. */
const argvOf = (line: string) =>
  (readCommand({ command: line }).invocations[0]?.words ?? []).map(({ literal }) => literal ?? '');

describe('programs that run others', () => {
  it('are a table worth iterating over', () => {
    expect(rows.length).toBeGreaterThan(80);
    expect(rows.flatMap(({ programs }) => programs).length).toBeGreaterThan(300);
  });

  it.each(passing)('pass without the option: $passes', ({ passes = '', programs }) => {
    expect(decided(passes, programs)).toMatchObject({ decision: 'allow' });
    expect(judged({ argv: argvOf(passes) }, { allow: [...programs] })).toMatchObject({
      decision: 'allow',
    });
  });

  it.each(rows)('are asked with it: $asked', ({ asked, programs, can }) => {
    const sample = asked.replace(/ ;$/, ' \\;');
    const answer = decided(sample, programs);

    expect(answer).toMatchObject({ decision: 'require_approval', code: 'runs_another_program' });
    expect(answer.reason).toContain(can);
    expect(judged({ argv: argvOf(sample) }, { allow: [...programs] })).toMatchObject({
      decision: 'require_approval',
    });
  });

  it.each(rows)('are asked by whatever path: $asked', ({ asked, programs }) => {
    const path = `/opt/bin/${asked.replace(/ ;$/, ' \\;')}`;
    const [program = ''] = path.split(' ');
    expect(decided(path, [...programs, program])).toMatchObject({ decision: 'require_approval' });
  });

  it.each(rows.filter(({ long }) => long !== undefined))(
    'know long options of $name, cut short and with values',
    ({ long = [], programs }) => {
      const [program = ''] = programs;
      for (const option of long) {
        for (const spelling of [
          `--${option}`,
          `--${option}=x`,
          `--${option} x`,
          `--${option.slice(0, -1)}=x`,
          `"--${option}"`,
          `--'${option}'`,
        ]) {
          expect(decided(`${program} ${spelling}`, programs), spelling).not.toMatchObject({
            decision: 'allow',
          });
        }
      }
    },
  );

  it.each(rows.filter(({ short, leading }) => short !== undefined && leading !== true))(
    'know short options of $name in a bundle',
    ({ short = '', programs }) => {
      const [program = ''] = programs;
      for (const letter of short.split('')) {
        for (const spelling of [
          `-${letter}`,
          `-${letter}x`,
          `-q${letter}`,
          `-'${letter}'`,
          `"-q"${letter}x`,
        ]) {
          expect(decided(`${program} ${spelling} y`, programs), spelling).not.toMatchObject({
            decision: 'allow',
          });
        }
      }
    },
  );

  it.each(
    rows.filter(
      ({ long, short, words, leading }) =>
        leading !== true && (long ?? short ?? words) !== undefined,
    ),
  )('are asked where a word may become an option: $name', ({ programs }) => {
    const [program = ''] = programs;
    for (const word of ['$x', '"$x"', '*', '{a,-b}', '$(echo x)', 'a$x', '-"$x"', '"$@"']) {
      expect(decided(`${program} ${word}`, [...programs, 'echo']), word).not.toMatchObject({
        decision: 'allow',
      });
    }
  });

  it('are one program with or without a version', () => {
    for (const name of [
      'python',
      'python3',
      'python3.12',
      'Python',
      'python.exe',
      'gcc-12',
      'lua5.4',
      'perl5.36.0',
      '/usr/bin/python3',
    ]) {
      expect(rowsOf(name).length, name).toBeGreaterThan(0);
    }
  });

  it('are allowed where the whole command is spelled out, and only then', () => {
    const options = { allow: ['make test', 'npm run build', 'python -m pytest', 'find . -delete'] };

    for (const line of options.allow)
      expect(judged(line, options)).toMatchObject({ decision: 'allow' });
    for (const line of options.allow)
      expect(judged(`${line} x`, options)).toMatchObject({ decision: 'require_approval' });
  });

  it('end their options at "--" where the program does', () => {
    expect(judged('sort -- -o', { allow: ['sort'] })).toMatchObject({ decision: 'allow' });
    expect(judged('find -- -delete', { allow: ['find'] })).toMatchObject({
      decision: 'require_approval',
    });
    expect(judged('sort -- "$x"', { allow: ['sort'] })).toMatchObject({ decision: 'allow' });
  });
});

describe('programs that only start another one', () => {
  const wrappers = WRAPPERS.flatMap(({ programs, words = 0 }) =>
    // Some shells take a bare "time" for a word of their own.
    programs.map((program) => ({
      program,
      line: [program === 'time' ? "'time'" : program, ...Array<string>(words).fill('1')].join(' '),
    })),
  );

  it.each(wrappers)('are what they start: $program', ({ line }) => {
    expect(judged(`${line} ls`, { allow: ['ls'] })).toMatchObject({ decision: 'allow' });
    expect(judged(`${line} rm`, { allow: ['ls'], deny: ['rm'] })).toMatchObject({
      decision: 'deny',
    });
    expect(judged(`${line} unheard`, { allow: ['ls'] })).toMatchObject({
      decision: 'require_approval',
    });
    expect(judged(`${line} $x`, { allow: ['ls'] })).toMatchObject({ decision: 'require_approval' });
  });

  it.each(wrappers)('are refused and asked by their own name: $program', ({ program, line }) => {
    expect(
      judged(
        { argv: [program, ...line.split(' ').slice(1), 'ls'] },
        { allow: ['ls'], deny: [program] },
      ),
    ).toMatchObject({
      decision: 'deny',
    });
    expect(
      judged(
        { argv: [program, ...line.split(' ').slice(1), 'ls'] },
        { allow: ['ls'], ask: [program] },
      ),
    ).toMatchObject({
      decision: 'require_approval',
    });
  });

  it.each(wrappers)('are not followed through options nobody listed: $program', ({ program }) => {
    expect(judged(`${program} -Z ls`, { allow: ['ls', program] })).toMatchObject({
      decision: 'require_approval',
    });
    expect(judged(`${program} --zzz ls`, { allow: ['ls', program] })).toMatchObject({
      decision: 'require_approval',
    });
    expect(judged(`/tmp/${program} ls`, { allow: ['ls', program] })).toMatchObject({
      decision: 'require_approval',
    });
  });
});
