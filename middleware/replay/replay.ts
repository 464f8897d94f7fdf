/** Answers from a recording instead of running the tool. */

import {
  AlliumError,
  annotate,
  checkOptions,
  defineLayer,
  type Expectation,
  expected,
  fail,
  ok,
  type OrderRule,
  refuse,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
  withResult,
} from '../../src/layer.ts';
import { type AnswerBook, type Found, orderedBook, strictBook } from './answer-book.ts';
import { readRecording, type RecordedAnswer, type RecordedCall } from './read-recording.ts';

export type { RecordedAnswer, RecordedCall, Recording } from './read-recording.ts';
export { readRecording } from './read-recording.ts';

export interface ReplayOptions {
  /** A file that `record` has written. It is read when the layer is made. */
  readonly file: string;
  /**
   * `'strict'`: calls have to come as recorded. `'ordered'`: only those of the same tool and
   * arguments. @default 'strict'
   */
  readonly mode?: 'strict' | 'ordered';
  /**
   * What becomes of a call that has no answer; `'pass'` lets the tool run, and needs mode
   * `'ordered'`. @default 'refuse'
   */
  readonly onMissing?: 'refuse' | 'pass';
  /**
   * What `close()` does about answers nobody asked for: nothing, reject, or tell a function.
   * @default 'ignore'
   */
  readonly onUnused?: 'ignore' | 'throw' | ((unused: readonly RecordedCall[]) => void);
}

/**
 * Gives every recorded answer once. It does not look at the turn, the time or the ids of a call,
 * and waits for nothing: answers come at once, however long they took. Calls that a tool made
 * itself are left out, because the tool does not run.
 */
export function replay(options: ReplayOptions): ToolLayer {
  checkOptions(
    'replay',
    options,
    expectations(() => options.mode),
  );
  const { file, mode = 'strict', onMissing = 'refuse', onUnused = 'ignore' } = options;
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

/** The mode is asked for late: by then it is known that there are options. */
const expectations = (
  mode: () => ReplayOptions['mode'],
): Readonly<Record<keyof ReplayOptions, Expectation>> => ({
  file: expected.required(expected.string),
  mode: expected.oneOf('strict', 'ordered'),
  // A tool that runs in between is not what was recorded.
  onMissing: {
    text: '"refuse", or "pass" with mode "ordered"',
    test: (value) => value === 'refuse' || (value === 'pass' && mode() === 'ordered'),
  },
  onUnused: {
    text: '"ignore", "throw" or a function',
    test: (value) => value === 'ignore' || value === 'throw' || typeof value === 'function',
  },
});

const ORDER: readonly OrderRule[] = [
  {
    insideOf: 'redaction',
    level: 'must',
    because: 'outside it, arguments are compared unmasked, and answers are given out as recorded',
  },
  {
    outsideOf: 'retry',
    level: 'must',
    because: 'inside it, every attempt would take an answer of its own',
  },
  {
    insideOf: 'consent',
    level: 'should',
    because: 'outside it, calls are answered without anybody being asked',
  },
  {
    insideOf: 'requiredReason',
    level: 'should',
    because: 'outside it, the reason is one of the arguments, and no call is the recorded one',
  },
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
