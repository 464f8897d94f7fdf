/** What every reader of a part of a file is given: the file, and where mistakes go. */

import { closest } from '../../core/contract/closest.ts';
import { oneLine } from '../../core/contract/errors.ts';
import type { ArtifactProblem, Position } from '../artifact.ts';
import type { Frontmatter, Member } from './frontmatter.ts';

export interface FileScope {
  /** Relative to the project root. */
  readonly file: string;
  /** Old files: what they may have and new ones may not is a warning, or taken as it was. */
  readonly lenient: boolean;
  readonly frontmatter: Frontmatter;
  report(
    at: Position,
    message: string,
    rule?: string,
    severity?: ArtifactProblem['severity'],
  ): void;
}

/** Text from a file as a message may show it. */
export const quoted = (text: string): string => JSON.stringify(oneLine(text));

type Readers = Readonly<Record<string, (member: Member) => void>>;

/**
 * Hands each member to its reader, in the order of the file. A key that nobody reads is an error
 * that says which one was meant; `hints` say more about keys that people expect, and `known` are
 * those worth guessing.
 */
export function readKeys(
  scope: FileScope,
  owner: string,
  members: readonly Member[],
  readers: Readers,
  hints: Readonly<Record<string, string>> = {},
  known: readonly string[] = Object.keys(readers),
): void {
  for (const member of members) {
    const reader = Object.hasOwn(readers, member.key) ? readers[member.key] : undefined;
    // A key with nothing behind it is as good as no key.
    if (reader !== undefined) {
      if (member.value !== null) reader(member);
      continue;
    }
    const hint =
      (Object.hasOwn(hints, member.key) ? hints[member.key] : undefined) ??
      guessed(member.key, known);
    const message = `${owner} has no ${quoted(member.key)}; ${hint}`;
    scope.report(member.keyAt, message, 'unknown-key', scope.lenient ? 'warning' : 'error');
  }
}

function guessed(word: string, known: readonly string[]): string {
  const guess = closest(word, known);
  return guess === undefined ? `it takes ${known.join(', ')}` : `did you mean "${guess}"?`;
}

/**
 * One kind of value: what to call it in messages, and what it is in memory; `undefined` for what is
 * none.
 */
export interface ValueKind {
  readonly text: string;
  read(member: Pick<Member, 'value' | 'at'>, scope: FileScope): unknown;
}

const kind = (text: string, test: (value: unknown) => boolean): ValueKind => ({
  text,
  read: ({ value }, { frontmatter }) => {
    const data = frontmatter.dataOf(value);
    return test(data) ? data : undefined;
  },
});

/** The kinds of values that keys have. */
export const kinds = Object.freeze({
  text: kind('text', (value) => typeof value === 'string' && value !== ''),
  flag: kind('true or false', (value) => typeof value === 'boolean'),
  whole: (min: number): ValueKind =>
    kind(
      `a whole number of at least ${min}`,
      (value) => Number.isSafeInteger(value) && (value as number) >= min,
    ),
  oneOf: (values: readonly string[]): ValueKind =>
    kind(`one of ${values.join(', ')}`, (value) => values.some((known) => known === value)),
  texts: kind(
    'a list of texts',
    (value) =>
      Array.isArray(value) && value.every((item) => typeof item === 'string' && item !== ''),
  ),
  ports: kind(
    'a list of ports',
    (value) =>
      Array.isArray(value) &&
      value.every((item) => Number.isInteger(item) && Number(item) > 0 && Number(item) < 65_536),
  ),
  lists: kind(
    'keys with lists of texts',
    (value) =>
      typeof value === 'object' &&
      value !== null &&
      !Array.isArray(value) &&
      Object.values(value).every(
        (list) => Array.isArray(list) && list.every((item) => typeof item === 'string'),
      ),
  ),
});

/** Reads one value and reports what it is not. */
export function readValue(
  scope: FileScope,
  owner: string,
  member: Member,
  wanted: ValueKind,
): unknown {
  const value = wanted.read(member, scope);
  if (value === undefined) scope.report(member.at, `${owner} ${member.key} must be ${wanted.text}`);
  return value;
}

const camelCase = (key: string): string =>
  key.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());

/**
 * Reads a mapping of settings. Files write snake_case; the names that the same settings have in
 * code are taken, too, but not both spellings at once.
 */
export function readSettings(
  scope: FileScope,
  owner: string,
  member: Member,
  shape: Readonly<Record<string, ValueKind>>,
): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  const members = scope.frontmatter.membersOf(member.value);
  if (members === null) {
    scope.report(member.at, `${owner} must be keys with values`);
    return found;
  }
  const readers = Object.entries(shape).flatMap(([key, wanted]) => {
    const name = camelCase(key);
    const reader = (given: Member): void => {
      if (Object.hasOwn(found, name)) scope.report(given.keyAt, `${owner} has "${key}" twice`);
      found[name] = readValue(scope, owner, given, wanted);
    };
    return [[key, reader] as const, ...(name === key ? [] : [[name, reader] as const])];
  });
  readKeys(scope, owner, members, Object.fromEntries(readers), {}, Object.keys(shape));
  // What was wrong has been reported and is left out.
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}
