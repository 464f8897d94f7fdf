/** Questions of a server to a person, marked as the server's: they must not look like the questions of the stack. */

import { isObject, type JsonObject, type JsonValue } from '../core/json.ts';
import type { Frame, Link } from './link.ts';
import { objectAt, type WireMessage } from './wire.ts';

const QUESTION = 'elicitation/create';

/**
 * The link of a server whose questions say whose they are, as requests and inside of results. Every other message is as it came: what a server
 * wants of a model (sampling) and of the file system (roots) is put to no person in our name.
 */
export const withMarkedQuestions = (server: Link): Link => ({
  ...server,
  start: (handlers) =>
    server.start({
      ...handlers,
      onFrame: (frame) =>
        handlers.onFrame({ ...frame, message: marked(frame.message, prefixFor(frame, server)) }),
    }),
});

/** Only the host's own name for a server is told: what a server calls itself may be anything. */
function prefixFor({ from }: Frame, { name }: Link): string {
  const known = from ?? name;
  return `Asked by the server${known === undefined ? '' : ` "${oneText(known)}"`}, not by allium: `;
}

function marked(message: WireMessage, prefix: string): WireMessage {
  if (message.method === QUESTION)
    return { ...message, params: question(objectAt(message, 'params'), prefix) };
  const result = objectAt(message, 'result');
  const asked = objectAt(result, 'inputRequests');
  if (Object.keys(asked).length === 0) return message;
  const inputRequests = Object.fromEntries(
    Object.entries(asked).map(([key, request]) => [key, inputRequest(request, prefix)]),
  );
  return { ...message, result: { ...result, inputRequests } };
}

function inputRequest(request: JsonValue, prefix: string): JsonValue {
  if (!isObject(request) || request.method !== QUESTION) return request;
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

/** A new line could begin with words of ours, and characters that turn the direction of text could hide the mark. */
const oneText = (text: string): string =>
  text.toWellFormed().replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ');
