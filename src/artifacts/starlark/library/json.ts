// The library `json`.

import { builtin, type Module, namespace } from '../values.ts';
import { named, positional } from './arguments.ts';
import { decodeJson } from './json-decode.ts';
import { encodeJson } from './json-encode.ts';
import { indentJson } from './json-indent.ts';
import { within } from './numbers.ts';

const encodeArguments = positional('json.encode', ['any']);
const decodeArguments = positional('json.decode', ['string']);
const indentText = positional('json.indent', ['string']);
const indentStyle = named('json.indent', [
  { name: 'prefix', kind: 'string', optional: true },
  { name: 'indent', kind: 'string', optional: true },
]);

/** `json.encode(x)`, `json.decode(text)`, `json.indent(text, prefix="", indent="\t")`. */
export const json: Module = namespace('json', {
  encode: builtin('json.encode', (thread, args, kwargs) => {
    const [value] = encodeArguments(args, kwargs);
    return within('json.encode', () => encodeJson(thread, value));
  }),
  decode: builtin('json.decode', (thread, args, kwargs) => {
    const [text] = decodeArguments(args, kwargs);
    return decodeJson(thread, text);
  }),
  indent: builtin('json.indent', (thread, args, kwargs) => {
    const [prefix = '', indent = '\t'] = indentStyle([], kwargs);
    const [text] = indentText(args, null);
    return within('json.indent', () => indentJson(thread, text, { prefix, indent }));
  }),
});
