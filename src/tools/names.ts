/** Tool names: what is refused, and what is only advised against. */

import { AlliumError, oneLine } from '../core/contract/errors.ts';
import { isObject } from '../core/json/json.ts';

/**
 * `portable` names are taken by every provider; `mcp` names are whatever an MCP server may call its
 * tools.
 */
export type NamePolicy = 'portable' | 'mcp';

const RULES: Readonly<Record<NamePolicy, { readonly pattern: RegExp; readonly text: string }>> =
  Object.freeze({
    portable: {
      pattern: /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/,
      text: 'a letter, then up to 63 letters, digits, "_" or "-"',
    },
    mcp: { pattern: /^[A-Za-z0-9_.-]{1,128}$/, text: '1 to 128 letters, digits, "_", "." or "-"' },
  });

/**
 * Gives the name back, or throws `ERR_INVALID_TOOL` saying what a name looks like under this
 * policy.
 */
export function checkToolName(name: unknown, policy: NamePolicy): string {
  const { pattern, text } = RULES[policy];
  if (typeof name === 'string' && pattern.test(name)) return name;
  const got = typeof name === 'string' ? `"${oneLine(name)}"` : kindOf(name);
  throw new AlliumError('ERR_INVALID_TOOL', `a tool's name must be ${text}, got ${got}`, {
    expected: text,
    got,
  });
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  return isObject(value) ? 'an object' : `a ${typeof value}`;
}

const SNAKE_CASE = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;
/** Hosts put `mcp__<server>__` in front before the model sees a name of at most 64 characters. */
const ADVISED_LENGTH = 40;

/**
 * Sentences of advice about the names of one registry; none of it is an error. Looks at every name
 * once, so ten thousand names cost no more than ten thousand looks. Does not know look-alikes
 * outside ASCII: names cannot hold them.
 */
export function nameAdvice(names: readonly string[]): readonly string[] {
  const distinct = [...new Set(names)];
  return Object.freeze([
    ...distinct.flatMap(adviceOnOne),
    ...[...lookAlikes(distinct).values()].flatMap(adviceOnGroup),
  ]);
}

function adviceOnOne(name: string): readonly string[] {
  const advice: string[] = [];
  if (!SNAKE_CASE.test(name)) advice.push(`"${oneLine(name)}" is not snake_case.`);
  if (name.length > ADVISED_LENGTH)
    advice.push(
      `"${oneLine(name)}" has ${name.length} characters; over ${ADVISED_LENGTH} leaves no room for the prefix a host adds.`,
    );
  return advice;
}

function lookAlikes(names: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const name of names) {
    const key = foldName(name);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [name]);
    else group.push(name);
  }
  return groups;
}

/** `I` looks like `l` and is `i` in another case, so all three fold into one. */
export const foldName = (name: string): string =>
  name.toLowerCase().replace(/[-.]/g, '_').replace(/0/g, 'o').replace(/[1i]/g, 'l');

function adviceOnGroup(group: readonly string[]): readonly string[] {
  if (group.length < 2) return [];
  const listed = group.map((name) => `"${oneLine(name)}"`).join(', ');
  const onlyCase = new Set(group.map((name) => name.toLowerCase())).size === 1;
  return [
    `${listed} ${onlyCase ? 'differ only by case' : 'look alike'}; a model will confuse them.`,
  ];
}
