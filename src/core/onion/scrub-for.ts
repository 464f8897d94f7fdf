/** What a sink that is not an audit sink may see of a call. */

import { stateOf } from './own-call.ts';
import type { ToolCall } from '../contract/call.ts';
import { scrub } from './scrub.ts';

/**
 * A copy of a value with every string, member names included, run through each `scrub` of the stack
 * the call is in. For layers that send parts of a call elsewhere. It knows text only: a redactor
 * that masks by path has to have done so before.
 */
export const scrubFor = <T>(call: ToolCall, value: T): T => scrub(value, stateOf(call).scrubs);
