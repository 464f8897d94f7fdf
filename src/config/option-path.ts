/** Where in the data an option stands that a factory refused. */

import type { AlliumError } from '../index.ts';
import { isObject } from '../core/json/json.ts';
import type { DataPath, Report } from './problem.ts';

/**
 * The arguments of a report. A missing option has no place of its own: the layer is named instead.
 * A rule of a list is known by the owner that `checkOptions` was told (`consent rule 2`).
 */
export function optionPath(
  path: DataPath,
  options: unknown,
  { message, details }: AlliumError,
): Parameters<Report> {
  const [, nth] = / rule (\d+)$/.exec(details.layer ?? '') ?? [];
  const within = nth === undefined ? [] : ['rules', Number(nth) - 1];
  const holder = within.reduce<unknown>(
    (value, part) => (isHolder(value, part) ? value[part] : undefined),
    options,
  );
  const { option = '', got } = details;
  if (!isHolder(holder, option))
    return [
      [...path, ...within],
      message,
      path.length > 0 && within.length === 0 ? 'key' : 'value',
    ];
  return [[...path, ...within, option], message, got === option ? 'key' : 'value'];
}

const isHolder = (
  value: unknown,
  part: string | number,
): value is Record<string | number, unknown> =>
  (isObject(value) || Array.isArray(value)) && Object.hasOwn(value, part);
