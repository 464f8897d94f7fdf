/** Which programs a call may run, seen through everything a shell line can hide. */

import { hashCanonical } from '../../core/json/hash-canonical.ts';
import { checkOptions, type Expectation, expected } from '../../core/contract/options.ts';
import type { PermissionAnswer, PermissionPolicy, PermissionRequest } from '../permission.ts';
import { type CommandEntry, isEntry, parseEntry } from './command-entry.ts';
import {
  type CommandConcern,
  type CommandFinding,
  type CommandReading,
  finding,
  NOT_UNDERSTOOD,
} from './command-reading.ts';
import { type CommandLists, judgeInvocation, type Judgement } from './judge-invocation.ts';
import { type CommandSource, readCommand } from './read-command.ts';
import { isHarmlessForPrograms } from './shell-variables.ts';

/**
 * Lists of commands. An entry is a program (`ls`) or a program and the words right after it (`git
 * status`).
 */
export interface CommandPolicyOptions {
  /**
   * Commands that run unasked. The name is compared letter for letter: `ls` is not `/bin/ls`.
   * @default none
   */
  readonly allow?: readonly string[];
  /**
   * Commands that are asked, under any path.
   * @default none
   */
  readonly ask?: readonly string[];
  /**
   * Commands that never run, under any path. Beats the other lists.
   * @default none
   */
  readonly deny?: readonly string[];
  /**
   * What happens to programs in no list. What cannot be read is asked at least, and refused with
   * `deny`.
   * @default 'ask'
   */
  readonly unknown?: 'allow' | 'ask' | 'deny';
}

const entries: Expectation = expected.listOf({
  text: 'a program, or a program and words separated by spaces, without quotes, wildcards or other shell syntax',
  test: isEntry,
});
const EXPECTED: Readonly<Record<keyof CommandPolicyOptions, Expectation>> = {
  allow: entries,
  ask: entries,
  deny: entries,
  unknown: expected.oneOf('allow', 'ask', 'deny'),
};

const RANK = Object.freeze({ allow: 0, require_approval: 1, deny: 2 });

/**
 * Judges `process.command` requests and has no opinion on others. The line must be for a POSIX
 * shell; one that shells may read differently is asked. It trusts that the names on the search path
 * are the programs they seem to be, and that the request says what will run. It does not look at
 * files a program reads or writes (see `pathPolicy`), at hooks and settings that are already there,
 * or into scripts.
 */
export function commandPolicy(options: CommandPolicyOptions = {}): PermissionPolicy {
  checkOptions('commandPolicy', options, EXPECTED);
  const { allow = [], ask = [], deny = [], unknown = 'ask' } = options;
  const parsed = (list: readonly string[]): readonly CommandEntry[] => list.map(parseEntry);
  const lists: CommandLists = {
    allow: parsed(allow),
    ask: parsed(ask),
    deny: parsed(deny),
    unknown,
  };
  return Object.freeze({
    name: 'commandPolicy',
    digest: hashCanonical({
      name: 'commandPolicy',
      allow: [...allow],
      ask: [...ask],
      deny: [...deny],
      unknown,
    }),
    evaluate: (request: PermissionRequest) =>
      request.kind === 'process.command' ? judge(request, lists) : NO_OPINION,
  });
}

const NO_OPINION: PermissionAnswer = Object.freeze({ decision: 'no_opinion' });

type CommandRequest = Extract<PermissionRequest, { kind: 'process.command' }>;

/** The strictest judgement over everything that was found; the first of those gives the reason. */
function judge(request: CommandRequest, lists: CommandLists): PermissionAnswer {
  const reading = readCommand(request);
  const moves =
    request.cwd !== undefined ||
    reading.invocations.some(({ words }) => MOVES.has(words[0]?.literal ?? ''));
  const judgements = [
    ...reading.invocations.map((invocation) => judgeInvocation(invocation, lists, moves)),
    ...concernsOf(request, reading).map((concern) => judgeFinding(concern, lists)),
  ];
  return judgements.reduce(
    (worst, next) => (RANK[next.decision] > RANK[worst.decision] ? next : worst),
    ALLOWED,
  );
}

/** They change what a relative path stands for. */
const MOVES = new Set(['cd', 'chdir', 'pushd', 'popd']);
const ALLOWED: Judgement = Object.freeze({
  decision: 'allow',
  code: 'commands_allowed',
  reason: 'Every command of the line is allowed.',
});

function concernsOf({ env }: CommandRequest, reading: CommandReading): readonly CommandFinding[] {
  const inEnvironment = Object.keys(env ?? {}).some((name) => !isHarmlessForPrograms(name));
  return inEnvironment ? [...reading.findings, finding('variable_set')] : reading.findings;
}

const judgeFinding = ({ code, reason }: CommandFinding, { unknown }: CommandLists): Judgement => ({
  decision: unknown === 'deny' && NOT_UNDERSTOOD.has(code) ? 'deny' : 'require_approval',
  code,
  reason,
});

/** What was seen in a command. */
export interface CommandInspection {
  /**
   * Every program, in the order of being found; `null` where the name is only known when it runs.
   */
  readonly programs: readonly (string | null)[];
  /**
   * Every file that a redirect writes, as written in the line; `null` where the name is only known
   * when it runs.
   */
  readonly writes: readonly (string | null)[];
  /**
   * What could not be followed or read, each once. Where this is not empty the lists may be
   * incomplete.
   */
  readonly concerns: readonly CommandConcern[];
}

/**
 * Reads a line for bash or a POSIX shell, or a list of arguments, without running anything. A tool
 * can propose a `filesystem.write` for each file, so that `pathPolicy` sees it too. It does not
 * know which files the programs themselves write.
 */
export function inspectCommand(source: CommandSource): CommandInspection {
  const { invocations, findings, writes } = readCommand(source);
  const concerns = [...invocations.flatMap((invocation) => invocation.findings), ...findings].map(
    ({ code }) => code,
  );
  return {
    programs: invocations.map(({ words }) => words[0]?.literal ?? null),
    writes: [...writes],
    concerns: [...new Set(concerns)],
  };
}
