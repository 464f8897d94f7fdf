import { describe, expect, it } from 'vitest';
import { SHELL_TOKENS } from '../../../conformance/benches/fuzz/random-lines.ts';
import { judged } from './command-policy.fixture.ts';
import { MAX_COMMANDS, MAX_PARTS } from './plain-word.ts';
import { readCommand } from './read-command.ts';

const LENGTH = 32_000;

/** A line of the longest kind that repeats one text behind another. */
const filled = (repeated: string, before = ''): string =>
  before + repeated.repeat(Math.floor((LENGTH - before.length) / repeated.length));

const ORDINARY = [
  filled('src/file-name.ts ', 'cat '),
  filled('ls -la src/main.ts | cat x; '),
  filled('"some text in quotes" ', 'echo '),
];

const BEFORE = ['', 'ls ', 'ls "', 'eval ', 'awk '];
const REPEATED = [
  ...SHELL_TOKENS,
  ...[
    'a;',
    'x=1;',
    'rm;',
    'env ',
    'nice ',
    'eval ',
    'sh -c ',
    'git ',
    'rm ',
    '1.',
    'a1.',
    "''",
    '"$x" ',
    '$(ls ',
    '(ls;',
    'if ls; then ',
    '2>/dev/null ',
  ],
];

/** Processor time: another process that is busy meanwhile does not count. */
function spent(line: string, times: number): number {
  const before = process.cpuUsage();
  for (let count = 0; count < times; count += 1) judged(line);
  return process.cpuUsage(before).user / times;
}

/** The least of several measurements, of which one that is small enough ends them. */
function leastSpent(line: string, enough: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (const times of [1, 5, 10, 20, 20, 20]) {
    least = Math.min(least, spent(line, times));
    if (least <= enough) break;
  }
  return least;
}

/** What the first attempt at a version in a program's name did: every digit was a start. */
const naive = (line: string): string => line.replace(/[-.]?\d[\d.]*$/, '');

describe('the time commandPolicy takes', () => {
  it('is at most three times that of an ordinary line of the same length, whatever the line repeats', {
    timeout: 120_000,
  }, () => {
    for (const line of ORDINARY) spent(line, 20);
    const limit = 3 * Math.max(...ORDINARY.map((line) => spent(line, 20)));

    for (const before of BEFORE) {
      for (const repeated of REPEATED) {
        const line = filled(repeated, before);
        expect(leastSpent(line, limit), `${before}${repeated} ${repeated}`).toBeLessThanOrEqual(
          limit,
        );
      }
    }
  });

  it('is bounded by what is looked at, not by the clock of this machine', () => {
    const most = { commands: 0, words: 0 };
    for (const [index, first] of REPEATED.entries()) {
      // Each text with some of the others, evenly spread.
      for (let other = index % 17; other < REPEATED.length; other += 17) {
        const { invocations } = readCommand({
          command: filled(first + (REPEATED[other] ?? ''), 'ls '),
        });
        const words = invocations.reduce((sum, invocation) => sum + invocation.words.length, 0);
        most.commands = Math.max(most.commands, invocations.length);
        most.words = Math.max(most.words, words);
      }
    }

    expect(most.commands).toBeLessThanOrEqual(2 * MAX_COMMANDS);
    expect(most.words).toBeLessThanOrEqual(4 * MAX_PARTS);
  });

  it('does not grow with the square of a name, as that of a naive search for a version does', () => {
    const time = (work: () => unknown): number => {
      const before = process.cpuUsage();
      work();
      return process.cpuUsage(before).user;
    };
    const name = `${'1.'.repeat(5_000)}x`;

    expect(time(() => naive(name))).toBeGreaterThan(5 * leastSpent(name, 0));
  });
});
