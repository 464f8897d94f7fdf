// The library `json`.

import { builtin, Dict, Float, Module, namespace, type Value } from '../values.ts';
import { named, positional } from './arguments.ts';
import { decodeJson } from './json-decode.ts';
import { indentJson } from './json-indent.ts';
import { prefixed, within } from './numbers.ts';
import { StarlarkError } from '../errors.ts';
import { iterate } from '../iterate.ts';
import { repr } from '../repr.ts';
import type { Thread } from '../thread.ts';
import { joined } from './accounting.ts';
import { floatText, shortestText } from './float-text.ts';
import { MAX_DEPTH, quoteJson } from './json-text.ts';
import { typeName } from '../kinds.ts';

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

/**
 * The JSON of a value. An integral float has no point, as the reference writes it; a float that is
 * no number is refused.
 */
function encodeJson(thread: Thread, value: Value): string {
  const parts: string[] = [];
  new Encoder(thread, parts).write(value, 0);
  return joined(thread, parts);
}

class Encoder {
  readonly thread: Thread;
  readonly parts: string[];

  constructor(thread: Thread, parts: string[]) {
    this.thread = thread;
    this.parts = parts;
  }

  write(value: Value, depth: number): void {
    if (depth > MAX_DEPTH) throw new StarlarkError('value is nested too deeply to be encoded');
    this.thread.step();
    if (value instanceof Dict)
      this.writeObject(entriesOf(value), depth, (key) => `in dict key ${repr(this.thread, key)}`);
    else if (value instanceof Module)
      this.writeObject([...value.members], depth, (key) => `in field .${key}`);
    else if (!this.writeItems(value, depth)) this.add(this.scalar(value));
  }

  private add(part: string): void {
    this.thread.account(part.length);
    this.parts.push(part);
  }

  private writeObject(
    entries: [key: string, value: Value][],
    depth: number,
    place: (key: string) => string,
  ): void {
    this.thread.step(Math.ceil(entries.length / 4));
    this.add('{');
    let separator = '';
    for (const [key, value] of entries.sort(([a], [b]) => (a < b ? -1 : 1))) {
      this.add(`${separator}${this.quoted(key)}:`);
      this.writeInside(value, depth, () => place(key));
      separator = ',';
    }
    this.add('}');
  }

  /** Whether the value is a sequence, which is then written. */
  private writeItems(value: Value, depth: number): boolean {
    const iterator = iterate(value);
    if (iterator === undefined) return false;
    try {
      this.add('[');
      let index = 0;
      for (let item = iterator.next(); item !== undefined; item = iterator.next()) {
        if (index > 0) this.add(',');
        const place = index++;
        this.writeInside(item, depth, () => `at ${typeName(value)} index ${place}`);
      }
      this.add(']');
      return true;
    } finally {
      iterator.done();
    }
  }

  private writeInside(value: Value, depth: number, place: () => string): void {
    try {
      this.write(value, depth + 1);
    } catch (error) {
      throw prefixed(place(), error);
    }
  }

  private scalar(value: Value): string {
    if (value === null) return 'null';
    if (typeof value === 'string') return this.quoted(value);
    if (typeof value === 'boolean') return String(value);
    if (typeof value === 'number' || typeof value === 'bigint') return repr(this.thread, value);
    if (!(value instanceof Float))
      throw new StarlarkError(`cannot encode ${typeName(value)} as JSON`);
    if (Number.isFinite(value.value)) return shortestText(value.value);
    throw new StarlarkError(`cannot encode non-finite float ${floatText(value.value)}`);
  }

  /** Six bytes for one is the most that an escape makes of it. */
  private quoted(text: string): string {
    this.thread.account(text.length * 6);
    return quoteJson(text);
  }
}

function entriesOf(dict: Dict): [key: string, value: Value][] {
  return [...dict.map].map(([key, value]) => {
    if (typeof key === 'string' && dict.original(key) === key) return [key, value];
    throw new StarlarkError(`dict has ${typeName(dict.original(key))} key, want string`);
  });
}
