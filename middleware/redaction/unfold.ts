/** Takes the disguises off a text, and remembers where each character came from. */

/** A text to look at instead of another one. `origin[i]` is where character `i` begins there; the last entry is its end. */
export interface View {
  readonly text: string;
  readonly origin: Uint32Array;
}

const ESCAPE =
  /%[0-9a-f]{2}|\\u[0-9a-f]{4}|\\x[0-9a-f]{2}|\\["'`\\/nrtbf]|&#x[0-9a-f]{1,6};|&#[0-9]{1,7};|&(?:amp|quot|lt|gt|apos);|[\u00ad\u034f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff\uff01-\uff5e]|\udb40[\udc00-\udfff]|\ud835[\udc00-\udfff]/gi;
const UNUSUAL = /[\u00ad\u034f\u180e-\uffff]/;

/** A cheap look: `false` only where there is nothing to unfold. Only ASCII has as many bytes as characters, and counting is cheap. */
export const isFolded = (text: string): boolean =>
  text.includes('\\') || text.includes('%') || text.includes('&') || (Buffer.byteLength(text) !== text.length && UNUSUAL.test(text));

/**
 * Percent-encoding, `\u`, `\x` and JSON escapes, character references, look-alike letters of other blocks; characters that
 * nobody sees are left out. One layer of each; `null` where nothing changed.
 */
export function unfold(text: string): View | null {
  const parts: string[] = [];
  const origins: number[] = [];
  let last = 0;
  ESCAPE.lastIndex = 0;
  for (let match = ESCAPE.exec(text); match !== null; match = ESCAPE.exec(text)) {
    const plain = decoded(match[0]);
    if (plain === null) continue;
    parts.push(text.slice(last, match.index), plain);
    origins.push(match.index, plain.length);
    last = ESCAPE.lastIndex;
  }
  if (parts.length === 0) return null;
  parts.push(text.slice(last));
  return { text: parts.join(''), origin: originOf(parts, origins, text.length) };
}

/** `parts` alternates between what was kept and what was decoded. */
function originOf(parts: readonly string[], decodedAt: readonly number[], end: number): Uint32Array {
  const origin = new Uint32Array(parts.reduce((sum, part) => sum + part.length, 1));
  let to = 0;
  parts.forEach((part, index) => {
    const isDecoded = index % 2 === 1;
    const next = index + 1 < parts.length ? (decodedAt[index - (index % 2)] ?? 0) : end;
    const first = isDecoded ? next : next - part.length;
    for (let at = 0; at < part.length; at += 1, to += 1) origin[to] = isDecoded ? first : first + at;
  });
  origin[to] = end;
  return origin;
}

const NAMED: ReadonlyMap<string, string> = new Map([
  ['&amp;', '&'],
  ['&quot;', '"'],
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&apos;', "'"],
]);
const SHORT: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['b', '\b'],
  ['f', '\f'],
]);

/** What one escape stands for; `null` where it is best left as it is. */
function decoded(escape: string): string | null {
  const hex = (from: number, to?: number) => Number.parseInt(escape.slice(from, to), 16);
  if (escape.startsWith('%')) return ascii(hex(1));
  if (escape.startsWith('\\')) {
    const kind = escape.charAt(1);
    if (escape.length > 2) return ascii(hex(2));
    return SHORT.get(kind) ?? kind;
  }
  if (escape.startsWith('&#')) return ascii(/^&#x/i.test(escape) ? hex(3, -1) : Number(escape.slice(2, -1)));
  if (escape.startsWith('&')) return NAMED.get(escape.toLowerCase()) ?? null;
  const plain = escape.normalize('NFKC');
  return plain.length === 1 && plain < '\u007f' ? plain : '';
}

/** Secrets are ASCII; an invisible character that was escaped disappears, anything else stays as it is. */
function ascii(code: number): string | null {
  if (code < 0x80) return String.fromCharCode(code);
  if (code > 0xffff) return null;
  return UNUSUAL.test(String.fromCharCode(code)) && /\p{Cf}/u.test(String.fromCharCode(code)) ? '' : null;
}
