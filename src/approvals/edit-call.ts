/** Arguments that a person wrote in the place of the model's. */

import { withCall } from '../core/onion/own-call.ts';
import { servicesOf } from './consultation.ts';
import { refuse } from '../core/onion/results.ts';
import { canonicalJson } from '../core/json/canonical.ts';
import type { ToolCall } from '../core/contract/call.ts';
import type { ToolResult } from '../core/contract/result.ts';

/** The call to go on with, or what an edit comes to that cannot be used. */
type Edited = { readonly call: ToolCall } | { readonly result: ToolResult };

/**
 * The call with other arguments, the same call where they are no others, or a `schema_violation`.
 * They are taken in like those of a model: hidden ones are taken off, and the tool's own schema is
 * held against them before it runs; right here where they are final. Throws for what is not JSON.
 */
export function editCall(call: ToolCall, args: object | undefined, areFinal = false): Edited {
  if (args === undefined) return { call };
  const services = servicesOf(call);
  const edited =
    services === null ? withCall(call, { toolArgs: args }) : services.admit(call, args, areFinal);
  if (typeof edited === 'string') return { result: refuse(call, 'schema_violation', edited) };
  return { call: canonicalJson(edited.toolArgs) === canonicalJson(call.toolArgs) ? call : edited };
}
