/**
 * A race between the tool and a timer. What is naive: the timer of a call that ends in time is
 * forgotten, there is no grace in which a tool could say what it did, and a caller that leaves is
 * told that time ran out.
 */

import {
  clockOf,
  defineLayer,
  refuse,
  type ToolLayer,
  type ToolResult,
  withCall,
} from '../../../src/layer.ts';
import { createSubject } from '../../scenarios/create-subject.ts';

interface Options {
  readonly maxMs: number;
  readonly perTool?: Readonly<Record<string, number>>;
  readonly message?: string;
}

export function naiveTimeout({ maxMs, perTool = {}, message }: Options): ToolLayer {
  return defineLayer({
    name: 'timeout',
    caller(call, next) {
      const limitMs = Object.hasOwn(perTool, call.toolName)
        ? (perTool[call.toolName] ?? maxMs)
        : maxMs;
      const stop = new AbortController();
      const late = new Promise<ToolResult>((resolve) => {
        const give = () => {
          stop.abort();
          resolve(
            refuse(
              call,
              'timeout',
              `${message ?? `${call.toolName} did not answer in time`} (limit: ${limitMs} ms).`,
            ),
          );
        };
        clockOf(call).after(limitMs, give);
        call.signal.addEventListener('abort', give, { once: true });
      });
      return Promise.race([next(withCall(call, { signal: stop.signal })), late]);
    },
  });
}

export default createSubject({ name: 'naive timeout', factories: { timeout: naiveTimeout } });

export const fails: readonly string[] = [
  'timeout.a-caller-that-leaves-is-no-timeout',
  'timeout.answers-for-a-tool-that-hangs',
  'timeout.ends-with-the-tool-that-heeds',
  'timeout.grace-is-a-tenth-of-a-second',
  'timeout.grace-lets-a-tool-say-what-it-did',
  'timeout.must-stand-inside-consent',
  'timeout.passes-what-is-in-time',
  'timeout.people-have-all-the-time',
  'timeout.per-tool-times',
  'timeout.refuses-wrong-options',
  'timeout.the-smaller-time-wins',
  'timeout.waits-out-a-longer-grace',
];
