/**
 * Count the calls of a run. What is naive: it counts when a call has come back, in members of a
 * plain object, a refused call counts too, a call that names no run is not counted, and whatever
 * the store says is good enough.
 */

import { defineLayer, refuse, type ToolCall, type ToolLayer } from '../../../src/layer.ts';
import { createSubject } from '../../scenarios/create-subject.ts';

interface Options {
  readonly maxCalls?: number;
  readonly perTool?: Readonly<Record<string, number>>;
  readonly per?: 'run' | 'session';
  readonly store?: { take(key: string): unknown };
  readonly message?: string;
}

export function naiveCallLimit({
  maxCalls,
  perTool = {},
  per = 'run',
  store,
  message = 'call limit exceeded',
}: Options): ToolLayer {
  const counts: Record<string, number> = {};
  const ownerOf = ({ turn }: ToolCall) => (per === 'run' ? turn.runId : turn.sessionId);
  return defineLayer({
    name: 'callLimit',
    async caller(call, next) {
      const owner = ownerOf(call);
      if (owner === undefined && store === undefined && maxCalls !== undefined) return next(call);
      const cap = perTool[call.toolName];
      const [all, own] = [`${owner}`, `${owner} ${call.toolName}`];
      const taken = (await store?.take(all)) as { readonly admitted?: unknown } | undefined; // Whatever it is.
      const isOver =
        (counts[all] ?? 0) >= (maxCalls ?? Number.POSITIVE_INFINITY) ||
        (cap !== undefined && (counts[own] ?? 0) >= cap);
      const isRefused = store === undefined ? isOver : taken?.admitted === false;
      const result = isRefused ? refuse(call, 'limit_exceeded', `${message}.`) : await next(call);
      counts[all] = (counts[all] ?? 0) + 1;
      counts[own] = (counts[own] ?? 0) + 1;
      return result;
    },
  });
}

export default createSubject({ name: 'naive callLimit', factories: { callLimit: naiveCallLimit } });

export const fails: readonly string[] = [
  'call-limit.a-refused-call-takes-nothing',
  'call-limit.a-store-must-say-so',
  'call-limit.admits-up-to-its-limit',
  'call-limit.nested-calls-count',
  'call-limit.no-run-lifts-no-limit',
  'call-limit.parallel-calls-are-counted-exactly',
  'call-limit.per-tool',
  'call-limit.questions-are-counted-outside-of-who-asks',
  'call-limit.refuses-wrong-options',
  'call-limit.tells-what-is-left',
];
