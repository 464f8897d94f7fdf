/** Names an argument in a policy: as it is, or by a JSON Pointer (RFC 6901) where it lies deeper. */

import { isObject, type JsonObject, type JsonValue } from '../core/json.ts';

/** The member names on the way to an argument, or `null` for what names none. A name that begins with a slash needs the pointer form. */
export function stepsOf(name: string): readonly string[] | null {
  if (!name.startsWith('/')) return name === '' ? null : [name];
  const steps = name.slice(1).split('/');
  if (steps.some((step) => /~(?![01])/.test(step))) return null;
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The one spelling of a way: the plain name where it can be used, the pointer otherwise. */
export function argumentName(steps: readonly string[]): string {
  const [first = ''] = steps;
  if (steps.length === 1 && first !== '' && !first.startsWith('/')) return first;
  return steps.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

const INDEX = /^(?:0|[1-9]\d*)$/;

/** What stands there, or `undefined` where nothing does. Only own members count: every object has a `constructor`. */
export function valueAt(args: JsonObject, steps: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = args;
  for (const step of steps) {
    // `isArray` does not tell what a list of JSON holds.
    if (Array.isArray(value))
      value = INDEX.test(step) ? (value as readonly JsonValue[])[Number(step)] : undefined;
    else if (isObject(value) && Object.hasOwn(value, step)) value = value[step];
    else return undefined;
  }
  return value;
}
