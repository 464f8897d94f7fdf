/**
 * Writes every call and its answer to a file, one line each, from which `replay` can answer later.
 */

import { resolve } from 'node:path';
import {
  annotate,
  checkOptions,
  clockOf,
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
import { openRecorder, type Recorder } from '../../src/recording/index.ts';
import { OPTIONS, type RecordOptions } from './options.ts';

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
  const recorder = openRecorder(resolve(file), onError === 'block');
  return defineLayer({
    name: 'record',
    order: ORDER,
    async caller(call, next) {
      const begun = recorder.begin(call);
      const unready = onError === 'block' ? await notReady(call, recorder) : null;
      if (unready !== null) return unready;
      // What a layer outside hides in the result is hidden only when the call has ended.
      void whenEnded(call).then((answer) => recorder.write(call, begun, answer));
      const result = await recorder.during(() => next(call));
      return recorder.lost === 0 ? result : annotate(result, {}, { lost: recorder.lost });
    },
    close: () => recorder.close(),
  });
}

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
async function notReady(call: ToolCall, recorder: Recorder): Promise<ToolResult | null> {
  const asked = recorder.ready();
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
