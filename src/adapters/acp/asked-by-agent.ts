/** A permission that an ACP agent asks for, in our words, and our answer in its. */

import { createPass } from '../../core/onion/pass.ts';
import { APPROVAL_ANSWERS, type ApprovalAnswer } from '../../approvals/question.ts';
import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { createCall } from '../../core/onion/own-call.ts';
import { TOOL_KINDS, type ToolKind } from '../../core/contract/annotations.ts';
import { type JsonSchema, type CreateId, randomId } from '../../core/contract/call.ts';
import { hashCanonical } from '../../core/json/hash-canonical.ts';
import { isObject } from '../../core/json/json.ts';
import type { Interruption } from '../../core/contract/result.ts';
import type {
  FilesystemKind,
  PermissionRequest,
  ProposedRequest,
} from '../../permissions/permission.ts';
import { readClaim } from '../read-claim.ts';
import type { AcpPermissionOption, AcpPermissionResponse } from './protocol.ts';

/** What an agent asked for. All of it is the agent's own words. */
export interface AcpAsked {
  readonly sessionId: string;
  readonly toolCallId: string;
  /** The tool's name, or `acp_` and the kind where the agent does not say. */
  readonly toolName: string;
  readonly kind: ToolKind;
  readonly args: JsonObject;
  /** Files it says that it touches. */
  readonly locations: readonly string[];
  readonly options: readonly AcpPermissionOption[];
  /** The form that approvals have here. `shown` is everything that has to be shown. */
  readonly interruption: Interruption;
}

const text = { type: 'string', minLength: 1 };
const REQUEST: JsonSchema = Object.freeze({
  type: 'object',
  properties: {
    sessionId: text,
    toolCall: {
      type: 'object',
      properties: {
        toolCallId: text,
        title: { type: ['string', 'null'] },
        name: { type: ['string', 'null'], pattern: '^[A-Za-z0-9_.-]{1,128}$' },
        kind: { type: ['string', 'null'] },
        content: { type: ['array', 'null'], items: { type: 'object' } },
        locations: {
          type: ['array', 'null'],
          items: { type: 'object', properties: { path: text }, required: ['path'] },
        },
      },
      required: ['toolCallId'],
    },
    options: {
      type: 'array',
      minItems: 1,
      maxItems: 64,
      items: {
        type: 'object',
        properties: { optionId: text, name: { type: 'string' }, kind: { enum: APPROVAL_ANSWERS } },
        required: ['optionId', 'name', 'kind'],
      },
    },
  },
  required: ['sessionId', 'toolCall', 'options'],
});

/** What the schema lets through. */
interface Params {
  readonly sessionId: string;
  readonly toolCall: {
    readonly toolCallId: string;
    readonly title?: string | null;
    readonly name?: string | null;
    readonly kind?: string | null;
    readonly rawInput?: JsonValue;
    readonly content?: readonly JsonObject[] | null;
    readonly locations?: readonly { readonly path: string }[] | null;
  };
  readonly options: readonly AcpPermissionOption[];
}

/**
 * The params of a `session/request_permission` that came in. Never throws; answer what has a
 * problem with `toAcpResponse(null, null)`.
 */
export function fromAcpPermission(
  params: unknown,
  { createId = randomId }: { readonly createId?: CreateId } = {},
):
  | { readonly asked: AcpAsked; readonly problem: null }
  | { readonly asked: null; readonly problem: string } {
  const { value, problem } = readClaim(REQUEST, params);
  if (problem !== null) return { asked: null, problem };
  // The schema has just said so.
  const read = value as unknown as Params;
  const ids = new Set(read.options.map(({ optionId }) => optionId));
  if (ids.size < read.options.length)
    return { asked: null, problem: '/options has the same optionId twice' };
  return { asked: askedFrom(read, createId), problem: null };
}

