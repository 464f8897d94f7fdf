/** `{ $name: argument }` in the place of a value: what data cannot hold, such as a function. */

import { AlliumError, isAlliumError, type ToolCall } from '../index.ts';
import { closest } from '../core/contract/closest.ts';
import { describeThrown } from '../core/contract/errors.ts';
import { GO_ON, isPlain, mapData } from './plain-data.ts';
import { type DataPath, pathText, type Report } from './problem.ts';

/**
 * Makes the value. `where` names the place in the data, for errors. What it throws is reported for
 * that place.
 */
export type ValueForm = (argument: unknown, where: string) => unknown;

/** By the name with its dollar sign. */
export type ValueForms = ReadonlyMap<`$${string}`, ValueForm>;

/** The value with every form replaced. What was read from a file stays as it is. */
export function resolveForms(
  value: unknown,
  forms: ValueForms,
  path: DataPath,
  report: Report,
): unknown {
  return mapData(value, path, (item, at) => {
    const name = isPlain(item) ? Object.keys(item).find((key) => key.startsWith('$')) : undefined;
    // It was just looked for.
    return name === undefined
      ? GO_ON
      : formOf(item as Record<string, unknown>, name as `$${string}`, forms, at, report);
  });
}

function formOf(
  value: Record<string, unknown>,
  name: `$${string}`,
  forms: ValueForms,
  path: DataPath,
  report: Report,
): unknown {
  const form = forms.get(name);
  const place = [...path, name];
  if (form === undefined) {
    const guess = closest(name, forms.keys());
    report(
      place,
      `there is no "${name}"; ${guess === undefined ? `there is ${[...forms.keys()].join(', ')}` : `did you mean "${guess}"?`}`,
      'key',
    );
    return undefined;
  }
  if (Object.keys(value).length > 1) {
    report(place, `"${name}" stands alone: nothing else may be beside it`, 'key');
    return undefined;
  }
  try {
    return form(value[name], pathText(place));
  } catch (thrown) {
    report(place, isAlliumError(thrown) ? thrown.message : describeThrown(thrown));
    return undefined;
  }
}

/** Members of a call. */
const ROOTS: readonly string[] = [
  'toolName',
  'toolArgs',
  'callId',
  'turn',
  'annotations',
  'metadata',
] satisfies (keyof ToolCall)[];

/**
 * `{ $path: toolArgs.orderId }`: a function that reads that member of a call. Numbers become text,
 * because names are text.
 */
const pathForm: ValueForm = (argument) => {
  const steps = typeof argument === 'string' ? argument.split('.') : [];
  const [root = ''] = steps;
  if (!ROOTS.includes(root)) {
    const guess = closest(root, ROOTS);
    const hint = guess === undefined ? '' : `; did you mean "${guess}"?`;
    throw new AlliumError(
      'ERR_INVALID_CONFIG',
      `"$path" must begin with one of ${ROOTS.join(', ')}${hint}`,
    );
  }
  if (steps.includes(''))
    throw new AlliumError('ERR_INVALID_CONFIG', '"$path" must be names with a dot between them');
  return (call: unknown): unknown => {
    const found = steps.reduce<unknown>(
      (value, step) => (isMember(value, step) ? value[step] : undefined),
      call,
    );
    return typeof found === 'number' ? String(found) : found;
  };
};

const isMember = (value: unknown, name: string): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name);

/** The forms that every stack may use. */
export const BASE_FORMS: ValueForms = new Map([['$path', pathForm]]);
