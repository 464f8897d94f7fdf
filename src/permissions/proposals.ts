/**
 * What a tool says it is about to do, read strictly: what cannot be understood cannot be allowed.
 */

import type { JsonObject } from '../core/json/json-value.ts';
import { servicesOf } from '../approvals/consultation.ts';
import type { ToolCall } from '../core/contract/call.ts';
import { isObject, snapshot } from '../core/json/json.ts';
import { FILESYSTEM_KINDS, type PermissionRequest, type ProposedRequest } from './permission.ts';

/** More requests than these are a mistake, or made to be waved through unread. */
const MAX_REQUESTS = 1000;

/**
 * `tool.call`, then whatever the tool says. Throws where it cannot say, or says something that is
 * no request.
 */
export async function requestsOf(call: ToolCall): Promise<readonly PermissionRequest[]> {
  const proposed = snapshot((await servicesOf(call)?.proposalsOf(call)) ?? []);
  if (!Array.isArray(proposed) || proposed.length > MAX_REQUESTS)
    throw new Error('proposedRequests did not answer with a list of requests');
  return [{ kind: 'tool.call' } as const, ...proposed.map(readProposal)].map((request) =>
    requestOf(call, request),
  );
}

/** One request that a tool makes while it runs. Throws for what is no request. */
export const lateRequest = (call: ToolCall, proposed: unknown): PermissionRequest =>
  requestOf(call, readProposal(snapshot(proposed)));

/** Fields of a request that would stand for the call itself are the call's. */
const requestOf = (call: ToolCall, proposed: ProposedRequest): PermissionRequest =>
  // A custom request has members of any name, which its type cannot tell from these three.
  Object.freeze({
    ...proposed,
    toolName: call.toolName,
    callId: call.callId,
    call,
  } as PermissionRequest);

function readProposal(value: unknown): ProposedRequest {
  if (
    isObject(value) &&
    typeof value.kind === 'string' &&
    FITS.some(([kind, fits]) => kind.test(String(value.kind)) && fits(value))
  )
    return value as unknown as ProposedRequest; // Its fields were just looked at.
  throw new Error('proposedRequests answered with something that is no request');
}

/** Programs stop reading at a zero character: what was checked would not be what is used. */
const isText = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && !value.includes('\0');
const isTextOrEmpty = (value: unknown): boolean => value === '' || isText(value);
const isTextOrAbsent = (value: unknown): boolean => value === undefined || isText(value);
const isPort = (value: unknown): boolean =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65_535;
const only = (value: Record<string, unknown>, ...names: readonly string[]): boolean =>
  Object.keys(value).every((name) => name === 'kind' || names.includes(name));

const isEnvironment = (value: unknown): boolean =>
  value === undefined ||
  (isObject(value) &&
    Object.entries(value).every(([name, item]) => isVariable(name) && isTextOrEmpty(item)));
/** With `=` in its name it would be another variable. */
const isVariable = (name: string): boolean => isText(name) && !name.includes('=');
const isArgv = (value: unknown): boolean =>
  Array.isArray(value) && isText(value[0]) && value.every(isTextOrEmpty);
/** A rule of at most so much would let a negative amount pass. */
const isAmount = (value: unknown): boolean => Number.isFinite(value) && Number(value) >= 0;

/** An unknown field may be a misspelt one that matters. Only custom kinds say what they like. */
const FITS: readonly (readonly [RegExp, (value: Record<string, unknown>) => boolean])[] = [
  [
    new RegExp(`^(?:${FILESYSTEM_KINDS.join('|').replaceAll('.', '\\.')})$`),
    (value) =>
      isText(value.path) &&
      (value.kind === 'filesystem.move' ? isText(value.to) : value.to === undefined) &&
      only(value, 'path', 'to'),
  ],
  [
    /^process\.command$/,
    (value) =>
      (isText(value.command)
        ? value.argv === undefined
        : value.command === undefined && isArgv(value.argv)) &&
      isTextOrAbsent(value.cwd) &&
      isEnvironment(value.env) &&
      only(value, 'command', 'argv', 'cwd', 'env'),
  ],
  [
    /^network\.connect$/,
    ({ host, port, ...rest }) => isText(host) && (port === undefined || isPort(port)) && only(rest),
  ],
  [
    /^mcp\.(?:connect|invoke)$/,
    ({ server, tool, ...rest }) => isText(server) && isTextOrAbsent(tool) && only(rest),
  ],
  [
    /^payment$/,
    ({ amount, currency, ...rest }) => isAmount(amount) && isText(currency) && only(rest),
  ],
  [/^custom\.[A-Za-z0-9_.-]{1,128}$/, () => true],
];

/** The requests as a person may see them: without the call, which is shown beside them. */
export const shownRequests = (requests: readonly PermissionRequest[]): readonly JsonObject[] =>
  requests.flatMap(
    ({ call: _call, toolName: _toolName, callId: _callId, ...fields }) =>
      fields.kind === 'tool.call' ? [] : [snapshot(fields) as JsonObject], // An object stays one.
  );
