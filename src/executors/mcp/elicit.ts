/** Answers for a server that has a question for a person. */

import type { Client, ElicitResult } from '@modelcontextprotocol/client';
import { describeThrown } from '../../core/errors.ts';
import { isObject, snapshotObject } from '../../core/json.ts';
import type { ReportProblem } from './problem.ts';
import type { AskPerson } from './question.ts';

/** Answers questions of the server through `ask`. What is no answer is a cancelled question. */
export function answerQuestions(
  client: Client,
  server: string,
  ask: AskPerson,
  report: ReportProblem,
): void {
  client.setRequestHandler(
    'elicitation/create',
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
