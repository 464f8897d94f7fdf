/**
 * Compares what was seen with what a scenario expects. Objects may have more members than expected;
 * lists have exactly the items.
 */

import { isDeepStrictEqual } from 'node:util';
import type { JsonObject, JsonValue } from '../../src/index.ts';
import { isList, isRecord, textOf } from './json-parts.ts';

/** One place where something else was seen. */
export interface Mismatch {
  readonly path: string;
  readonly expected: string;
  readonly got: string;
}

/** What `$same` and `$differs` have seen so far in one scenario. */
export type Bindings = Map<string, JsonValue>;

type Seen = JsonValue | undefined;
type Form = (
  argument: JsonValue,
  got: Seen,
  path: string,
  bindings: Bindings,
) => readonly Mismatch[];

/** All the places that differ. An empty list means that what was expected was seen. */
export function mismatches(
  expected: JsonValue,
  got: Seen,
  path: string,
  bindings: Bindings,
): readonly Mismatch[] {
  if (isList(expected)) return matchList(expected, got, path, bindings);
  if (!isRecord(expected))
    return Object.is(expected, got) ? [] : [{ path, expected: show(expected), got: show(got) }];
  const form = formOf(expected);
  if (form !== null) return form.match(form.argument, got, path, bindings);
  if (!isRecord(got)) return [{ path, expected: 'an object', got: show(got) }];
  return Object.entries(expected).flatMap(([name, item]) =>
    mismatches(item, Object.hasOwn(got, name) ? got[name] : undefined, `${path}.${name}`, bindings),
  );
}

function matchList(
  expected: readonly JsonValue[],
  got: Seen,
  path: string,
  bindings: Bindings,
): readonly Mismatch[] {
  if (!isList(got)) return [{ path, expected: `a list of ${expected.length}`, got: show(got) }];
  const items = expected
    .slice(0, got.length)
    .flatMap((item, index) => mismatches(item, got[index], `${path}[${index}]`, bindings));
  return got.length === expected.length
    ? items
    : [...items, { path, expected: `${expected.length} items`, got: sized(got) }];
}

const sized = (got: readonly JsonValue[]): string => `${got.length} items: ${show(got)}`;

function formOf(expected: JsonObject): { match: Form; argument: JsonValue } | null {
  const [first, ...others] = Object.keys(expected);
  if (first === undefined || others.length > 0 || !first.startsWith('$')) return null;
  const match = FORMS.get(first);
  return match === undefined ? null : { match, argument: expected[first] ?? null };
}

/** Whether an expectation uses a form that is not there. Answers its name. */
export function unknownForm(expected: JsonValue): string | null {
  if (isList(expected)) return firstOf(expected);
  if (!isRecord(expected)) return null;
  const stray = Object.keys(expected).find(
    (name) => name.startsWith('$') && (!FORMS.has(name) || Object.keys(expected).length > 1),
  );
  if (stray !== undefined) return stray;
  return formOf(expected) !== null && Object.hasOwn(expected, '$exact')
    ? null
    : firstOf(Object.values(expected));
}

function firstOf(items: readonly JsonValue[]): string | null {
  for (const item of items) {
    const found = unknownForm(item);
    if (found !== null) return found;
  }
  return null;
}

const typeOf = (got: Seen): string => (got === null ? 'null' : isList(got) ? 'list' : typeof got);

