// The library `hash`. It stands in the place of the built-in function of that name where a script asks for it.

import { createHash } from 'node:crypto';
import { type Builtin, builtin, type Module, namespace } from '../values.ts';
import { accountText } from './accounting.ts';
import { positional } from './arguments.ts';
import { chargeWork } from './search.ts';

/** `hash.md5(text)`, `hash.sha1`, `hash.sha256`, `hash.sha512`: lower-case hexadecimal, over the text's bytes. */
export const hashes: Module = namespace('hash', {
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
