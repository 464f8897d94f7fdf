/**
 * Asks the redactor of a host, and believes nothing but the agreed form of an answer.
 */

import type { JsonObject, JsonValue } from '../core/json/json-value.ts';

export interface RedactionInput {
  /** `in`: before the tool runs. `out`: after it, or while it tells of its progress. */
  readonly phase: 'in' | 'out';
  readonly toolName: string;
  /** Already redacted in phase `out`. */
  readonly args: JsonObject;
  /** The structured value; `null` in phase `in`, and where there is none. */
  readonly result: JsonValue | null;
  /**
   * What the model would read, where that is more than the structured value written out: an error,
   * content blocks, progress.
   */
  readonly text: string | null;
}

export interface RedactionAnswer {
  readonly args?: object;
  readonly result?: unknown;
  readonly text?: string;
  /** Names or paths for the record. Never values. */
  readonly redactedFields?: readonly string[];
}

/**
 * What is absent from the answer stays as it is. Throwing, or answering in another form, withholds
 * everything.
 */
export type Redactor = (input: RedactionInput) => RedactionAnswer | Promise<RedactionAnswer>;

/** The caller left before the redactor answered. */
export const ABORTED: unique symbol = Symbol('aborted');

/**
 * The answer, or `ABORTED`. Throws for every other form of answer, and for whatever the redactor
 * throws.
 */
export async function askRedactor(
  redactor: Redactor,
  input: RedactionInput,
  signal: AbortSignal,
): Promise<RedactionAnswer | typeof ABORTED> {
  const answering: unknown = redactor(Object.freeze({ ...input }));
  const answer =
    answering instanceof Promise ? await unlessAborted(answering, signal) : await answering;
  return answer === ABORTED ? ABORTED : checkedAnswer(answer);
}

/** For texts that cannot wait: `null` where the answer is not there at once, or wrong. */
export function askAtOnce(redactor: Redactor, input: RedactionInput): string | null {
  try {
    const answering: unknown = redactor(Object.freeze({ ...input }));
    if (answering instanceof Promise) answering.catch(() => {});
    return checkedAnswer(answering).text ?? input.text;
  } catch {
    return null;
  }
}

/**
 * A redactor may hand its input back with changes, so its members are known too. Anything else is a
 * slip that hides nothing.
 */
const MEMBERS: ReadonlySet<string> = new Set([
  'args',
  'result',
  'text',
  'redactedFields',
  'phase',
  'toolName',
]);

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function checkedAnswer(answer: unknown): RedactionAnswer {
  if (
    !isRecord(answer) ||
    answer instanceof Promise ||
    !Object.keys(answer).every((name) => MEMBERS.has(name))
  )
    throw new Error('wrong form');
  // Read once: a getter could show one value to the check and another to the surface.
  const { args, result, text, redactedFields } = answer;
  if (args !== undefined && !isRecord(args)) throw new Error('wrong form of args');
  if (text !== undefined && text !== null && typeof text !== 'string')
    throw new Error('wrong form of text');
  if (redactedFields !== undefined && !isListOfNames(redactedFields))
    throw new Error('wrong form of redactedFields');
  return {
    ...(args === undefined ? {} : { args }),
    ...(result === undefined ? {} : { result }),
    ...(typeof text === 'string' ? { text } : {}),
    ...(redactedFields === undefined ? {} : { redactedFields: [...redactedFields] }),
  };
}

const isListOfNames = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((name) => typeof name === 'string');

async function unlessAborted(answering: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  let leave = () => {};
  const aborted = new Promise((resolve) => {
    leave = () => resolve(ABORTED);
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  });
  try {
    return await Promise.race([answering, aborted]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