const FORMS: ReadonlyMap<string, Form> = new Map<string, Form>([
  [
    '$exact',
    (wanted, got, path) =>
      isDeepStrictEqual(plain(wanted), plain(got))
        ? []
        : differ(path, `exactly ${show(wanted)}`, got),
  ],
  // `$absent: false` is the way to say that something is there, whatever it is.
  [
    '$absent',
    (absent, got, path) =>
      (got === undefined) === absent
        ? []
        : differ(path, absent === true ? 'nothing' : 'something', got),
  ],
  [
    '$any',
    (type, got, path) =>
      got !== undefined && (type === true || typeOf(got) === type)
        ? []
        : differ(path, `any ${show(type)}`, got),
  ],
  [
    '$regex',
    (source, got, path) =>
      typeof got === 'string' && new RegExp(textOf(source), 'us').test(got)
        ? []
        : differ(path, `/${textOf(source)}/`, got),
  ],
  ['$ordered', (wanted, got, path, bindings) => matchOrdered(listOf(wanted), got, path, bindings)],
  [
    '$contains',
    (wanted, got, path, bindings) => matchContains(listOf(wanted), got, path, bindings),
  ],
  [
    '$unordered',
    (wanted, got, path, bindings) => {
      const missing = matchContains(listOf(wanted), got, path, bindings);
      return missing.length === 0 && isList(got) && got.length !== listOf(wanted).length
        ? differ(path, `${listOf(wanted).length} items in any order`, got)
        : missing;
    },
  ],
  [
    '$length',
    (length, got, path) =>
      (isList(got) || typeof got === 'string') && got.length === length
        ? []
        : differ(path, `length ${show(length)}`, got),
  ],
  [
    '$count',
    (wanted, got, path) => {
      const { of = null, is = null } = isRecord(wanted) ? wanted : {};
      const count = isList(got)
        ? got.filter((item) => mismatches(of, item, path, new Map()).length === 0).length
        : -1;
      return count === is
        ? []
        : [
            {
              path,
              expected: `${show(is)} × ${show(of)}`,
              got: isList(got) ? `${count} of ${got.length}` : show(got),
            },
          ];
    },
  ],
  [
    '$not',
    (unwanted, got, path) =>
      mismatches(unwanted, got, path, new Map()).length > 0
        ? []
        : differ(path, `anything but ${show(unwanted)}`, got),
  ],
  [
    '$oneOf',
    (wanted, got, path, bindings) =>
      listOf(wanted).some((item) => fits(item, got, bindings))
        ? []
        : differ(path, `one of ${show(wanted)}`, got),
  ],
  [
    '$atLeast',
    (least, got, path) =>
      typeof got === 'number' && got >= Number(least)
        ? []
        : differ(path, `at least ${show(least)}`, got),
  ],
  [
    '$atMost',
    (most, got, path) =>
      typeof got === 'number' && got <= Number(most)
        ? []
        : differ(path, `at most ${show(most)}`, got),
  ],
  ['$same', (name, got, path, bindings) => matchSame(textOf(name), got, path, bindings)],
  [
    '$differs',
    (name, got, path, bindings) => {
      const other = bindings.get(textOf(name));
      return got !== undefined &&
        other !== undefined &&
        !isDeepStrictEqual(plain(other), plain(got))
        ? []
        : differ(path, `anything but the value of "${textOf(name)}"`, got);
    },
  ],
]);

/** The first one seen under a name is kept, every other one must be equal to it. */
function matchSame(name: string, got: Seen, path: string, bindings: Bindings): readonly Mismatch[] {
  if (got === undefined) return differ(path, `the value of "${name}"`, got);
  const other = bindings.get(name);
  if (other === undefined) bindings.set(name, got);
  return other === undefined || isDeepStrictEqual(plain(other), plain(got))
    ? []
    : differ(path, `the value of "${name}": ${show(other)}`, got);
}

/** Whether it matches. What a try that fails has seen under a name is forgotten. */
function fits(expected: JsonValue, got: Seen, bindings: Bindings): boolean {
  const tried = new Map(bindings);
  if (mismatches(expected, got, '', tried).length > 0) return false;
  for (const [name, value] of tried) bindings.set(name, value);
  return true;
}

/** Each is there, one after the other, with anything between them. */
function matchOrdered(
  wanted: readonly JsonValue[],
  got: Seen,
  path: string,
  bindings: Bindings,
): readonly Mismatch[] {
  if (!isList(got)) return differ(path, 'a list', got);
  let at = 0;
  for (const item of wanted) {
    const found = got.findIndex((seen, index) => index >= at && fits(item, seen, bindings));
    if (found === -1) return differ(path, `in this order, at ${at} or later: ${show(item)}`, got);
    at = found + 1;
  }
  return [];
}

/** Each is there, and each is another item. */
function matchContains(
  wanted: readonly JsonValue[],
  got: Seen,
  path: string,
  bindings: Bindings,
): readonly Mismatch[] {
  if (!isList(got)) return differ(path, 'a list', got);
  const left = [...got];
  return wanted.flatMap((item) => {
    const found = left.findIndex((seen) => fits(item, seen, bindings));
    if (found === -1) return differ(path, `among others: ${show(item)}`, left);
    left.splice(found, 1);
    return [];
  });
}

const differ = (path: string, expected: string, got: Seen): readonly Mismatch[] => [
  { path, expected, got: show(got) },
];
const listOf = (value: JsonValue): readonly JsonValue[] => (isList(value) ? value : [value]);

/** YAML and JSON give objects of different prototypes for the same text. */
const plain = (value: Seen): unknown =>
  value === undefined ? undefined : JSON.parse(JSON.stringify(value));

const MAX_SHOWN = 400;

/** A value as it is shown in a report. */
function show(value: Seen): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > MAX_SHOWN
    ? `${text.slice(0, MAX_SHOWN)}… (${text.length} characters)`
    : text;
}
