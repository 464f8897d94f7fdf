/** What the commands share that look after files of the state folder. */

import { userInfo } from 'node:os';
import { UsageError } from './io.ts';

/** What a store throws is about its folder and files, which is a mistake in the call. */
export async function asked<T>(ask: () => T | Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw error instanceof Error && !('code' in error) ? new UsageError(error.message) : error;
  }
}

/** JSON can hold what acts upon a terminal only in its texts; there it is escaped. */
export const safeJson = (value: object): string =>
  JSON.stringify(value).replace(/[\u007f-\u009f\p{Cf}\u2028\u2029]/gu, (text) => text.replace(/[\s\S]/g, escapedUnit));

const escapedUnit = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** For the record, not as proof. A user without an entry has no name. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown user';
  }
}
