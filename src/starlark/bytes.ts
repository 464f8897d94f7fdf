// Byte strings: one char per UTF-8 byte, and the way in and out of them.

/** What stands for bytes that are not UTF-8. */
export const REPLACEMENT = 0xfffd;

// biome-ignore lint: NUL to DEL is what ASCII is.
const ASCII = /^[\u0000-\u007f]*$/;
const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Text as a byte string. A lone surrogate becomes U+FFFD. */
export function encodeText(text: string): string {
  return ASCII.test(text) ? text : latin1(encoder.encode(text));
}

/**
 * A byte string as text. What is not UTF-8 becomes U+FFFD; what is no byte string is text already.
 */
export function decodeText(bytes: string): string {
  return ASCII.test(bytes) || /[^\u0000-\u00ff]/.test(bytes)
    ? bytes
    : decoder.decode(toBytes(bytes));
}

/** Whether every byte is below 128. */
export function isAscii(bytes: string): boolean {
  return ASCII.test(bytes);
}

/** The bytes of a byte string. */
function toBytes(bytes: string): Uint8Array {
  return Uint8Array.from({ length: bytes.length }, (_, index) => bytes.charCodeAt(index));
}

const CHUNK = 8192;

/** Bytes as a byte string. */
function latin1(bytes: Uint8Array): string {
  let text = '';
  for (let start = 0; start < bytes.length; start += CHUNK)
    text += String.fromCharCode(...bytes.subarray(start, start + CHUNK));
  return text;
}

/** The UTF-8 of one code point as a byte string; what is not a code point becomes U+FFFD. */
export function encodeCodepoint(codepoint: number): string {
  const valid =
    codepoint >= 0 && codepoint <= 0x10ffff && !(codepoint >= 0xd800 && codepoint <= 0xdfff);
  return encodeText(String.fromCodePoint(valid ? codepoint : REPLACEMENT));
}

/** Lead byte ranges, smallest code point of the length, and the number of bytes. */
const LENGTHS = [
  { below: 0xe0, from: 0xc2, smallest: 0x80, size: 2, mask: 0x1f },
  { below: 0xf0, from: 0xe0, smallest: 0x800, size: 3, mask: 0x0f },
  { below: 0xf5, from: 0xf0, smallest: 0x10000, size: 4, mask: 0x07 },
];

/**
 * The code point at an index and its number of bytes; U+FFFD and 1 where the bytes are not UTF-8.
 */
export function decodeCodepoint(
  bytes: string,
  index: number,
): readonly [codepoint: number, size: number] {
  const lead = bytes.charCodeAt(index);
  if (lead < 0x80) return [lead, 1];
  const form = LENGTHS.find(({ from, below }) => lead >= from && lead < below);
  if (form === undefined) return [REPLACEMENT, 1];
  let codepoint = lead & form.mask;
  for (let offset = 1; offset < form.size; offset++) {
    const next = bytes.charCodeAt(index + offset);
    if (!((next & 0xc0) === 0x80)) return [REPLACEMENT, 1];
    codepoint = (codepoint << 6) | (next & 0x3f);
  }
  const surrogate = codepoint >= 0xd800 && codepoint <= 0xdfff;
  return codepoint < form.smallest || codepoint > 0x10ffff || surrogate
    ? [REPLACEMENT, 1]
    : [codepoint, form.size];
}
