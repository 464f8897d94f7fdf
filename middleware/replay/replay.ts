/** Answers from a recording instead of running the tool. */

import {
  AlliumError,
  annotate,
  checkOptions,
  defineLayer,
  fail,
  must,
  type OrderRule,
  refuse,
  should,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
} from '../../src/layer.ts';
import {
  type Missing,
  orderedBook,
  readRecording,
  type RecordedCall,
  replayedResult,
  strictBook,
} from '../../src/recording/index.ts';
import { OPTIONS, type ReplayOptions } from './options.ts';

export type { RecordedAnswer, RecordedCall, Recording } from '../../src/recording/index.ts';
export { readRecording };
export type { ReplayOptions };

/**
 * Gives every recorded answer once. It does not look at the turn, the time or the ids of a call,
 * and waits for nothing: answers come at once, however long they took. Calls that a tool made
 * itself are left out, because the tool does not run.
 */
export function replay(options: ReplayOptions): ToolLayer {
  checkOptions('replay', options, OPTIONS);
  const { file, mode = 'strict', onMissing = 'refuse', onUnused = 'ignore' } = options;
  if (mode === 'strict') checkOptions('replay', options, { ...OPTIONS, onMissing: NO_PASS });
  const calls = readRecording(file).calls.filter(({ nested }) => !nested);
  const book = mode === 'strict' ? strictBook(calls) : orderedBook(calls);
  return defineLayer({
    name: 'replay',
    order: ORDER,
    async caller(call, next) {
      if (call.signal.aborted)
        return refuse(call, 'cancelled', 'The call was cancelled before it was answered.');
      const found = book.take(call);
      if (found.recorded !== null) return answered(call, found.recorded);
      return onMissing === 'pass'
        ? annotate(await next(call), {}, { status: 'passed' })
        : unanswered(call, found.status, found.problem);
    },
    async close() {
      const [first, ...more] = book.unused();
      if (first === undefined || onUnused === 'ignore') return;
      if (onUnused === 'throw') throw notAskedFor(file, first, more.length + 1);
      onUnused([first, ...more]);
    },
  });
}

const NO_PASS = { ...OPTIONS.onMissing, test: (value: unknown) => value === 'refuse' };

const ORDER: readonly OrderRule[] = [
  must.insideOf(
    'redaction',
    'outside it, arguments are compared unmasked, and answers are given out as recorded',
  ),
  must.outsideOf('retry', 'inside it, every attempt would take an answer of its own'),
  should.insideOf('consent', 'outside it, calls are answered without anybody being asked'),
  should.insideOf(
    'requiredReason',
    'outside it, the reason is one of the arguments, and no call is the recorded one',
  ),
];

function answered(call: ToolCall, { answer, line }: RecordedCall): ToolResult {
  if (answer === null)
    return unanswered(call, 'missing', `the answer in line ${line} was too large`);
  const { executed, executionDurationMs } = answer;
  const entry = { status: 'replayed', line, recorded: { executed, executionDurationMs } };
  return annotate(replayedResult(call, answer), {}, entry);
}

/** The recording stands in for the tool, and failed to answer: no rule blocked the call. */
function unanswered(call: ToolCall, status: Missing['status'], problem: string): ToolResult {
  const message = `${call.toolName} was not called. Answers come from a recording: ${problem}. Do not repeat the call unchanged.`;
  const kind = { category: `replay_${status}`, errorClass: 'fatal' } as const;
  return annotate(fail(call, 'executor_error', null, message, kind), {}, { status });
}

function notAskedFor(file: string, first: RecordedCall, count: number): AlliumError {
  const path = `${file}:${first.line}`;
  const message = `replay: ${count} recorded ${count === 1 ? 'answer was' : 'answers were'} not asked for; the first is ${first.toolName} at ${path}`;
  return new AlliumError('ERR_UNUSED_ANSWERS', message, { layer: 'replay', path });
}
