/** The character codes of a text as an array: reading them one by one from the text takes three times as long. */

const INITIAL = 65_536;
let bytes = Buffer.alloc(INITIAL * 2);
let codes = new Uint16Array(bytes.buffer, bytes.byteOffset, INITIAL);
/** The text that is laid out, which several detectors look at one after another. */
let laidOut = '';

/** Good until the next call: all texts share one array. What stands after the end of the text is left from another. */
export function codesOf(text: string): Uint16Array {
  if (text === laidOut) return codes;
  if (text.length > codes.length) {
    bytes = Buffer.alloc(text.length * 2);
    codes = new Uint16Array(bytes.buffer, bytes.byteOffset, text.length);
  }
  bytes.write(text, 'utf16le');
  laidOut = text;
  return codes;
}
