/** Answers from a recording instead of running the tool. */

import {
  AlliumError,
  annotate,
  checkOptions,
  defineLayer,
  fail,
  must,
  ok,
  type OrderRule,
  refuse,
  should,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
  withResult,
} from '../../src/layer.ts';
import { type AnswerBook, type Found, orderedBook, strictBook } from './answer-book.ts';
import { OPTIONS, type ReplayOptions } from './options.ts';
import { readRecording, type RecordedAnswer, type RecordedCall } from './read-recording.ts';

export type { ReplayOptions };
export type { RecordedAnswer, RecordedCall, Recording } from './read-recording.ts';
export { readRecording } from './read-recording.ts';

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
        : unanswered(call, found);
    },
    close: async () => report(book, onUnused, file),
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
    return unanswered(call, {
      recorded: null,
      status: 'missing',
      problem: `the answer in line ${line} was too large`,
    });
  const { executed, executionDurationMs } = answer;
  return annotate(
    replayedResult(call, answer),
    {},
    { status: 'replayed', line, recorded: { executed, executionDurationMs } },
  );
}

/**
 * The recording stands in for the tool, and failed to answer: that is no rule that blocked the
 * call.
 */
function unanswered(
  call: ToolCall,
  { status, problem }: Extract<Found, { recorded: null }>,
): ToolResult {
  const message = `${call.toolName} was not called. Answers come from a recording: ${problem}. Do not repeat the call unchanged.`;
  return annotate(
    fail(call, 'executor_error', null, message, {
      category: `replay_${status}`,
      errorClass: 'fatal',
    }),
    {},
    { status },
  );
}

function report(
  book: AnswerBook,
  onUnused: NonNullable<ReplayOptions['onUnused']>,
  file: string,
): void {
  const unused = book.unused();
  const [first] = unused;
  if (first === undefined || onUnused === 'ignore') return;
  if (onUnused !== 'throw') return onUnused(unused);
  const message = `replay: ${unused.length} recorded ${unused.length === 1 ? 'answer was' : 'answers were'} not asked for; the first is ${first.toolName} at ${file}:${first.line}`;
  throw new AlliumError('ERR_UNUSED_ANSWERS', message, {
    layer: 'replay',
    path: `${file}:${first.line}`,
  });
}

/** Has this call's id and says that nothing ran; everything else is as it was recorded. */
function replayedResult(call: ToolCall, answer: RecordedAnswer): ToolResult {
  const { result, content, renderedResult, executor, outputFiles, interruption, metadata } = answer;
  const plain = answer.ok ? ok(call, result, { status: answer.status }) : refused(call, answer);
  return withResult(plain, {
    ...{ executor, outputFiles },
    ...(content === undefined ? {} : { content }),
    ...(renderedResult === undefined ? {} : { renderedResult }),
    ...(interruption === undefined ? {} : { interruption }),
    ...(metadata === undefined ? {} : { metadata }),
  });
}

function refused(
  call: ToolCall,
  { status, result, error, errorCategory, errorClass }: RecordedAnswer,
): ToolResult {
  const plain = refuse(call, status, error ?? '');
  return withResult(plain, {
    error,
    errorCategory,
    errorClass,
    ...(result === null ? {} : { result }),
  });
}
