/** Which members differ between two JSON values, by path and never by value. */

import type { JsonValue } from './json-value.ts';
import { oneLine } from '../contract/errors.ts';
import { freezeParsed, isObject } from './json.ts';

const MAX_PATHS = 50;
const MAX_NAME = 64;

/**
 * Paths such as `headers.token` or `items[2]`, at most fifty; the last one then says that there are
 * more. Names come from outside: in a path they are on one line and not longer than sixty-four
 * characters.
 */
export function changedPaths(before: JsonValue, after: JsonValue): readonly string[] {
  const paths: string[] = [];
  compare(before, after, '', paths);
  return freezeParsed(paths.length > MAX_PATHS ? [...paths.slice(0, MAX_PATHS), '…'] : paths);
}

function compare(
  before: JsonValue | undefined,
  after: JsonValue | undefined,
  path: string,
  paths: string[],
): void {
  if (before === after || paths.length > MAX_PATHS) return;
  if (Array.isArray(before) && Array.isArray(after)) {
    for (let index = 0; index < Math.max(before.length, after.length); index += 1) {
      compare(
        before[index] as JsonValue | undefined,
        after[index] as JsonValue | undefined,
        `${path}[${index}]`,
        paths,
      );
    }
  } else if (isObject(before) && isObject(after)) {
    for (const name in before) compareMember(before, after, name, path, paths);
    for (const name in after)
      if (!Object.hasOwn(before, name)) compareMember(before, after, name, path, paths);
  } else paths.push(path);
}

function compareMember(
  before: Members,
  after: Members,
  name: string,
  path: string,
  paths: string[],
): void {
  const was = Object.hasOwn(before, name) ? before[name] : undefined;
  const is = Object.hasOwn(after, name) ? after[name] : undefined;
  // Most members are as they were, and their paths are never written.
  if (was === is) return;
  const shown = oneLine(name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name);
  compare(was, is, path === '' ? shown : `${path}.${shown}`, paths);
}

type Members = Readonly<Record<string, JsonValue>>;
