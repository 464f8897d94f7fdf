/** Checks for the fields of kept records: a file may have been written by anybody, or cut off. */

import { isObject } from '../core/json/json.ts';

/** Whether a value is an object with exactly these fields. */
export const hasFields = (
  value: unknown,
  fields: readonly string[],
): value is Record<string, unknown> =>
  isObject(value) &&
  Object.keys(value).length === fields.length &&
  fields.every((field) => Object.hasOwn(value, field));

/** Text that is not empty. */
export const isText = (value: unknown): value is string =>
  typeof value === 'string' && value !== '';

/** A whole number from zero. */
export const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0;

/**
 * A time as `isoTime` writes it, before the year 10000: one that can be written in two ways can
 * also be compared in two.
 */
export const isTime = (value: unknown): value is string =>
  typeof value === 'string' &&
  /^\d{4}-/.test(value) &&
  Number.isFinite(Date.parse(value)) &&
  new Date(value).toISOString() === value;
