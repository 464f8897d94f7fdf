/**
 * The formats that are checked, each in time linear in the text. A format that is not here is
 * annotation.
 */

import { fullFormats } from 'ajv-formats/dist/formats.js';

const MAX_REGEX_LENGTH = 10_000;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Those of ajv-formats that cannot be used as they are. */
const REPLACED = {
  /**
   * Takes quadratic time there. Here any web address that parses, a host in a private network among
   * them.
   */
  url: (text: string) =>
    /^(?:https?|ftp):\/\//i.test(text) && !/\s/.test(text) && URL.canParse(text),
  /** Accepts there any text with one good line. */
  byte: (text: string) => BASE64.test(text),
  /** Reads there a text of any length and nesting. */
  regex: (text: string) => text.length <= MAX_REGEX_LENGTH && isRegExp(text),
};

function isRegExp(text: string): boolean {
  try {
    new RegExp(text, 'u');
    return true;
  } catch {
    return false;
  }
}

/**
 * Every known format by name. A `Map`, because a schema may ask for a format called `constructor`.
 */
export const FORMATS = new Map(Object.entries({ ...fullFormats, ...REPLACED }));
