/** Programs that do nothing but start another one, and how to find it among their arguments. */

import { finding, type CommandFinding } from './command-reading.ts';
import { type CommandWord, UNKNOWN_WORDS } from './command-word.ts';
import { isHarmlessForPrograms } from './shell-variables.ts';
import { words } from '../../system/words.ts';

/**
 * How a program that starts another one is called. Options that are not listed are not followed.
 */
interface Wrapper {
  readonly programs: readonly string[];
  /** Letters of options that stand alone. */
  readonly flags?: string;
  /** Letters of options that take a value, in the same word or in the next. */
  readonly values?: string;
  /** Long options that stand alone or carry their value after `=`. */
  readonly long?: readonly string[];
  /** Letters that make it only look the program up. */
  readonly lookups?: string;
  /** Words between the options and the program. */
  readonly words?: number;
  /** `NAME=value` may stand before the program. */
  readonly assignments?: true;
  /** Adds arguments that nobody can see. */
  readonly addsWords?: true;
}

/** Programs that run the words behind their own options as a command. */
export const WRAPPERS: readonly Wrapper[] = Object.freeze([
  { programs: ['command'], flags: 'p', lookups: 'vV' },
  { programs: ['exec'] },
  { programs: ['nohup'] },
  {
    programs: ['time'],
    flags: 'pvaq',
    values: 'f',
    long: ['verbose', 'portability', 'quiet', 'format'],
  },
  { programs: ['nice'], values: 'n', long: ['adjustment'] },
  { programs: ['ionice'], flags: 't', values: 'cn', long: ['class', 'classdata', 'ignore'] },
  {
    programs: ['timeout', 'gtimeout'],
    flags: 'v',
    values: 'sk',
    long: ['signal', 'kill-after', 'foreground', 'preserve-status', 'verbose'],
    words: 1,
  },
  { programs: ['stdbuf'], values: 'ioe', long: ['input', 'output', 'error'] },
  { programs: ['setsid'], flags: 'cfw', long: ['ctty', 'fork', 'wait'] },
  {
    programs: ['env', 'genv'],
    flags: 'i0v',
    values: 'u',
    long: ['ignore-environment', 'null', 'unset', 'debug'],
    assignments: true,
  },
  {
    programs: ['xargs', 'gxargs'],
    flags: '0rtxo',
    values: 'dELnPs',
    long: words(`
      null no-run-if-empty verbose exit delimiter max-args max-lines max-procs max-chars
    `),
    addsWords: true,
  },
] satisfies Wrapper[]);

/** The program that a wrapper starts, and what was seen on the way. */
interface Unwrapped {
  /** Empty where it starts nothing. `null` where what it starts cannot be followed. */
  readonly words: readonly CommandWord[] | null;
  readonly findings: readonly CommandFinding[];
}

const BY_NAME = new Map(
  WRAPPERS.flatMap((wrapper) => wrapper.programs.map((program) => [program, wrapper] as const)),
);

/**
 * How `program`, a name without folders, starts another one; `undefined` where it is no wrapper.
 */
export const wrapperOf = (program: string): Wrapper | undefined => BY_NAME.get(program);

/** Finds the program among the arguments of a wrapper. */
export function unwrap(wrapper: Wrapper, args: readonly CommandWord[]): Unwrapped {
  const start = skipOptions(wrapper, args);
  if (start === 'lookup') return { words: [], findings: [] };
  if (start === null) return { words: null, findings: [finding('runs_another_program')] };
  let at = start + (wrapper.words ?? 0);
  const findings: CommandFinding[] = [];
  for (; wrapper.assignments === true && /^[^=]+=/.test(args[at]?.start ?? ''); at += 1) {
    const name = args[at]?.start.split('=')[0] ?? '';
    if (!isHarmlessForPrograms(name)) findings.push(finding('variable_set'));
  }
  // The words that are skipped must be known: one that becomes several, or none, would move the
  // program.
  if (args.slice(0, at).some(({ literal }) => literal === null))
    return { words: null, findings: [finding('runs_another_program')] };
  const words = args.slice(at);
  return {
    words: words.length > 0 && wrapper.addsWords === true ? [...words, UNKNOWN_WORDS] : words,
    findings,
  };
}

/** Where the options end. */
function skipOptions(wrapper: Wrapper, args: readonly CommandWord[]): number | 'lookup' | null {
  for (let at = 0; at < args.length; at += 1) {
    const text = args[at]?.literal ?? null;
    // A program that is only known when it runs is found again by whoever judges it; an option like
    // that is not.
    if (text === null)
      return args[at] !== undefined &&
        args[at]?.start !== '' &&
        args[at]?.start.startsWith('-') === false
        ? at
        : null;
    if (text === '--') return at + 1;
    if (text === '-' && wrapper.assignments === true) continue;
    if (!text.startsWith('-') || text === '-') return at;
    const step = text.startsWith('--') ? longStep(wrapper, text) : shortStep(wrapper, text);
    if (step === 'lookup' || step === null) return step;
    at += step;
  }
  return args.length;
}

/**
 * A long option that has its value in the next word is not followed: whether it takes one is not
 * known here.
 */
function longStep({ long = [] }: Wrapper, text: string): 0 | null {
  const [name = ''] = text.slice(2).split('=');
  return long.includes(name) && (text.includes('=') || !TAKES_VALUE.has(name)) ? 0 : null;
}

const TAKES_VALUE = new Set(
  words(`
    format adjustment class classdata signal kill-after input output error unset delimiter
    max-args max-lines max-procs max-chars
  `),
);

/** How many more words a bundle of short options takes. */
function shortStep(
  { flags = '', values = '', lookups = '' }: Wrapper,
  text: string,
): 0 | 1 | 'lookup' | null {
  for (let at = 1; at < text.length; at += 1) {
    const letter = text.charAt(at);
    if (values.includes(letter)) return at === text.length - 1 ? 1 : 0;
    if (lookups.includes(letter)) return 'lookup';
    if (!flags.includes(letter)) return null;
  }
  return 0;
}
