/** What the command line says, checked. */

import { parseArgs } from 'node:util';
import type { Case } from './harness.ts';

export const BENCHES = [
  'compose',
  'registry',
  'stack',
  'durable',
  'receipts',
  'memory',
  'proxy',
  'starlark',
  'startup',
] as const;
export type BenchName = (typeof BENCHES)[number];

/** What every benchmark is told. */
export interface BenchOptions {
  readonly rounds: number;
  /** Whether a case is to be measured. */
  readonly matches: (subject: Pick<Case, 'group' | 'name'>) => boolean;
  /** The arguments that tell another process of this program the same. */
  readonly asArguments: readonly string[];
  /** Whether `stack` only proves that the sides do the same, and that a wrong limit is noticed. */
  readonly proveOnly: boolean;
  /** A line for people about what is going on. */
  readonly onProgress: (line: string) => void;
}

export interface CommandLine extends BenchOptions {
  readonly benches: readonly BenchName[];
  readonly json: boolean;
  readonly check: boolean;
  readonly help: boolean;
}

/** A mistake on the command line: a sentence for people, exit code 2. */
export interface UsageError {
  readonly usageError: string;
}

export const HELP = `Benchmarks of allium against hand-written code and other composers. Ratios inside one run hold; nanoseconds do not.

usage: npm run bench -- [compose|registry|stack|durable|receipts|memory|proxy|starlark|startup|all] [options]

  compose    stacks of 0 to 32 layers that do nothing          about 90 s
  registry   a call among 10 and among 10 000 tools            about 5 s
  stack      the captain stack against one hand-written function and LangChain  about 150 s
  durable    receipts that are on disk before anybody goes on  about 10 s
  receipts   verifying and searching a million receipts        about 120 s
  memory     calls on one signal, in flight, in many sessions  about 6 min
  proxy      an MCP server behind the proxy and behind others  at most 200 s
  starlark   scripts here and in the native interpreter        about 60 s
  startup    importing the package, the command, a first answer  about 120 s
  all        all of these, one after another (the default)

  --rounds N      samples per case (default 40); memory takes none
  --filter TEXT   only cases whose group or name contains TEXT; goals about others are skipped
  --group NAME    only the group of exactly this name
  --prove         of stack, only the proof that its sides do the same
  --json          one JSON object on stdout instead of tables
  --check         exit code 1 when a goal is missed
  --help          this text

examples:
  npm run bench -- compose --filter "8 layers"
  npm run bench -- registry --rounds 100 --check
  npm run --silent bench -- all --json > bench.json`;

const DEFAULT_ROUNDS = 40;
const FLAGS = {
  rounds: { type: 'string' },
  filter: { type: 'string' },
  group: { type: 'string' },
  prove: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  check: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

/** Reads the arguments behind the program's name. */
export function readCommandLine(args: readonly string[]): CommandLine | UsageError {
  const unknown = args.find(
    (arg) => arg.startsWith('--') && !Object.hasOwn(FLAGS, nameOfFlag(arg)),
  );
  if (unknown !== undefined)
    return {
      usageError: unknownWord(
        'option',
        unknown,
        Object.keys(FLAGS).map((flag) => `--${flag}`),
      ),
    };
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: FLAGS,
      allowPositionals: true,
    });
    return fromParsed(values, positionals);
  } catch (error) {
    return { usageError: error instanceof Error ? error.message : 'the arguments cannot be read' };
  }
}

const nameOfFlag = (arg: string): string => arg.slice(2).split('=')[0] ?? '';

interface ParsedValues {
  readonly rounds?: string | undefined;
  readonly filter?: string | undefined;
  readonly group?: string | undefined;
  readonly prove: boolean;
  readonly json: boolean;
  readonly check: boolean;
  readonly help: boolean;
}

function fromParsed(
  values: ParsedValues,
  positionals: readonly string[],
): CommandLine | UsageError {
  const { rounds, filter, group, prove, json, check, help } = values;
  const wanted = positionals.length === 0 ? ['all'] : positionals;
  const stranger = wanted.find((name) => name !== 'all' && !isBench(name));
  if (stranger !== undefined)
    return { usageError: unknownWord('benchmark', stranger, [...BENCHES, 'all']) };
  const count = Number(rounds ?? DEFAULT_ROUNDS);
  if (!Number.isInteger(count) || count < 1)
    return { usageError: `--rounds takes a whole number from 1 on, got "${rounds ?? ''}"` };
  return {
    benches: BENCHES.filter((bench) => wanted.includes('all') || wanted.includes(bench)),
    rounds: count,
    matches: (subject) =>
      (group ?? subject.group) === subject.group &&
      `${subject.group}\n${subject.name}`.includes(filter ?? ''),
    asArguments: ['--rounds', String(count), ...(filter === undefined ? [] : ['--filter', filter])],
    proveOnly: prove,
    onProgress: (line) => void process.stderr.write(`${line}\n`),
    json,
    check,
    help,
  };
}

const isBench = (name: string): name is BenchName => BENCHES.some((bench) => bench === name);

function unknownWord(what: string, word: string, known: readonly string[]): string {
  const [closest] = known
    .map((candidate) => ({ candidate, distance: distanceOf(word, candidate) }))
    .sort((a, b) => a.distance - b.distance);
  const hint =
    closest !== undefined && closest.distance <= 3
      ? `; did you mean "${closest.candidate}"?`
      : `; there is ${known.join(', ')}`;
  return `unknown ${what} "${word}"${hint}`;
}

/** How many letters must be added, dropped or replaced to make one word of the other. */
function distanceOf(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [index, letter] of Array.from(from).entries()) {
    const next = [index + 1];
    for (const [column, other] of Array.from(to).entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
