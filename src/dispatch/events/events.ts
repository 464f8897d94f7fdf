/**
 * Who listens, and how they are told: in order, in wire form, and without being able to break a
 * call.
 */

import type { ToolCall } from '../../core/contract/call.ts';
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
  /** Builds the event of a call only if it has a listener: of the call and what there is to say. */
  readonly emit: <T>(
    name: EventName,
    build: (call: ToolCall, news: T) => ToolEvent,
    call: ToolCall,
    news: T,
  ) => void;
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

type Listener = (event: ToolEvent) => unknown;
const NOBODY: readonly Listener[] = [];

export function createEventHub(logger: Logger): EventHub {
  // Lists are replaced and never changed: a listener may go, or come, while others are told.
  const listeners = new Map<string, readonly Listener[]>();
  const failed = (thrown: unknown) =>
    logger.warn({ error: describeThrown(thrown) }, 'an event listener failed');

  return {
    on(name, listener) {
      checkOptions('on', { event: name, listener }, HEARD);
      // The emitter hands a listener only events of the name it was registered for.
      const registered = listener as Listener;
      const before = listeners.get(name) ?? NOBODY;
      if (!before.includes(registered)) listeners.set(name, [...before, registered]);
      return () => {
        const left = (listeners.get(name) ?? NOBODY).filter((each) => each !== registered);
        listeners.set(name, left);
      };
    },
    emit(name, build, call, news) {
      const own = listeners.get(name) ?? NOBODY;
      const all = listeners.get('*') ?? NOBODY;
      const told = own.length === 0 ? all : [...own, ...all];
      if (told.length === 0) return;
      let event: ToolEvent;
      try {
        event = build(call, news);
      } catch (thrown) {
        // A record that cannot be written is one event less, and not one call less.
        logger.error({ event: name, error: describeThrown(thrown) }, 'an event could not be made');
        return;
      }
      for (const listener of told) {
        try {
          const answer = listener(event);
          if (answer instanceof Promise) answer.catch(failed);
        } catch (thrown) {
          failed(thrown);
        }
      }
    },
  };
}
