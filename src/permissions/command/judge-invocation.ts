/** What the lists and the table of programs that run others say about one command. */

import { type CommandEntry, concerns, isNamedIn, permits, spellsOut } from './command-entry.ts';
import { finding, type Invocation, NOT_UNDERSTOOD } from './command-reading.ts';
import { fitsRow, type ProgramRow } from './program-row.ts';
import { PROGRAMS_THAT_RUN } from './programs-that-run.ts';
import { baseName } from './read-command.ts';

/** The lists of a policy, parsed. */
export interface CommandLists {
  readonly allow: readonly CommandEntry[];
  readonly ask: readonly CommandEntry[];
  readonly deny: readonly CommandEntry[];
  readonly unknown: 'allow' | 'ask' | 'deny';
}

/** One verdict with its why. */
export interface Judgement {
  readonly decision: 'allow' | 'require_approval' | 'deny';
  readonly code: string;
  readonly reason: string;
}

const ROWS = new Map<string, readonly ProgramRow[]>();
for (const row of PROGRAMS_THAT_RUN)
  for (const program of row.programs) ROWS.set(program, [...(ROWS.get(program) ?? []), row]);

/** Names of programs are not longer: what is, is not looked through for a version. */
const MAX_NAME = 255;

/** The rows about a program; a version at the end of its name does not count. */
export function rowsOf(program: string): readonly ProgramRow[] {
  const base = baseName(program);
  if (base.length > MAX_NAME) return [];
  return ROWS.get(base) ?? ROWS.get(base.replace(/[-.]?\d[\d.]*$/, '')) ?? [];
}

/**
 * Judges one command. `moves` says that the line changes folders, or that the request names one.
 */
export function judgeInvocation(
  { words, transparent, findings }: Invocation,
  lists: CommandLists,
  moves: boolean,
): Judgement {
  const [program, ...args] = words;
  const name = program?.literal ?? null;
  if (name === null || name === '') return unreadable(lists);
  const shown = shownName(name);
  const row = rowsOf(name).find((candidate) => fitsRow(candidate, args));
  if (lists.deny.some((entry) => concerns(entry, words) === 'yes')) return denied(shown, lists);
  if (
    (row !== undefined || findings.length > 0) &&
    lists.deny.some((entry) => isNamedIn(entry, args))
  )
    return denied('a program behind another one', lists);
  if (lists.deny.some((entry) => concerns(entry, words) === 'maybe'))
    return asked(
      'may_be_denied',
      `${shown} may be one of the denied commands here. Put its subcommand first, as plain text.`,
    );
  if (lists.ask.some((entry) => concerns(entry, words) !== 'no'))
    return asked('asked_by_list', `${shown} is on the list of commands that are asked.`);
  if (moves && isRelative(name))
    return asked(
      'relative_program',
      `${shown} is a relative path, and the folder may be another one. Name the program by its full path.`,
    );
  if (lists.allow.some((entry) => spellsOut(entry, words))) return allowed(shown);
  if (row !== undefined)
    return asked(
      'runs_another_program',
      `${shown} is asked here, because it can ${row.can}.${passing(row)}`,
    );
  const [first] = findings;
  if (first !== undefined)
    return {
      ...asked(first.code, first.reason),
      decision:
        NOT_UNDERSTOOD.has(first.code) && lists.unknown === 'deny' ? 'deny' : 'require_approval',
    };
  return transparent || lists.allow.some((entry) => permits(entry, words))
    ? allowed(shown)
    : unlisted(shown, lists);
}

const isRelative = (name: string): boolean => name.includes('/') && !name.startsWith('/');

const asked = (code: string, reason: string): Judgement => ({
  decision: 'require_approval',
  code,
  reason,
});

const allowed = (shown: string): Judgement => ({
  decision: 'allow',
  code: 'allowed_by_list',
  reason: `${shown} is allowed.`,
});

const denied = (shown: string, lists: CommandLists): Judgement => ({
  decision: 'deny',
  code: 'denied_by_list',
  reason: `${shown} is on the list of denied commands. ${whatPasses(lists)}`,
});

function unreadable({ unknown }: CommandLists): Judgement {
  const { code, reason } = finding('program_not_literal');
  return { decision: unknown === 'deny' ? 'deny' : 'require_approval', code, reason };
}

function unlisted(shown: string, lists: CommandLists): Judgement {
  const decision = ({ allow: 'allow', ask: 'require_approval', deny: 'deny' } as const)[
    lists.unknown
  ];
  return {
    decision,
    code: 'not_listed',
    reason: `${shown} is not on the list of allowed commands. ${whatPasses(lists)}`,
  };
}

/**
 * A program may be named; anything longer or stranger than a name is an argument's value in
 * disguise.
 */
const shownName = (name: string): string =>
  /^[\w.+[-]{1,40}$/.test(name) ? `"${name}"` : 'A program';

const MAX_SHOWN = 12;

function whatPasses({ allow }: CommandLists): string {
  if (allow.length === 0) return 'No command is allowed unasked.';
  const names = allow
    .slice(0, MAX_SHOWN)
    .map(({ program, words }) => [program, ...words].join(' '));
  return `Allowed: ${names.join(', ')}${allow.length > MAX_SHOWN ? ', …' : ''}.`;
}

const passing = ({ passes }: ProgramRow): string =>
  passes === undefined ? '' : ` What passes looks like: ${passes}`;
