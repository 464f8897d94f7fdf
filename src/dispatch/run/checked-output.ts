/** Holds what a tool answered to the check of its schema library. */

import { snapshot } from '../../core/json/json.ts';
import type { SchemaProblem } from '../../tools/schema/validator.ts';
import { isToolOutput, type Tool } from '../../tools/tool.ts';
import type { ResolvedLimits } from '../intake/limits.ts';

/**
 * What a schema library says to an answer, and the copy that it looked at: reading the answer again
 * might give another value.
 */
export async function checkedOutput(
  parse: NonNullable<Tool['parseOutput']>,
  answer: unknown,
  { maxResultValues }: Pick<ResolvedLimits, 'maxResultValues'>,
): Promise<{ readonly value: unknown; readonly problems: readonly SchemaProblem[] }> {
  let value = answer;
  try {
    if (answer !== undefined && !isToolOutput(answer)) value = snapshot(answer, maxResultValues);
    const parsed = await parse((isToolOutput(value) ? value.structuredContent : value) ?? null);
    return { value, problems: 'value' in parsed ? [] : parsed.problems };
  } catch {
    return { value, problems: [{ path: '', message: 'could not be checked: its schema failed' }] };
  }
}
