/**
 * Asks at a terminal. What is shown there cannot forge lines, hide characters or move the cursor.
 */

import type { Readable, Writable } from 'node:stream';
import {
  answerLabel,
  type ApprovalAnswer,
  type ApprovalDecision,
  type ApprovalPrompt,
  type ApprovalQuestion,
} from '../approvals/question.ts';
import { checkOptions, expected } from '../core/contract/options.ts';
import type { JsonObject } from '../core/json/json-value.ts';
import { linkAbort } from '../core/time/abort.ts';
import { plainLine } from './plain-text.ts';
import { describeQuestion } from './describe-question.ts';

export interface TerminalPromptOptions {
  /** Where keys come from. @default standard input */
  readonly input?: Readable;
  /**
   * Where the question is written. @default standard error, so that what a program prints stays
   * clean
   */
  readonly output?: Writable;
  /** Who sits there, for the record. @default 'terminalPrompt' */
  readonly decidedBy?: string;
  /** How much of one text among the arguments is shown; the rest is counted. @default 400 */
  readonly maxTextLength?: number;
  /** How much of all arguments is shown, in lines; the rest is counted. @default 60 */
  readonly maxLines?: number;
}

/** What can be chosen: an answer, or one for always that leaves the arguments open. */
type Choice = ApprovalDecision | 'allow_any' | 'reject_any';

/**
 * A channel to the person at the terminal; one question after another. `null` where there is no
 * terminal: input that comes from a pipe is never read as an answer. Rejecting is preselected, so
 * that a key pressed too early approves nothing; Ctrl-C, Escape and the end of the input reject.
 */
export function terminalPrompt(options: TerminalPromptOptions = {}): ApprovalPrompt {
  checkOptions('terminalPrompt', options, {
    input: expected.object,
    output: expected.object,
    decidedBy: expected.string,
    maxTextLength: expected.integer(1),
    maxLines: expected.integer(1),
  });
  const {
    input = process.stdin,
    output = process.stderr,
    decidedBy = 'terminalPrompt',
    maxTextLength = 400,
    maxLines = 60,
  } = options;
  return async function terminalPrompt(question) {
    if (!isTerminal(input) || !isTerminal(output)) return null;
    return inTurn(input, async () => {
      if (question.signal.aborted) return null;
      output.write(
        describeQuestion(question, { maxTextLength, maxLines, columns: columnsOf(output) }),
      );
      const decision = await choose(question, input, output);
      return decision === null ? null : answerOf(decision, decidedBy);
    });
  };
}

/** Who was last to ask at a terminal. Two prompts for one terminal wait for each other too. */
const queues = new WeakMap<object, Promise<unknown>>();

function inTurn<T>(terminal: object, work: () => Promise<T>): Promise<T> {
  const mine = (queues.get(terminal) ?? Promise.resolve()).then(work);
  queues.set(
    terminal,
    mine.catch(() => {}),
  );
  return mine;
}

const isTerminal = (stream: object): boolean => 'isTTY' in stream && stream.isTTY === true;

const columnsOf = (stream: object): number =>
  'columns' in stream && typeof stream.columns === 'number' && stream.columns > 0
    ? stream.columns
    : 80;

function answerOf(choice: Choice | 'left', decidedBy: string): ApprovalAnswer {
  if (choice === 'left')
    return { decision: 'reject_once', decidedBy, reason: 'the question was left unanswered' };
  if (choice === 'allow_any') return { decision: 'allow_always', decidedBy, anyArguments: true };
  return choice === 'reject_any'
    ? { decision: 'reject_always', decidedBy, anyArguments: true }
    : { decision: choice, decidedBy };
}

/** Rejecting is always possible: what is preselected must be in the list, or the first entry is. */
function offered({
  options,
  shown,
}: ApprovalQuestion): readonly { readonly value: Choice; readonly label: string }[] {
  const label = (value: ApprovalDecision) => ({
    value,
    label: plainLine(answerLabel(value, shown)),
  });
  const open = anyArgumentsIn(shown);
  return [...new Set<ApprovalDecision>([...options, 'reject_once'])].flatMap(
    (option): { value: Choice; label: string }[] => {
      if (open === null || (option !== 'allow_always' && option !== 'reject_always'))
        return [label(option)];
      const wider =
        option === 'allow_always'
          ? { value: 'allow_any' as const, label: plainLine(`Allow always: ${open}`) }
          : { value: 'reject_any' as const, label: plainLine(`Reject always: ${open}`) };
      return [label(option), wider];
    },
  );
}

/** What an answer with the arguments left open covers, where the question says so. */
const anyArgumentsIn = ({ always }: JsonObject): string | null =>
  typeof always === 'object' &&
  always !== null &&
  'anyArguments' in always &&
  typeof always.anyArguments === 'string'
    ? always.anyArguments
    : null;

/**
 * What was chosen, `left` for a person who left the question, `null` for a question that is no
 * longer open.
 */
async function choose(
  question: ApprovalQuestion,
  input: Readable,
  output: Writable,
): Promise<Choice | 'left' | null> {
  const { select, isCancel } = await import('@clack/prompts');
  // A signal of its own: aborted after the answer, the prompt would take the terminal away from
  // whoever uses it next.
  const link = linkAbort(question.signal);
  const leave = () => link.abort();
  const onKey = (_text: unknown, key?: { readonly ctrl?: boolean; readonly name?: string }) => {
    // Ctrl-D ends the line reader, and the prompt would wait for keys for ever.
    if (key?.ctrl === true && key.name === 'd') leave();
  };
  input.once('end', leave).once('close', leave).on('keypress', onKey);
  try {
    const chosen = await select<Choice>({
      message: 'Allow this call?',
      options: [...offered(question)],
      initialValue: 'reject_once',
      input,
      output,
      signal: link.signal,
    });
    if (question.signal.aborted) return null;
    return isCancel(chosen) ? 'left' : chosen;
  } finally {
    input.off('end', leave).off('close', leave).off('keypress', onKey);
    link.unlink();
  }
}
