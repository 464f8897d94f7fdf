/** JSON in printable ASCII. */

/**
 * JSON on one line in plain ASCII. `JSON.stringify` leaves U+0085, U+2028 and U+2029 as they are,
 * and those end a line for some readers.
 */
export function asciiJson(value: object | string): string {
  const text = JSON.stringify(value);
  return isPrintable(text) ? text : text.replace(/[^\x20-\x7e]/g, escaped);
}

/** JSON has no control characters but DEL, and only ASCII has as many bytes as characters. */
const isPrintable = (json: string): boolean =>
  Buffer.byteLength(json) === json.length && !json.includes('\x7f');

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
