/**
 * Who listens, and how they are told: in order, in wire form, and without being able to break a
 * call.
 */

import { describeThrown } from '../../core/contract/errors.ts';
import { checkOptions, expected } from '../../core/contract/options.ts';
import type { ToolEvent } from '../../core/wire/wire.ts';
import type { Logger } from '../../tools/tool.ts';

export type EventName = ToolEvent['type'];
export type EventListener<N extends EventName | '*'> = (
  event: N extends EventName ? Extract<ToolEvent, { type: N }> : ToolEvent,
) => unknown;

export interface EventHub {
  readonly on: <N extends EventName | '*'>(name: N, listener: EventListener<N>) => () => void;
  /** Builds the event only if it has a listener. */
  readonly emit: (name: EventName, build: () => ToolEvent) => void;
}

const NAMES: Readonly<Record<EventName, true>> = {
  tool_call: true,
  tool_call_update: true,
  tool_call_progress: true,
  tool_call_audit: true,
  task: true,
};
const HEARD = {
  event: expected.oneOf('*', ...Object.keys(NAMES)),
  listener: expected.required(expected.function),
};

export function createEventHub(logger: Logger): EventHub {
  const listeners = new Map<string, Set<(event: ToolEvent) => unknown>>();
  const failed = (thrown: unknown) =>
    logger.warn({ error: describeThrown(thrown) }, 'an event listener failed');
  /** A record that cannot be written is one event less, and not one call less. */
  const built = (name: EventName, build: () => ToolEvent): ToolEvent | null => {
    try {
      return build();
    } catch (thrown) {
      logger.error({ event: name, error: describeThrown(thrown) }, 'an event could not be made');
      return null;
    }
  };

  const tell = (listener: (event: ToolEvent) => unknown, event: ToolEvent): void => {
    try {
      const answer = listener(event);
      if (answer instanceof Promise) answer.catch(failed);
    } catch (thrown) {
      failed(thrown);
    }
  };

  return {
    on(name, listener) {
      checkOptions('on', { event: name, listener }, HEARD);
      const set = listeners.get(name) ?? new Set();
      listeners.set(name, set);
      // The emitter hands a listener only events of the name it was registered for.
      const registered = listener as (event: ToolEvent) => unknown;
      set.add(registered);
      return () => void set.delete(registered);
    },
    emit(name, build) {
      // Most hosts listen to nothing.
      if (listeners.size === 0) return;
      const listening = [...(listeners.get(name) ?? []), ...(listeners.get('*') ?? [])];
      if (listening.length === 0) return;
      const event = built(name, build);
      if (event === null) return;
      for (const listener of listening) tell(listener, event);
    },
  };
}
