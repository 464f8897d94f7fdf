/** A question about a call, as a form that the client shows to a person. */

import { oneLine } from '../core/errors.ts';
import { isObject, type JsonObject } from '../core/json.ts';
import { type ApprovalAnswer, answerLabel, type ApprovalQuestion } from '../index.ts';

/** Under which ours stands among the questions of a round. */
export const CONSENT_KEY = 'allium_consent';

/** Longer arguments are not read by anybody in a form; where they can be read is said. */
const MAX_SHOWN = 4000;

/** One required text, `decision`, with the answers there are, and a reason for whoever wants to give one. No form ever asks for more. */
export function consentForm({ toolName, shown, options }: ApprovalQuestion): JsonObject {
  const text = oneLineJson(shown);
  const cut =
    text.length > MAX_SHOWN
      ? `${text.slice(0, MAX_SHOWN)}… (${text.length - MAX_SHOWN} characters more; the approval in the queue has them all)`
      : text;
  return {
    message: `The agent wants to call ${oneLine(toolName)}: ${cut}`,
    requestedSchema: {
      type: 'object',
      properties: {
        decision: {
          type: 'string',
          title: 'Decision',
          description: 'What happens with this call',
          enum: [...options],
          enumNames: options.map((option) => answerLabel(option, shown)),
        },
        reason: {
          type: 'string',
          title: 'Reason',
          description: 'Why; the agent reads it where the call is refused',
          maxLength: MAX_REASON,
        },
      },
      required: ['decision'],
    },
  };
}

/** Text in the arguments must not look like text of ours. */
const oneLineJson = (shown: JsonObject): string =>
  JSON.stringify(shown)
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ');

const MAX_REASON = 1000;

/** Only an answer that was accepted and says so allows; everything else is a no. `null` for what is no answer at all. `by` is the name of the client. */
export function answerFrom(
  result: unknown,
  { options }: ApprovalQuestion,
  by: string,
): ApprovalAnswer | null {
  if (!isObject(result) || typeof result.action !== 'string') return null;
  const content = isObject(result.content) ? result.content : {};
  const decision =
    result.action === 'accept' ? options.find((option) => option === content.decision) : undefined;
  const reason =
    typeof content.reason === 'string' ? oneLine(content.reason).slice(0, MAX_REASON).trim() : '';
  return {
    decision: decision ?? 'reject_once',
    decidedBy: `${by}@form`,
    ...(reason === '' ? {} : { reason }),
  };
}

/** Whether a client that declares this can be shown a form. One that names no way of asking has forms, as before there were others. */
export function canElicit({ elicitation }: JsonObject): boolean {
  return isObject(elicitation) && (isObject(elicitation.form) || elicitation.url === undefined);
}
