/** Cuts text by its size in bytes. */

/**
 * The longest beginning of a text that fits in a number of bytes of UTF-8. Cuts between characters,
 * never inside one; half a surrogate pair counts, and comes out, as the replacement character, the
 * way it is written to a file.
 */
export function cutUtf8(text: string, maxBytes: number): string {
  // No character is shorter in bytes than in UTF-16 units, so what lies behind cannot fit. Half a
  // pair, cut apart here, does not either.
  const bytes = Buffer.from(text.slice(0, maxBytes));
  if (bytes.length <= maxBytes) return bytes.toString();
  return bytes.subarray(0, borderBefore(bytes, maxBytes)).toString();
}

/** The nearest border between two characters at or before a position in bytes of UTF-8. */
export function borderBefore(bytes: Uint8Array, position: number): number {
  let border = Math.min(Math.max(0, position), bytes.length);
  while (border > 0 && border < bytes.length && isInside(bytes[border])) border -= 1;
  return border;
}

/** A byte that goes on with a character instead of beginning one. */
const isInside = (byte: number | undefined): boolean => ((byte ?? 0) & 0xc0) === 0x80;
