/** What a tool's definition is, to the byte. */

import type { JsonValue } from '../core/json/json-value.ts';
import { hashCanonical } from '../core/json/hash-canonical.ts';
import { isObject, isSnapshot, snapshotObject } from '../core/json/json.ts';
import type { ToolSpec } from '../core/contract/layer.ts';
import { specOf } from '../tools/own-definition.ts';

/** Hashes of definitions that cannot change any more. */
const known = new WeakMap<object, string>();

/**
 * The hash of a definition: name, description, input and output schema, annotations, as canonical
 * JSON, so that the order of members makes no difference. Give it what `ownDefinition` or
 * `definitionOf` answers, not what the model was shown. Throws `ERR_NOT_JSON` for a definition that
 * has no canonical form, such as one with half a surrogate pair.
 */
export function hashDefinition(tool: ToolSpec): string {
  const before = known.get(tool);
  if (before !== undefined) return before;
  const hash = hashCanonical(pinnable(tool));
  if (isSnapshot(tool)) known.set(tool, hash);
  return hash;
}

/** The five parts and nothing else, frozen in depth. */
export function pinnable(tool: ToolSpec): ToolSpec {
  if (isSnapshot(tool) && Object.keys(tool).every((key) => PARTS.includes(key))) return tool;
  // A copy has the shape of what was copied.
  return snapshotObject({ ...specOf(tool) }) as unknown as ToolSpec;
}

/** The members of a definition that are hashed, and compared. */
export const PARTS: readonly string[] = [
  'name',
  'description',
  'inputSchema',
  'outputSchema',
  'annotations',
] satisfies (keyof ToolSpec)[];

const MAX_CHANGES = 50;
const MAX_VALUE = 160;
const MAX_NAME = 64;
/** How much of what both have in common is shown before the place where they part. */
const LEAD = 24;

/**
 * One line for each part that differs, such as `inputSchema.properties.path.type: "string" →
 * "array"`, at most fifty; the last one then says that there are more. Values are JSON, shortened
 * to the place where they differ, and every character that cannot be seen or that a terminal would
 * act upon is written `\u{…}`.
 */
export function definitionChanges(before: ToolSpec, after: ToolSpec): readonly string[] {
  const lines: string[] = [];
  // What was copied is JSON.
  compare(
    pinnable(before) as unknown as JsonValue,
    pinnable(after) as unknown as JsonValue,
    '',
    lines,
  );
  return Object.freeze(
    lines.length > MAX_CHANGES ? [...lines.slice(0, MAX_CHANGES), '… and more'] : lines,
  );
}

function compare(
  before: JsonValue | undefined,
  after: JsonValue | undefined,
  path: string,
  lines: string[],
): void {
  if (before === after || lines.length > MAX_CHANGES) return;
  if (Array.isArray(before) && Array.isArray(after)) {
    for (let index = 0; index < Math.max(before.length, after.length); index += 1)
      compare(
        before[index] as JsonValue | undefined,
        after[index] as JsonValue | undefined,
        `${path}[${index}]`,
        lines,
      );
  } else if (isObject(before) && isObject(after)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)]))
      compare(
        memberOf(before, name),
        memberOf(after, name),
        path === '' ? shownName(name) : `${path}.${shownName(name)}`,
        lines,
      );
  } else lines.push(`${path}: ${changeOf(before, after)}`);
}

const memberOf = (
  value: Readonly<Record<string, JsonValue>>,
  name: string,
): JsonValue | undefined => (Object.hasOwn(value, name) ? value[name] : undefined);

function changeOf(before: JsonValue | undefined, after: JsonValue | undefined): string {
  const [old, now] = [textOf(before), textOf(after)];
  const same = commonStart(old, now);
  return `${excerpt(old, same)} → ${excerpt(now, same)}${codePoints(old, now, same)}`;
}

const textOf = (value: JsonValue | undefined): string =>
  value === undefined ? '(nothing)' : JSON.stringify(value);

function commonStart(a: string, b: string): number {
  let index = 0;
  while (index < a.length && index < b.length && a[index] === b[index]) index += 1;
  return index;
}

/**
 * A text added at the end of a long one must be seen, so a cut is made around the place where both
 * part.
 */
function excerpt(text: string, same: number): string {
  const from =
    text.length <= MAX_VALUE ? 0 : Math.max(0, Math.min(same - LEAD, text.length - MAX_VALUE));
  const part = text.slice(from, from + MAX_VALUE);
  const left = text.length - from - part.length;
  return `${from > 0 ? '…' : ''}${visible(part)}${left > 0 ? `… [${left.toLocaleString('en')} more characters]` : ''}`;
}

/** Letters of other scripts can look the same. */
function codePoints(a: string, b: string, at: number): string {
  const [one, other] = [a, b].map((text) => text.codePointAt(at) ?? 0x20);
  if (one === undefined || other === undefined || (one < 0x80 && other < 0x80)) return '';
  return ` (U+${hex(one)} → U+${hex(other)})`;
}

const hex = (code: number): string => code.toString(16).toUpperCase().padStart(4, '0');

/**
 * Control, format and unassigned characters, separators, what has no width, odd spaces, and marks
 * that go over any letter.
 */
const HIDDEN =
  /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}|(?=\p{Script=Inherited})\p{M}/gu;

/** Text from outside as one line in which nothing is hidden and nothing acts. */
const visible = (text: string): string =>
  text.replace(HIDDEN, (found) => `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}`);

const shownName = (name: string): string =>
  visible(name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name);
