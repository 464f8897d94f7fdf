// The libraries that scripts may ask for by name: pure, so they live beside the program.

import { createHash } from 'node:crypto';
import { builtin, type Builtin, type Module, namespace } from '../values.ts';
import { json } from './json.ts';
import { re } from './re.ts';
import { decodeCodepoint, encodeText } from '../bytes.ts';
import { StarlarkError } from '../errors.ts';
import { accountText } from './accounting.ts';
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

/** By the name that a script knows them by. `time` is not here: its clock is the host's. */
export const libraries: ReadonlyMap<string, Module> = new Map(
  [json, re, string, hashes].map((library) => [library.name, library]),
);