function askedFrom({ sessionId, toolCall, options }: Params, createId: CreateId): AcpAsked {
  const { toolCallId, title, content } = toolCall;
  // A kind of a later version is none that a rule here could be about.
  const kind = TOOL_KINDS.find((known) => known === toolCall.kind) ?? 'other';
  const toolName = toolCall.name ?? `acp_${kind}`;
  const args = argsOf(toolCall.rawInput);
  const locations = (toolCall.locations ?? []).map(({ path }) => path);
  const shown: JsonObject = {
    toolName,
    kind,
    args,
    locations,
    ...(title == null ? {} : { title }),
    ...(content == null ? {} : { content }),
  };
  const interruption: Interruption = Object.freeze({
    kind: 'approval_required',
    id: `approval_${createId()}`,
    fingerprint: hashCanonical({ sessionId, toolCallId, shown }),
    shown,
    options: APPROVAL_ANSWERS.filter(
      (decision) => toAcpResponse({ options }, { decision }).outcome.outcome === 'selected',
    ),
  });
  return Object.freeze({
    sessionId,
    toolCallId,
    toolName,
    kind,
    args,
    locations,
    options,
    interruption,
  });
}

/** Arguments are an object here. Anything else is kept as one member, never left out. */
function argsOf(rawInput: JsonValue | undefined): JsonObject {
  if (rawInput == null) return {};
  return isObject(rawInput) ? rawInput : { rawInput };
}

/**
 * By kind of tool, what is done to the files it names. What moves a file removes it; whatever else
 * says nothing clear writes.
 */
const FILE_KINDS: Readonly<Partial<Record<ToolKind, FilesystemKind>>> = Object.freeze({
  read: 'filesystem.read',
  search: 'filesystem.list',
  delete: 'filesystem.delete',
  move: 'filesystem.delete',
});

/**
 * What a policy is asked about it: the `tool.call`, and one request for each file that the agent
 * names. An agent that names none hides them, so that a policy of paths can refuse here and never
 * be what allows: use these to refuse or to ask.
 */
export function permissionRequestsOf(
  asked: AcpAsked,
  { signal }: { readonly signal?: AbortSignal } = {},
): readonly PermissionRequest[] {
  const { sessionId, toolCallId, toolName, kind, args, locations } = asked;
  const call = createCall(
    {
      toolName,
      callId: toolCallId,
      toolArgs: args,
      declaredExecutor: null,
      schema: null,
      description: '',
      annotations: Object.freeze({ kind }),
      turn: Object.freeze({ iteration: 1, sessionId }),
      signal: signal ?? new AbortController().signal,
      report: () => {},
    },
    createPass(),
  );
  const files = locations.map(
    (path): ProposedRequest => ({ kind: FILE_KINDS[kind] ?? 'filesystem.edit', path }),
  );
  // A custom kind's fields are JSON, and a call is none: the compiler cannot join the two.
  return [{ kind: 'tool.call' } as const, ...files].map(
    (each) => Object.freeze({ ...each, toolName, callId: toolCallId, call }) as PermissionRequest,
  );
}

const cancelled = (): AcpPermissionResponse => ({ outcome: { outcome: 'cancelled' } });

/**
 * The answer in the agent's options, and never a wider one than was given: `allow_always` becomes
 * `allow_once` where the agent offers no such option or several, and `reject_always` a plain
 * rejection. What cannot be said so, an approval with other arguments, and `null` become
 * `cancelled`, on which no agent may go on.
 */
export function toAcpResponse(
  asked: Pick<AcpAsked, 'options'> | null,
  answer: ApprovalAnswer | null,
): AcpPermissionResponse {
  if (asked === null || answer === null) return cancelled();
  const { decision, args } = answer;
  const of = (kind: string): readonly AcpPermissionOption[] =>
    asked.options.filter((option) => option.kind === kind);
  const only = (kind: string): readonly AcpPermissionOption[] =>
    of(kind).length === 1 ? of(kind) : [];
  if (decision === 'allow_once')
    return args === undefined ? selected(only('allow_once')) : cancelled();
  if (decision === 'allow_always')
    return args === undefined
      ? selected([...only('allow_always'), ...only('allow_once')])
      : cancelled();
  if (decision === 'reject_always') return selected([...of('reject_always'), ...of('reject_once')]);
  return decision === 'reject_once' ? selected(of('reject_once')) : cancelled();
}

const selected = ([option]: readonly AcpPermissionOption[]): AcpPermissionResponse =>
  option === undefined
    ? cancelled()
    : { outcome: { outcome: 'selected', optionId: option.optionId } };
