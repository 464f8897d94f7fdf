// The library `string`.

import { decodeCodepoint, encodeText } from '../bytes.ts';
import { StarlarkError } from '../errors.ts';
import { builtin, type Module, namespace } from '../values.ts';
import { accountText } from './accounting.ts';
import { named } from './arguments.ts';
import { clamped } from './numbers.ts';
import { chargeWork } from './search.ts';
import { countCodepoints } from './unicode.ts';

const ELLIPSIS = encodeText('…');

const truncateArguments = named('string.truncate', [
  { name: 's', kind: 'string' },
  { name: 'n', kind: 'int' },
  { name: 'ellipsis', kind: 'string', optional: true },
]);

/**
 * `string.truncate(s, n, ellipsis="…")`: the text when it has at most `n` characters, and otherwise as many of them as
 * leave room for the ellipsis: the result never has more than `n`. An ellipsis longer than that is cut itself.
 */
export const string: Module = namespace('string', {
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
