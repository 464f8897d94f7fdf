/** A question that a server has for a person, and its answer. */

import { isObject, snapshotObject } from '../../core/json/json.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import type { Client, ElicitResult } from '@modelcontextprotocol/client';
import { describeThrown } from '../../core/contract/errors.ts';
import type { ReportProblem } from './problem.ts';
import { METHODS } from '../wire.ts';

/**
 * A form that a server wants filled in. All of it was written by the server: show whose it is, and
 * never type a password into it.
 */
export interface McpQuestion {
  readonly server: string;
  readonly message: string;
  /** A flat object of texts, numbers, flags and choices. */
  readonly schema: JsonObject;
  /** Aborts when the server no longer waits for the answer. */
  readonly signal: AbortSignal;
}

export type McpAnswer =
  | { readonly action: 'accept'; readonly content: JsonObject }
  | { readonly action: 'decline' | 'cancel' };
export type AskPerson = (question: McpQuestion) => McpAnswer | Promise<McpAnswer>;

/** Answers questions of the server through `ask`. What is no answer is a cancelled question. */
export function answerQuestions(
  client: Client,
  server: string,
  ask: AskPerson,
  report: ReportProblem,
): void {
  client.setRequestHandler(
    METHODS.elicit,
    async ({ params }, { mcpReq: { signal } }): Promise<ElicitResult> => {
      try {
        if (!('requestedSchema' in params)) return { action: 'decline' };
        const schema = snapshotObject(params.requestedSchema);
        const answer: unknown = await ask({ server, message: params.message, schema, signal });
        if (isAnswer(answer)) return answer;
        report('question_failed', 'onElicit answered with no answer');
      } catch (thrown) {
        report('question_failed', `onElicit failed: ${describeThrown(thrown)}`);
      }
      return { action: 'cancel' };
    },
  );
}

const isAnswer = (value: unknown): value is ElicitResult =>
  isObject(value) &&
  (value.action === 'accept'
    ? isObject(value.content)
    : value.action === 'decline' || value.action === 'cancel');
