/** Values that somebody else sent: read once, bounded, and held to a schema. */

import type { JsonValue } from '../core/json/json-value.ts';
import type { JsonSchema } from '../core/contract/call.ts';
import { isAlliumError } from '../core/contract/errors.ts';
import { snapshot } from '../core/json/json.ts';
import { describeProblems, validateJson } from '../tools/schema/validator.ts';

/** What is larger was not meant to be read by people, which all of this is for. */
const MAX_CLAIM_LENGTH = 1_048_576;

/** A value, or what is wrong with it, in words that hold nothing of it. */
type Claim =
  | { readonly value: JsonValue; readonly problem: null }
  | { readonly value: null; readonly problem: string };

/** Never throws: hostile objects and values that are no JSON are problems like others. */
export function readClaim(schema: JsonSchema, given: unknown): Claim {
  try {
    const value = snapshot(given);
    if (JSON.stringify(value).length > MAX_CLAIM_LENGTH)
      return { value: null, problem: `is longer than ${MAX_CLAIM_LENGTH} characters` };
    const problems = validateJson(schema, value);
    return problems.length === 0
      ? { value, problem: null }
      : { value: null, problem: describeProblems(problems) };
  } catch (error) {
    // The message of any other error may quote what it stumbled over.
    return {
      value: null,
      problem: isAlliumError(error, 'ERR_NOT_JSON') ? error.message : 'cannot be read',
    };
  }
}
