/**
 * Approvals as somebody would write them in an hour: what waits is kept in a map, a yes lets the
 * tool of that name through, and a no ends the whole round. What is naive about it: nobody
 * remembers that a question was answered, what was shown is forgotten, a rejection drops the
 * siblings, and a call that is taken up is a new call.
 */

import { consent, permissions } from '../../../middleware/index.ts';
import {
  AlliumError,
  type CallOptions,
  defineLayer,
  type GovernedTools,
  type GovernOptions,
  governTools,
  type ToolLayer,
  type ToolRequest,
  type ToolResult,
} from '../../../src/index.ts';
import { createSubject } from '../../scenarios/create-subject.ts';

/**
 * The tools that somebody said yes to, for each gate of the stack that is just being put together.
 */
const gates: Set<string>[] = [];

function naiveGate(asking: ToolLayer): ToolLayer {
  const tools = new Set<string>();
  gates.push(tools);
  return defineLayer({
    ...asking,
    caller: (call, next) => (tools.has(call.toolName) ? next(call) : asking.caller(call, next)),
  });
}

const naiveConsent = (options: Parameters<typeof consent>[0]): ToolLayer =>
  naiveGate(consent(options));
const naivePermissions = (options: Parameters<typeof permissions>[0]): ToolLayer =>
  naiveGate(permissions(options));

/** What waits, kept for every process that shares a store. */
const rooms = new WeakMap<object, Map<string, Waiting>>();

function roomOf(store: object): Map<string, Waiting> {
  const room = rooms.get(store) ?? new Map<string, Waiting>();
  rooms.set(store, room);
  return room;
}

interface Waiting {
  readonly request: ToolRequest;
  readonly options: CallOptions | undefined;
}

function govern(options: GovernOptions): GovernedTools {
  const governed = governTools(options);
  const waiting = roomOf(options.approvals ?? {});
  const own = gates.splice(0);
  const call = async (request: ToolRequest, callOptions?: CallOptions): Promise<ToolResult> => {
    const result = await governed.call(request, callOptions);
    if (result.interruption !== undefined)
      waiting.set(result.interruption.id, { request, options: callOptions });
    return result;
  };
  return {
    ...governed,
    call,
    batch: async (requests, { maxConcurrent: _, ...callOptions } = {}) => {
      const results: ToolResult[] = [];
      for (const request of requests) results.push(await call(request, callOptions));
      return results;
    },
    async resume(id, decision) {
      const kept = waiting.get(id);
      if (kept === undefined)
        throw new AlliumError('ERR_UNKNOWN_APPROVAL', 'nothing waits under this id');
      if (decision === undefined || decision.decision.startsWith('reject')) {
        waiting.clear();
        return governed.resume(id, decision);
      }
      for (const tools of own) tools.add(kept.request.name);
      return call(
        { ...kept.request, arguments: decision.args ?? kept.request.arguments },
        kept.options,
      );
    },
  };
}

export default createSubject({
  name: 'naive approvals',
  factories: { consent: naiveConsent, permissions: naivePermissions },
  govern,
});

/** The scenarios it must fail. */
export const fails: readonly string[] = [
  'approvals.allows-always-what-was-shown',
  'approvals.counts-a-call-once',
  'approvals.covers-one-call-and-not-its-tool',
  'approvals.decides-about-edits-again',
  'approvals.does-not-run-what-was-rejected',
  'approvals.ends-what-waits-when-the-caller-leaves',
  'approvals.expires-as-a-state-of-its-own',
  'approvals.goes-on-in-another-process',
  'approvals.goes-on-with-what-was-written-down',
  'approvals.has-one-ending',
  'approvals.holds-a-given-result-to-the-tool',
  'approvals.holds-up-no-sibling',
  'approvals.is-no-repetition-of-itself',
  'approvals.is-open-for-a-day',
  'approvals.is-void-where-the-rules-have-changed',
  'approvals.is-void-where-the-tool-has-changed',
  'approvals.keeps-always-across-processes-and-not-across-tools',
  'approvals.keeps-the-approved-sibling-of-a-rejected-call',
  'approvals.lets-new-rules-deny',
  'approvals.lets-the-second-gate-refuse',
  'approvals.needs-two-answers-for-two-gates',
  'approvals.offers-always-only-where-it-is-kept',
  'approvals.refuses-what-is-no-decision',
  'approvals.runs-nothing-for-a-late-yes',
  'approvals.runs-once-however-often-it-is-answered',
  'approvals.takes-a-result-from-a-person',
  'approvals.takes-one-of-many-answers-at-once',
  'approvals.writes-both-passes-and-names-the-first',
];
