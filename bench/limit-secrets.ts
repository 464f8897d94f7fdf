/**
 * The limit's own scan for secrets. `mayBegin` is asked for every character that goes through, with
 * what the last three were; nearly always one look into a table is all. Only where something may
 * begin a text is taken apart.
 */

import { FAMILIES } from './limit-families.ts';

/** What is found by more than a prefix: the secret is the group, or else the whole match. */
const SHAPES: readonly (readonly [label: string, begin: string, shape: RegExp])[] = [
  ['jwt', 'eyJ', /eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+/y],
  ['aws', 'AKIA', /AKIA[A-Z0-9]{16}(?![A-Za-z0-9])/y],
  ['aws', 'ASIA', /ASIA[A-Z0-9]{16}(?![A-Za-z0-9])/y],
  ['sendgrid', 'SG.', /SG\.[\w-]{16,}\.[\w-]{16,}/y],
  ['authorization', 'Bearer ', /Bearer ([\w.~+/-]{16,}=*)/y],
  ['authorization', 'Basic ', /Basic ([\w.~+/-]{16,}=*)/y],
  ['url-password', '://', /:\/\/[^\s:/@]{1,64}:([^\s:/@]{1,256})@/y],
  ['password', 'password=', /password=([^\s&,;"']{6,256})/y],
  [
    'private-key',
    '-----BEGIN ',
    /-----BEGIN [A-Z ]{0,40}KEY-----[\s\S]+?-----END [A-Z ]{0,40}KEY-----/y,
  ],
];

/** What follows a prefix of the table: letters and digits mixed. */
const BODY = /(?=[\w.+/~-]*[0-9])(?=[\w.+/~-]*[A-Za-z])[\w.+/~-]{16,}=*/y;

/** Names of members that say what their text is. */
const TELLING = /^(?:password|passwd|passphrase)$/i;
export const isTelling = (name: string): boolean => TELLING.test(name);

interface Beginning {
  readonly begin: string;
  readonly label: string;
  readonly shape: RegExp | null;
}

/** Fifteen bits of the last three characters, where a beginning may stand. */
const STARTS = new Uint8Array(1 << 15);
const BEGINNINGS = new Map<number, Beginning[]>();

/** What was seen of the characters so far, with one more. */
export const seenWith = (seen: number, code: number): number =>
  ((seen << 5) | (code & 31)) & 0x7fff;

/** Whether the last three characters can be the first three of a secret. */
export const mayBegin = (seen: number): boolean => STARTS[seen] === 1;

function enter(beginning: Beginning): void {
  const { begin } = beginning;
  let seen = 0;
  for (let index = 0; index < 3; index += 1) seen = seenWith(seen, begin.charCodeAt(index));
  STARTS[seen] = 1;
  const others = BEGINNINGS.get(seen) ?? [];
  // The longest first: `sk-ant-` is not one of `sk-`.
  BEGINNINGS.set(
    seen,
    [...others, beginning].sort((a, b) => b.begin.length - a.begin.length),
  );
}

for (const [label, begin, shape] of SHAPES) enter({ begin, label, shape });
for (const row of FAMILIES.split(';')) {
  const [label = '', ...prefixes] = row.trim().split(/\s+/);
  for (const begin of prefixes) enter({ begin, label, shape: null });
}

/** What begins at a place of a text, `null` for nothing. `seen` are the three characters there. */
export function beginningAt(text: string, at: number, seen: number): Beginning | null {
  if (at < 0) return null;
  for (const beginning of BEGINNINGS.get(seen) ?? [])
    if (text.startsWith(beginning.begin, at)) return beginning;
  return null;
}

/** What was found, counted by label, and where. */
export interface Found {
  readonly labels: Record<string, number>;
  readonly paths: string[];
}

const marker = (label: string): string => `[redacted:${label}]`;

/** A text with every secret replaced. */
export function cleanText(text: string, found: Found): string {
  let clean = '';
  let kept = 0;
  let seen = 0;
  for (let index = 0; index < text.length; index += 1) {
    seen = seenWith(seen, text.charCodeAt(index));
    if (!mayBegin(seen) || index - 2 < kept) continue;
    const secret = secretAt(text, index - 2, seen);
    if (secret === null) continue;
    found.labels[secret.label] = (found.labels[secret.label] ?? 0) + 1;
    clean += text.slice(kept, secret.start) + marker(secret.label);
    kept = secret.end;
  }
  return kept === 0 ? text : clean + text.slice(kept);
}

function secretAt(
  text: string,
  at: number,
  seen: number,
): { readonly label: string; readonly start: number; readonly end: number } | null {
  const beginning = beginningAt(text, at, seen);
  if (beginning === null) return null;
  const { begin, label, shape } = beginning;
  const form = shape ?? BODY;
  form.lastIndex = shape === null ? at + begin.length : at;
  const match = form.exec(text);
  if (match === null) return null;
  const end = form.lastIndex;
  const [, secret] = match;
  if (secret === undefined) return { label, start: at, end };
  const start = text.indexOf(secret, at + begin.length);
  return { label, start, end: start + secret.length };
}

/** A JSON value with every secret replaced; the same one where there is none. */
export function cleanValue(value: unknown, path: string, name: string, found: Found): unknown {
  if (typeof value === 'string') return cleanMember(value, path, name, found);
  if (typeof value !== 'object' || value === null) return value;
  let isSame = true;
  const clean = (item: unknown, at: string, member: string): unknown => {
    const cleaned = cleanValue(item, at, member, found);
    if (cleaned !== item) isSame = false;
    return cleaned;
  };
  const copy = Array.isArray(value)
    ? value.map((item: unknown, index) => clean(item, `${path}[${index}]`, ''))
    : Object.fromEntries(
        Object.entries(value).map(([member, item]) => [
          member,
          clean(item, path === '' ? member : `${path}.${member}`, member),
        ]),
      );
  return isSame ? value : copy;
}

function cleanMember(text: string, path: string, name: string, found: Found): string {
  const isNamed = isTelling(name) && text.length >= 6;
  const clean = isNamed ? marker('password') : cleanText(text, found);
  if (isNamed) found.labels.password = (found.labels.password ?? 0) + 1;
  if (clean !== text) found.paths.push(path);
  return clean;
}
