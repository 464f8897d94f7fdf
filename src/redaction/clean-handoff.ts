/**
 * The handoff in the audit record is a copy of a part of the result, made further in: it is cleaned
 * like the result itself.
 */

import { annotate } from '../core/onion/results.ts';
import type { JsonObject } from '../core/json/json-value.ts';
import type { ToolResult } from '../core/contract/result.ts';
import type { CleanedCall } from './clean-call.ts';
import type { Literals } from './literals.ts';
import type { Rules } from './rules.ts';
import { sweep } from './sweep.ts';
import type { Work } from './turns.ts';

/** Throws where it cannot be said what must be hidden. */
export function* cleanHandoff(
  result: ToolResult,
  sent: CleanedCall,
  rules: Rules,
  literals: Literals,
): Work<ToolResult> {
  const handoff = result.audit?.handoff;
  if (handoff === undefined) return result;
  // Paths may be written for the record by itself, or for the result that it was a member of.
  const alone = yield* sweep([{ value: handoff, paths: sent.paths }], rules, literals);
  const [record = null] = alone.values;
  const within = yield* sweep(
    [{ value: { handoff: record }, paths: sent.paths }],
    rules,
    alone.literals,
  );
  if (alone.blocked || within.blocked) return withoutHandoff(result);
  // A cleaned object is an object.
  const { handoff: clean } = within.values[0] as { handoff: JsonObject };
  if (clean === handoff) return result;
  const { policyOverride, ...rest } = clean;
  // A policy of which something was hidden may have lost a restriction.
  const isSame = JSON.stringify(policyOverride) === JSON.stringify(handoff.policyOverride);
  return annotate(result, { handoff: isSame ? clean : rest });
}

/** Where the result is withheld, its handoff is too. */
export function withoutHandoff(result: ToolResult): ToolResult {
  const handoff = result.audit?.handoff;
  return handoff === undefined
    ? result
    : annotate(result, {
        handoff: { ...(handoff.id === undefined ? {} : { id: handoff.id }), withheld: true },
      });
}
