/**
 * JSON-RPC messages as the proxy reads them: only what it has to know is looked at, everything else
 * is carried along.
 */

import type { JsonObject, JsonValue } from '../core/json/json-value.ts';
import { isObject } from '../core/json/json.ts';
import type { RefusedMessage } from '../core/wire/json-rpc.ts';

/** The longest message that is read: what the SDK takes at most, too. */
export const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;
/** The same for a line without its newline. */
export const MAX_LINE_BYTES = MAX_MESSAGE_BYTES - 1;

export type RequestId = string | number;

/** A message that was parsed and is an object. Whoever reads a member of it checks what it is. */
export type WireMessage = JsonObject;

export type Kind = 'request' | 'notification' | 'response';

/** What sort of message it is, or `null` for what is none. */
export function kindOf(message: WireMessage): Kind | null {
  if (message.jsonrpc !== '2.0') return null;
  if (typeof message.method === 'string')
    return 'id' in message ? (isRequestId(message.id) ? 'request' : null) : 'notification';
  return isRequestId(message.id) && ('result' in message || 'error' in message) ? 'response' : null;
}

/** Empty for an answer. */
export const methodOf = ({ method }: WireMessage): string =>
  typeof method === 'string' ? method : '';

export const isRequestId = (value: unknown): value is RequestId =>
  typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value));

/** `1` and `"1"` are two ids. */
export const idKey = (id: RequestId): string => (typeof id === 'number' ? `n${id}` : `s${id}`);

/** A member that should be an object, and is an empty one where it is anything else. */
export const objectAt = (holder: JsonObject, name: string): JsonObject => {
  const value = Object.hasOwn(holder, name) ? holder[name] : undefined;
  return isObject(value) ? value : NOTHING;
};

const NOTHING: JsonObject = Object.freeze({});

export function hasMembers(object: JsonObject): boolean {
  for (const name in object) if (Object.hasOwn(object, name)) return true;
  return false;
}

export const paramsOf = (message: WireMessage): JsonObject => objectAt(message, 'params');
export const metaOf = (message: WireMessage): JsonObject => objectAt(paramsOf(message), '_meta');

/** The methods that are looked at here, by the names they have on the wire. */
export const METHODS = Object.freeze({
  initialize: 'initialize',
  discover: 'server/discover',
  ping: 'ping',
  listTools: 'tools/list',
  callTool: 'tools/call',
  listPrompts: 'prompts/list',
  getPrompt: 'prompts/get',
  listResources: 'resources/list',
  listTemplates: 'resources/templates/list',
  readResource: 'resources/read',
  subscribe: 'resources/subscribe',
  unsubscribe: 'resources/unsubscribe',
  complete: 'completion/complete',
  listen: 'subscriptions/listen',
  setLevel: 'logging/setLevel',
  elicit: 'elicitation/create',
  getTask: 'tasks/get',
  updateTask: 'tasks/update',
  cancelTask: 'tasks/cancel',
  initialized: 'notifications/initialized',
  cancelled: 'notifications/cancelled',
  progress: 'notifications/progress',
  logged: 'notifications/message',
  toolsChanged: 'notifications/tools/list_changed',
  rootsChanged: 'notifications/roots/list_changed',
  resourceUpdated: 'notifications/resources/updated',
  acknowledged: 'notifications/subscriptions/acknowledged',
} as const);

/** JSON-RPC's own codes, and the one for a connection that is gone. */
export const CODES = Object.freeze({
  parse: -32_700,
  invalidRequest: -32_600,
  noMethod: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
});

/** An answer without the id of what it answers. */
export type Answer = { readonly result: JsonValue } | { readonly error: JsonObject };

/** An answer on its way, under the id that its request has there. */
export const answerMessage = (id: RequestId | null, answer: Answer): WireMessage =>
  'error' in answer
    ? { jsonrpc: '2.0', id, error: answer.error }
    : { jsonrpc: '2.0', id, result: answer.result };
export const errorAnswer = (code: number, message: string): Answer => ({
  error: { code, message },
});
export const resultMessage = (id: RequestId, result: JsonValue): WireMessage =>
  answerMessage(id, { result });
export const errorMessage = (id: RequestId | null, code: number, message: string): WireMessage =>
  answerMessage(id, errorAnswer(code, message));
/**
 * The side that waits for an answer that was refused is told so; `null` for what is no answer, or
 * of which nobody knows whose it is.
 */
export const answerInstead = ({ problem, id, isAnswer }: RefusedMessage): WireMessage | null =>
  isAnswer && id !== undefined
    ? errorMessage(id, CODES.internal, `allium refused the answer: it holds ${problem}`)
    : null;
/** Whoever sent something that goes nowhere is told what is wrong with it. */
export const refusalMessage = (problem: string, id?: RequestId): WireMessage =>
  errorMessage(
    id ?? null,
    id === undefined ? CODES.parse : CODES.invalidRequest,
    `allium was sent ${problem}`,
  );
export const requestMessage = (id: RequestId, method: string, params?: JsonObject): WireMessage =>
  params === undefined ? { jsonrpc: '2.0', id, method } : { jsonrpc: '2.0', id, method, params };
export const notificationMessage = (method: string, params: JsonObject): WireMessage => ({
  jsonrpc: '2.0',
  method,
  params,
});

/**
 * The revision that a request says it speaks; only those from 2026-07-28 on say so in every
 * request.
 */
export const modernVersionOf = (message: WireMessage): string | null =>
  modernVersionIn(metaOf(message));

/** The same from the `_meta` of a request. */
export function modernVersionIn(meta: JsonObject): string | null {
  const version = meta['io.modelcontextprotocol/protocolVersion'];
  return typeof version === 'string' ? version : null;
}
