/** The last check before the executor, where it takes time. */

import { isResultOf } from './build-result.ts';
import { SLOT, type ToolCall } from './call.ts';
import { fail, type ToolResult } from './result.ts';
import type { Gate } from './terms.ts';

/** What the first gate that does not let a call in made of it. Only `null` lets in. */
export async function stoppedAt(call: ToolCall, gates: readonly Gate[]): Promise<ToolResult | null> {
  for (const gate of gates) {
    let said: unknown;
    try {
      said = await gate(call);
    } catch (thrown) {
      return fail(call, 'permission_denied', thrown, UNDECIDED);
    }
    if (said === null) continue;
    return isResultOf(said, call[SLOT].state) && !said.ok ? said : fail(call, 'permission_denied', said, UNDECIDED);
  }
  return null;
}

const UNDECIDED = 'Whether the call is allowed could not be decided, so it did not run. Do not repeat it unchanged.';
