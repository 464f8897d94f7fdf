/**
 * Writes every call and its answer to a file, one line each, from which `replay` can answer later.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { resolve } from 'node:path';
import {
  annotate,
  checkOptions,
  clockOf,
  createIdOf,
  defineLayer,
  fail,
  must,
  type OrderRule,
  refuse,
  runWithin,
  should,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
  whenEnded,
} from '../../src/layer.ts';
import { type LineFile, lineFile } from './line-file.ts';
import { OPTIONS, type RecordOptions } from './options.ts';
import { type Begun, lineOf } from './recorded-line.ts';

export type { RecordOptions };

/**
 * Records the arguments as they come to this place, and the answer as it leaves the stack: by then
 * every layer has cleaned its part. It hides nothing itself: without `redaction` around it the file
 * holds what the model and the tools said. It does not see calls that were answered further out,
 * and a call that never ends leaves no line.
 */
export function record(options: RecordOptions): ToolLayer {
  checkOptions('record', options, OPTIONS);
  const { file, onError = 'block' } = options;
  const lines = lineFile(resolve(file), onError === 'block');
  let writer: string | null = null;
  let count = 0;
  return defineLayer({
    name: 'record',
    order: ORDER,
    async caller(call, next) {
      const clock = clockOf(call);
      writer ??= createIdOf(call)();
      const within = recording.getStore() ?? [];
      const nested = within.includes(lines);
      const begun = {
        writer,
        seq: count,
        nested,
        startedAt: clock.now(),
        startTick: clock.monotonic(),
      };
      count += 1;
      const unready = onError === 'block' ? await notReady(call, lines) : null;
      if (unready !== null) return unready;
      // What a layer outside hides in the result is hidden only when the call has ended.
      void whenEnded(call).then((answer) => write(lines, call, begun, answer));
      const result = await recording.run([...within, lines], () => next(call));
      return lines.lost === 0 ? result : annotate(result, {}, { lost: lines.lost });
    },
    close: () => lines.close(),
  });
}

/**
 * The files that calls are being written to where this code runs: a tool that is answered from the
 * file makes no calls of its own, and those must be told from the others. One for all layers, since
 * every storage makes all that is asynchronous slower.
 */
const recording = new AsyncLocalStorage<readonly object[]>();

const ORDER: readonly OrderRule[] = [
  must.insideOf('redaction', 'outside it, arguments would be written as the model sent them'),
  must.outsideOf(
    'retry',
    'inside it, every attempt would be written with the answer of the last one',
  ),
  should.insideOf(
    'consent',
    'outside it, refusals are recorded, and given again without anybody being asked',
  ),
  should.insideOf(
    'requiredReason',
    'outside it, the reason is one of the arguments, and no later call is the same',
  ),
  should.insideOf(
    'replay',
    'outside it, answers that come from a recording are recorded once more',
  ),
];

/**
 * The refusal of a call that could not be recorded, or whose caller left while that was found out.
 */
async function notReady(call: ToolCall, lines: LineFile): Promise<ToolResult | null> {
  const asked = lines.ready();
  if (asked === null) return null;
  const bounds = { timeoutMs: undefined, graceMs: 0, clock: clockOf(call), signal: call.signal };
  const { by, ran } = await runWithin(bounds, () => asked);
  if (by !== 'itself') return refuse(call, 'cancelled', 'The call was cancelled before it ran.');
  if (!('thrown' in ran)) return null;
  return fail(
    call,
    'audit_unavailable',
    ran.thrown,
    `${call.toolName} was not called: calls cannot be recorded at the moment. Try again later.`,
  );
}

/** Nobody waits for this any more: what cannot be written is counted. */
function write(lines: LineFile, call: ToolCall, begun: Begun, answer: ToolResult): void {
  try {
    lines.append(lineOf(call, begun, answer));
  } catch {
    lines.lose();
  }
}
