// The libraries that scripts may ask for by name: pure, so they live beside the program. `re` works
// in linear time.

import { createHash } from 'node:crypto';
import { type Matcher, RE2JS } from 're2js';
import { builtin, type Builtin, List, type Module, namespace, type Value } from '../values.ts';
import { decodeCodepoint, decodeText, encodeText } from '../bytes.ts';
import { StarlarkError } from '../errors.ts';
import type { Thread } from '../thread.ts';
import { json } from './json.ts';
import { accountItems, accountText } from './accounting.ts';
import { named, positional } from './arguments.ts';
import { clamped } from './numbers.ts';
import { chargeWork } from './search.ts';
import { countCodepoints } from './unicode.ts';

/**
 * `hash.md5(text)`, `hash.sha1`, `hash.sha256`, `hash.sha512`: lower-case hexadecimal, over the
 * text's bytes.
 */
const hashes: Module = namespace('hash', {
  md5: digest('md5'),
  sha1: digest('sha1'),
  sha256: digest('sha256'),
  sha512: digest('sha512'),
});

function digest(algorithm: 'md5' | 'sha1' | 'sha256' | 'sha512'): Builtin {
  const name = `hash.${algorithm}`;
  const readArguments = positional(name, ['string']);
  return builtin(name, (thread, args, kwargs) => {
    const [text] = readArguments(args, kwargs);
    chargeWork(thread, text.length);
    accountText(thread, text.length);
    return createHash(algorithm).update(Buffer.from(text, 'latin1')).digest('hex');
  });
}

const ELLIPSIS = encodeText('…');

const truncateArguments = named('string.truncate', [
  { name: 's', kind: 'string' },
  { name: 'n', kind: 'int' },
  { name: 'ellipsis', kind: 'string', optional: true },
]);

/**
 * `string.truncate(s, n, ellipsis="…")`: the text when it has at most `n` characters, and otherwise
 * as many of them as leave room for the ellipsis: the result never has more than `n`. An ellipsis
 * longer than that is cut itself.
 */
const string: Module = namespace('string', {
  truncate: builtin('string.truncate', (thread, args, kwargs) => {
    const [text, most, ellipsis = ELLIPSIS] = truncateArguments(args, kwargs);
    const limit = clamped(most);
    if (limit < 0)
      throw new StarlarkError(`string.truncate: for parameter n: got ${limit}, want at least 0`);
    chargeWork(thread, (text.length + ellipsis.length) * 8);
    if (countCodepoints(text) <= limit) return text;
    const room = Math.max(0, limit - countCodepoints(ellipsis));
    accountText(thread, text.length + ellipsis.length);
    return firstCodepoints(text, room) + firstCodepoints(ellipsis, limit);
  }),
});

function firstCodepoints(text: string, count: number): string {
  let end = 0;
  for (let taken = 0; taken < count && end < text.length; taken++)
    end += decodeCodepoint(text, end)[1];
  return text.slice(0, end);
}

/** Longer patterns are refused. */
const MAX_PATTERN = 4096;
/** Compiled patterns that are kept, the least recently used one going first. */
const MAX_KEPT = 64;
/** What one pattern may keep of its states, in bytes: nothing accounts it. */
const STATE_BYTES = 262_144;
/** Instructions of a pattern times characters of a text, for one step. */
const WORK_PER_STEP = 64;

const kept = new Map<string, RE2JS>();

/**
 * `re.match(pattern, text)` at the start of the text, `re.search(pattern, text)` anywhere: None, or
 * a list of the whole match and its groups, None for a group that took no part.
 * `re.findall(pattern, text)`: a list of all matches, each a string, or such a list when the
 * pattern has groups. Patterns are RE2's: no backreferences, no lookaround. Bytes that are not
 * UTF-8 are matched as U+FFFD.
 */
const re: Module = namespace('re', {
  match: matching('re.match', (matcher) => matcher.lookingAt()),
  search: matching('re.search', (matcher) => matcher.find()),
  findall: findall(),
});

function matching(name: string, matches: (matcher: Matcher) => boolean): Value {
  const readArguments = positional(name, ['string', 'string']);
  return builtin(name, (thread, args, kwargs) => {
    const [pattern, text] = readArguments(args, kwargs);
    const expression = compiled(thread, name, pattern);
    const matcher = matcherOf(thread, expression, text);
    return matches(matcher) ? groupsOf(thread, matcher) : null;
  });
}

function findall(): Value {
  const readArguments = positional('re.findall', ['string', 'string']);
  return builtin('re.findall', (thread, args, kwargs) => {
    const [pattern, text] = readArguments(args, kwargs);
    const matcher = matcherOf(thread, compiled(thread, 're.findall', pattern), text);
    const found: Value[] = [];
    while (matcher.find()) {
      // Each search may look ahead to the end of the text before it is content with less.
      thread.step(1 + Math.ceil((text.length - matcher.start()) / 256));
      accountItems(thread, 1);
      found.push(
        matcher.groupCount() === 0 ? textOf(thread, matcher.group(0)) : groupsOf(thread, matcher),
      );
    }
    return new List(found);
  });
}

function matcherOf(thread: Thread, expression: RE2JS, text: string): Matcher {
  thread.step(Math.ceil((text.length * expression.programSize()) / WORK_PER_STEP));
  accountText(thread, text.length * 2);
  return expression.matcher(decodeText(text));
}

function groupsOf(thread: Thread, matcher: Matcher): List {
  accountItems(thread, matcher.groupCount() + 1);
  return new List(
    Array.from({ length: matcher.groupCount() + 1 }, (_, index) =>
      textOf(thread, matcher.group(index)),
    ),
  );
}

function textOf(thread: Thread, group: string | null): Value {
  if (group === null) return null;
  accountText(thread, group.length * 3);
  return encodeText(group);
}

function compiled(thread: Thread, name: string, pattern: string): RE2JS {
  const known = kept.get(pattern);
  if (known !== undefined) {
    kept.delete(pattern);
    kept.set(pattern, known);
    return known;
  }
  if (pattern.length > MAX_PATTERN)
    throw new StarlarkError(`${name}: pattern is longer than ${MAX_PATTERN} bytes`);
  thread.step(pattern.length);
  const expression = compile(name, decodeText(pattern));
  kept.set(pattern, expression);
  const [oldest] = kept.keys();
  if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
  return expression;
}

function compile(name: string, pattern: string): RE2JS {
  try {
    const expression = RE2JS.compile(pattern);
    const { dfa } = expression.re2();
    dfa.stateBudget = STATE_BYTES;
    dfa.memBudget = STATE_BYTES;
    return expression;
  } catch (error) {
    throw new StarlarkError(
      `${name}: ${error instanceof Error ? encodeText(error.message) : 'invalid pattern'}`,
    );
  }
}

/** By the name that a script knows them by. `time` is not here: its clock is the host's. */
export const libraries: ReadonlyMap<string, Module> = new Map(
  [json, re, string, hashes].map((library) => [library.name, library]),
);
