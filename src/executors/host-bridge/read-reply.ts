/**
 * How a call to a host ended, as an executor's answer or failure. The host is not believed to keep
 * to the protocol.
 */

import { match } from 'ts-pattern';
import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { isObject, snapshot } from '../../core/json/json.ts';
import type { ContentBlock } from '../../core/contract/content.ts';
import type { ErrorClass, Executed } from '../../core/contract/status.ts';
import { validateJson } from '../../tools/schema/validator.ts';
import { type FailureDetails, toolFailure, toolOutput } from '../../tools/tool.ts';
import type { TellProblem } from './problems.ts';
import { ANSWER_SCHEMA, NOT_CARRIED_OUT } from './protocol.ts';
import type { Reply } from './requests.ts';
import type { Unsent } from './wire.ts';

interface WireAnswer {
  readonly content?: readonly ContentBlock[];
  readonly structured_content?: JsonObject;
  readonly value?: JsonValue;
  readonly is_error?: boolean;
}

/** A plain value or a `toolOutput(…)`, or `null` where it is no answer. */
function readAnswer(result: unknown): { readonly output: unknown } | null {
  const answer = answerFrom(result);
  if (answer === null) return null;
  const {
    content,
    structured_content: structuredContent,
    value = null,
    is_error: isError = false,
  } = answer;
  if (content === undefined && structuredContent === undefined && !isError)
    return { output: value };
  const said = content ?? (isError && structuredContent === undefined ? [textOf(value)] : []);
  return {
    output: toolOutput({
      content: said,
      isError,
      ...(structuredContent === undefined ? {} : { structuredContent }),
    }),
  };
}

function answerFrom(result: unknown): WireAnswer | null {
  try {
    const answer = snapshot(result);
    // The schema has just said so.
    return validateJson(ANSWER_SCHEMA, answer).length === 0 ? (answer as WireAnswer) : null;
  } catch {
    return null;
  }
}

function textOf(value: JsonValue): ContentBlock {
  if (value === null) return { type: 'text', text: 'The tool reported an error.' };
  return { type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) };
}

const CATEGORY = /^[a-z][a-z0-9_]{0,63}$/;
const EXECUTED: readonly unknown[] = ['no', 'yes', 'unknown'] satisfies readonly Executed[];
const CLASSES: readonly unknown[] = [
  'retryable',
  'repairable',
  'fatal',
] satisfies readonly ErrorClass[];

/**
 * The failure that an error of JSON-RPC stands for. `data` may say what the host knows; what it
 * says wrongly counts as not said.
 */
function readFailure(error: unknown): Error {
  const { code, message, data } = isObject(error) ? error : {};
  const { category, executed, error_class: errorClass } = isObject(data) ? data : {};
  const guessed = NOT_CARRIED_OUT.has(code) ? 'no' : 'unknown';
  const details: FailureDetails = {
    category:
      typeof category === 'string' && CATEGORY.test(category) ? category : 'host_bridge_error',
    executed: EXECUTED.includes(executed) ? (executed as Executed) : guessed,
    ...(CLASSES.includes(errorClass) ? { errorClass: errorClass as ErrorClass } : {}),
  };
  return toolFailure(
    typeof message === 'string' && message !== '' ? message : 'The host reported an error.',
    details,
  );
}

/** The failure of a call that was answered in no form that an answer has. */
const unreadableAnswer = (): Error =>
  toolFailure(
    'The host answered in a form that cannot be read. The tool may have done its work; check before you try again.',
    { category: 'host_bridge_error', errorClass: 'fatal', executed: 'unknown' },
  );

const longAnswer = (maxLineBytes: number): Error =>
  toolFailure(
    `The host answered with more than ${maxLineBytes} bytes. The tool may have done its work. Ask for less at a time.`,
    { category: 'result_too_large', errorClass: 'repairable', executed: 'unknown' },
  );

/** The executor's answer, or what it throws. */
export function readReply(
  reply: Reply,
  { tell, maxLineBytes }: { tell: TellProblem; maxLineBytes: number },
): unknown {
  return match(reply)
    .with({ by: 'result' }, ({ result }) => {
      const answer = readAnswer(result);
      if (answer !== null) return answer.output;
      tell('bad_answer', 'the answer to a call does not have the form of one');
      throw unreadableAnswer();
    })
    .with({ by: 'error' }, ({ error }) => {
      throw readFailure(error);
    })
    .with({ by: 'unreadable_line' }, () => {
      throw unreadableAnswer();
    })
    .with({ by: 'line_too_long' }, () => {
      throw longAnswer(maxLineBytes);
    })
    .with({ by: 'lost' }, () => {
      throw lostCall();
    })
    .with({ by: 'unsent' }, ({ reason }) => {
      throw unsentCall(reason);
    })
    .exhaustive();
}

const lostCall = (): Error =>
  toolFailure(
    'The host that runs this tool went away. The tool may have done its work; check before you try again elsewhere.',
    { category: 'network', errorClass: 'fatal', executed: 'unknown' },
  );

const UNSENT: Readonly<
  Record<
    Unsent | 'withdrawn',
    readonly [message: string, category: string, errorClass: 'retryable' | 'repairable' | 'fatal']
  >
> = Object.freeze({
  closed: ['The host that runs this tool has gone. The call was not sent.', 'network', 'fatal'],
  withdrawn: ['The call was taken back before it was sent.', 'cancelled', 'fatal'],
  queue_full: [
    'The host that runs this tool does not keep up. The call was not sent; try again later.',
    'host_bridge_error',
    'retryable',
  ],
  line_too_long: [
    'The arguments are too large to be sent. Send less at a time.',
    'arguments_too_large',
    'repairable',
  ],
  not_json: ['The arguments cannot be sent: they are not JSON.', 'not_json', 'fatal'],
});

export function unsentCall(reason: Unsent | 'withdrawn'): Error {
  const [message, category, errorClass] = UNSENT[reason];
  return toolFailure(message, { category, errorClass, executed: 'no' });
}
