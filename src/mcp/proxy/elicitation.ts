/** A question about a call, as a form that the client shows to a person. */

import { oneLine } from '../../core/contract/errors.ts';
import {
  answerLabel,
  type ApprovalAnswer,
  type ApprovalQuestion,
} from '../../approvals/question.ts';
import { isObject } from '../../core/json/json.ts';
import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import type { Frame, Link } from './link.ts';
import { hasMembers, METHODS, objectAt, type WireMessage } from '../wire.ts';

/** Under which ours stands among the questions of a round. */
export const CONSENT_KEY = 'allium_consent';

/** Longer arguments are cut; the form says that the approval in the queue has them whole. */
const MAX_SHOWN = 4000;

/**
 * The form for one approval: `decision`, required, and `reason`, optional. No form asks for more.
 */
export function consentForm({ toolName, shown, options }: ApprovalQuestion): JsonObject {
  const { always: _onTheChoices, ...described } = shown; // `answerLabel` says what it covers.
  const text = oneLineJson(described);
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

/**
 * Only an answer that was accepted and says so allows; everything else is a no. `null` for what is
 * no answer at all. `by` is the name of the client.
 */
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

/**
 * Whether a client with these capabilities shows forms. `elicitation: {}` means forms, the only
 * kind in older revisions.
 */
export function canElicit({ elicitation }: JsonObject): boolean {
  return isObject(elicitation) && (isObject(elicitation.form) || elicitation.url === undefined);
}

/**
 * A server link that marks the questions of the server with the server's name, in requests and in
 * results. Other messages are unchanged: sampling and roots ask no person in our name.
 */
export const withMarkedQuestions = (server: Link): Link => ({
  ...server,
  start: (handlers) =>
    server.start({
      ...handlers,
      onFrame: (frame) => handlers.onFrame(asksSomething(frame) ? marked(frame, server) : frame),
    }),
});

/**
 * The prefix names the server as the host does: a name given by the server itself could be
 * misleading.
 */
function prefixFor({ from }: Frame, { name }: Link): string {
  const known = from ?? name;
  return `Asked by the server${known === undefined ? '' : ` "${oneText(known)}"`}, not by allium: `;
}

const questionsIn = (message: WireMessage): JsonObject =>
  objectAt(objectAt(message, 'result'), 'inputRequests');

const asksSomething = ({ message }: Frame): boolean =>
  message.method === METHODS.elicit || hasMembers(questionsIn(message));

function marked(frame: Frame, server: Link): Frame {
  const { message } = frame;
  const prefix = prefixFor(frame, server);
  if (message.method === METHODS.elicit) {
    const params = question(objectAt(message, 'params'), prefix);
    return { ...frame, message: { ...message, params } };
  }
  const inputRequests = Object.fromEntries(
    Object.entries(questionsIn(message)).map(([key, request]) => [
      key,
      inputRequest(request, prefix),
    ]),
  );
  const result = { ...objectAt(message, 'result'), inputRequests };
  return { ...frame, message: { ...message, result } };
}

function inputRequest(request: JsonValue, prefix: string): JsonValue {
  if (!isObject(request) || request.method !== METHODS.elicit) return request;
  return { ...request, params: question(objectAt(request, 'params'), prefix) };
}

function question(params: JsonObject, prefix: string): JsonObject {
  const text = typeof params.message === 'string' ? oneText(params.message) : '';
  const { requestedSchema } = params;
  const form =
    requestedSchema === undefined ? {} : { requestedSchema: shownOnOneLine(requestedSchema, '') };
  return { ...params, ...form, message: `${prefix}${text}` };
}

/** Members of a form that a person reads. */
const SHOWN: ReadonlySet<string> = new Set(['title', 'description', 'enumNames']);

function shownOnOneLine(value: JsonValue, name: string): JsonValue {
  if (typeof value === 'string') return SHOWN.has(name) ? oneText(value) : value;
  if (Array.isArray(value))
    return (value as readonly JsonValue[]).map((item) => shownOnOneLine(item, name));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, shownOnOneLine(member, key)]),
  );
}

/**
 * A new line could begin with words of ours, and characters that turn the direction of text could
 * hide the mark.
 */
const oneText = (text: string): string =>
  text.toWellFormed().replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ');
