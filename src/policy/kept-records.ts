/** What the stores of this folder share that keep one record a file. */

import { join } from 'node:path';
import { describeThrown } from '../core/errors.ts';
import { isObject } from '../core/json.ts';
import type { RecordFiles } from '../stores/record-files.ts';

/** A file that holds no record, or that cannot be read. */
export interface KeptProblem {
  readonly file: string;
  readonly message: string;
}

/** Every record that can be read, by the names of their files, and what is the matter with the others. */
export async function readKept<T>(
  files: RecordFiles<T>,
  dir: string,
): Promise<{ readonly records: readonly T[]; readonly problems: readonly KeptProblem[] }> {
  const records: T[] = [];
  const problems: KeptProblem[] = [];
  for (const name of (await files.list()).toSorted()) {
    try {
      const record = await files.read(name);
      if (record !== null) records.push(record);
    } catch (error) {
      problems.push({ file: join(dir, name), message: describeThrown(error) });
    }
  }
  return { records, problems };
}

/** The members of a JSON object; none where the text is none, or is cut off. */
export function membersIn(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
