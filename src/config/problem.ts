/** What is wrong with data that was meant to become a stack, and where. */

import { AlliumError, type ErrorDetails } from '../core/contract/errors.ts';

/** A place in data: names of members and positions in lists, from the top. */
export type DataPath = readonly (string | number)[];

/** One mistake. `at` says whether the member itself is wrong or what stands behind it. */
export interface Problem {
  readonly path: DataPath;
  readonly message: string;
  readonly at: 'key' | 'value';
}

/** Takes a mistake and goes on, so that all of them are told at once. */
export type Report = (path: DataPath, message: string, at?: Problem['at']) => void;

const PLAIN_NAME = /^[A-Za-z_$][\w$-]*$/;

/** `layers[0].rateLimit.maxCalls`. */
export function pathText(path: DataPath): string {
  const parts = path.map((part) => {
    if (typeof part === 'number') return `[${part}]`;
    return PLAIN_NAME.test(part) ? `.${part}` : `[${JSON.stringify(part)}]`;
  });
  return parts.join('').replace(/^\./, '');
}

/** One error for all of them, a line each. */
export function invalidConfig(lines: readonly string[], details: ErrorDetails = {}): AlliumError {
  return new AlliumError('ERR_INVALID_CONFIG', lines.join('\n'), details);
}
