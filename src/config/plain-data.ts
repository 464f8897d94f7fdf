/** Walks data that may hold things a program put there. */

import { isObject } from '../core/json/json.ts';
import type { DataPath } from './problem.ts';

/** Objects of classes, and whatever else a program puts there, are values as they stand. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** What a replacement answers to leave a value and look inside. */
export const GO_ON: unique symbol = Symbol('go on');

/**
 * Replaces values at any depth. What holds nothing that was replaced stays the same object: a store
 * must stay itself.
 */
export function mapData(
  value: unknown,
  path: DataPath,
  replace: (value: unknown, path: DataPath) => unknown,
): unknown {
  const replaced = replace(value, path);
  if (replaced !== GO_ON) return replaced;
  if (Array.isArray(value)) {
    const items = Array.from<unknown>(value).map((item, index) =>
      mapData(item, [...path, index], replace),
    );
    return items.every((item, index) => Object.is(item, value[index])) ? value : items;
  }
  if (!isPlain(value)) return value;
  const members = Object.keys(value).map(
    (key) => [key, mapData(value[key], [...path, key], replace)] as const,
  );
  return members.every(([key, member]) => Object.is(member, value[key]))
    ? value
    : Object.fromEntries(members);
}
