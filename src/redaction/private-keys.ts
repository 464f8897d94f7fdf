/** Private keys in PEM and its relatives, whole or cut off. */

import type { Lead, Look } from './credentials.ts';
import type { Emit } from './detector.ts';
import { A_LOOK, A_WORD, type Reading, spend } from './reading.ts';

const HEADER =
  /-{4,5} ?BEGIN [A-Za-z0-9 ]{0,40}(?:PRIVATE KEY|SECRET KEY|Static key V1)(?: BLOCK)? ?-{4,5}/y;
const FOOTER =
  /-{4,5} ?END [A-Za-z0-9 ]{0,40}(?:PRIVATE KEY|SECRET KEY|Static key V1)(?: BLOCK)? ?-{4,5}/y;
/**
 * What stands in a key, written into a text, a program or a diff: no braces, brackets or other
 * signs of a program.
 */
const BODY = /(?:[A-Za-z0-9+/=\s\\:,."'|>*#_]|-(?!---))*/y;
/**
 * What a header in prose does not have behind it; between header and footer less of it is enough.
 */
const MATERIAL = /[A-Za-z0-9+/=]{32}/;
const SOME_MATERIAL = /[A-Za-z0-9+/=]{12}/;
const END = /-{4,5} ?END /g;

/** How a header begins. */
export const KEY_HEADERS: readonly string[] = Object.freeze(['-----BEGIN', '---- BEGIN']);
const [BEGIN, DASHES] = ['BEGIN', 5];

/** Where the last header in a stretch of a text begins; `-1` where there is none. */
export function lastHeader(stretch: string): number {
  for (let at = stretch.lastIndexOf(BEGIN); at >= DASHES; at = stretch.lastIndexOf(BEGIN, at - 1)) {
    if (KEY_HEADERS.includes(stretch.slice(at - DASHES, at + BEGIN.length))) return at - DASHES;
  }
  return -1;
}

/**
 * Looks at the header that begins here. By hand, because one expression from header to footer reads
 * the rest of the text again for every header that has none. A header without a key behind it is a
 * mention of one and stays.
 */
export function privateKey(reading: Reading, start: number, _end: number, emit: Emit): void {
  const { text, effort } = reading;
  if (start < reading.keys) return;
  spend(effort, start, A_WORD);
  HEADER.lastIndex = start;
  if (!HEADER.test(text)) return;
  spend(effort, start, A_LOOK);
  const from = HEADER.lastIndex;
  if (reading.footer < from) {
    END.lastIndex = from;
    reading.footer = END.exec(text)?.index ?? Infinity;
  }
  BODY.lastIndex = from;
  BODY.test(text);
  const isWhole = BODY.lastIndex === reading.footer;
  const material = text.slice(from, isWhole ? reading.footer : BODY.lastIndex);
  reading.keys = from + material.length;
  if (!(isWhole ? SOME_MATERIAL : MATERIAL).test(material)) return;
  FOOTER.lastIndex = reading.keys;
  reading.keys = isWhole && FOOTER.test(text) ? FOOTER.lastIndex : from + lastMaterial(material);
  emit(start, reading.keys, 'private-key');
}

/** The end of the last line of a key that was cut off, so that prose after it stays. */
function lastMaterial(material: string): number {
  let last = 0;
  for (const { 0: run, index } of material.matchAll(/[A-Za-z0-9+/=]{16,}/g))
    last = index + run.length;
  return last;
}

const PPK = /\d{1,3}\r?\n((?:[A-Za-z0-9+/=]{1,64}\r?\n?){1,60})/y;
const puttyKey: Look = ({ text, effort }, start, end, emit) => {
  spend(effort, start, A_LOOK);
  PPK.lastIndex = end;
  const [whole = '', body = ''] = PPK.exec(text) ?? [];
  if (body !== '') emit(end + whole.length - body.length, end + whole.length, 'private-key');
};

const RSA_VALUE =
  /[^<]{0,2000}(?:<(?:Modulus|Exponent)>[^<]{1,2000}<\/(?:Modulus|Exponent)>\s{0,4}){0,2}((?:<(?:P|Q|DP|DQ|InverseQ|D)>[^<]{1,2000}<\/(?:P|Q|DP|DQ|InverseQ|D)>\s{0,4}){1,6})/y;
const xmlKey: Look = ({ text, effort }, start, end, emit) => {
  spend(effort, start, A_LOOK);
  RSA_VALUE.lastIndex = end;
  const [whole = '', body = ''] = RSA_VALUE.exec(text) ?? [];
  if (body !== '') emit(end + whole.length - body.length, end + whole.length, 'private-key');
};

const JWK = /\s{0,3}"([\w-]{40,700})"/y;
/** The private part of a key in JSON, told by the members around it. */
const jsonWebKey: Look = ({ text, effort }, start, end, emit) => {
  spend(effort, start, A_WORD);
  JWK.lastIndex = end;
  const [whole = '', secret = ''] = JWK.exec(text) ?? [];
  if (secret === '') return;
  spend(effort, start, A_LOOK);
  if (
    !/"kty"|"crv"|"n"\s{0,3}:/.test(text.slice(Math.max(0, start - 800), end + whole.length + 200))
  )
    return;
  emit(end + whole.length - 1 - secret.length, end + whole.length - 1, 'private-key');
};

/** Keys in other forms than PEM, by the words before them. */
export const KEY_LEADS: readonly Lead[] = Object.freeze([
  { word: 'Private-Lines: ', anyCase: false, look: puttyKey },
  { word: '<RSAKeyValue>', anyCase: false, look: xmlKey },
  ...['"d"', '"k"', '"p"', '"q"', '"dp"', '"dq"', '"qi"'].flatMap((name) =>
    [':', ' :'].map((colon) => ({ word: name + colon, anyCase: false, look: jsonWebKey })),
  ),
]);
