/**
 * Events told by a wrapper around the calls. What is naive about them: they know the request and
 * the result and nothing in between, so that every call is in progress from the start, there is no
 * progress, no pause and no record, and arguments and results go along.
 */

import {
  type GovernedTools,
  type GovernOptions,
  governTools,
  type ToolEvent,
} from '../../../src/index.ts';
import { createSubject } from '../../scenarios/create-subject.ts';

function govern(options: GovernOptions): GovernedTools {
  const governed = governTools(options);
  const listeners: ((event: ToolEvent) => unknown)[] = [];
  const tell = (event: object): void => {
    // Somebody who writes this has no type for events.
    for (const listener of listeners) listener(event as ToolEvent);
  };
  return {
    ...governed,
    on(_name, listener) {
      listeners.push(listener as (event: ToolEvent) => unknown); // All are told everything.
      return () => {};
    },
    async call(request, callOptions) {
      const { name: tool_name, id: tool_call_id, arguments: args } = request;
      const names = { session_id: callOptions?.turn?.sessionId ?? '', tool_call_id, tool_name };
      tell({ type: 'tool_call', ...names, status: 'pending', arguments: args });
      tell({ type: 'tool_call_update', ...names, status: 'in_progress' });
      const answer = await governed.call(request, callOptions);
      const {
        ok,
        result,
        error,
        errorCategory: error_category,
        executed,
        executor,
        executionDurationMs: duration_ms,
      } = answer;
      const told = ok
        ? { status: 'completed', result }
        : { status: 'failed', error, error_category };
      tell({ type: 'tool_call_update', ...names, ...told, executed, executor, duration_ms });
      return answer;
    },
  };
}

export default createSubject({ name: 'naive events', govern });

export const fails: readonly string[] = [
  'events.a-call-turned-away-has-a-record',
  'events.a-cloud-receipt-rides-on-the-event',
  'events.a-short-circuit-completes',
  'events.a-waiting-call-is-paused',
  'events.an-id-that-is-left-out-is-made',
  'events.events-hold-no-payload',
  'events.one-ending-for-every-beginning',
  'events.progress-comes-before-the-end',
];
