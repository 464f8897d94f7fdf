/** An approval of ours, asked through an ACP client. */

import type { JsonObject } from '../../core/json/json-value.ts';
import {
  answerLabel,
  APPROVAL_ANSWERS,
  type ApprovalAnswer,
  type ApprovalDecision,
  type ApprovalPrompt,
  type ApprovalQuestion,
} from '../../approvals/question.ts';
import type { ToolAnnotations } from '../../core/contract/annotations.ts';
import type { JsonSchema } from '../../core/contract/call.ts';
import { AlliumError } from '../../core/contract/errors.ts';
import type { Interruption } from '../../core/contract/result.ts';
import { readClaim } from '../read-claim.ts';
import {
  ACP_APPROVAL_KEY,
  type AcpMeta,
  type AcpPermissionOption,
  type AcpPermissionRequest,
  type AcpToolCall,
} from './protocol.ts';

/** Which call an approval is about. */
export interface AcpCall {
  /** The session of the protocol, which need not be called like the one of the call. */
  readonly sessionId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly annotations?: ToolAnnotations;
}

/**
 * The params of a `session/request_permission`. What was to be shown is in `rawInput` and
 * `content`, whole. Throws `ERR_INVALID_OPTION` for what cannot be asked so: an interruption that
 * waits for a login, or one without an answer that the protocol has.
 */
export function toAcpPermission(
  asked: Interruption | ApprovalQuestion,
  call: AcpCall,
): AcpPermissionRequest {
  if ('kind' in asked && asked.kind !== 'approval_required')
    throw notAsked('kind', 'approval_required');
  const options = APPROVAL_ANSWERS.filter((decision) => asked.options.includes(decision)).map(
    (decision) => optionFor(decision, asked.shown),
  );
  if (options.length === 0) throw notAsked('options', APPROVAL_ANSWERS.join(' | '));
  return {
    sessionId: call.sessionId,
    toolCall: toolCallOf(asked.shown, call),
    options,
    _meta: { [ACP_APPROVAL_KEY]: approvalOf(asked) },
  };
}

const notAsked = (option: string, wanted: string): AlliumError =>
  new AlliumError(
    'ERR_INVALID_OPTION',
    `toAcpPermission: "${option}" has nothing that ACP can ask for`,
    { option, expected: wanted },
  );

const optionFor = (decision: ApprovalDecision, shown: JsonObject): AcpPermissionOption => ({
  optionId: decision,
  name: visible(answerLabel(decision, shown)),
  kind: decision,
});

const approvalOf = ({ id, fingerprint, expiresAt }: Interruption | ApprovalQuestion): AcpMeta => ({
  id,
  fingerprint,
  ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
});

function toolCallOf(
  shown: JsonObject,
  { toolCallId, toolName, annotations = {} }: AcpCall,
): AcpToolCall {
  const { args = shown, toolName: _name, ...notes } = shown;
  const text =
    shown.args === undefined || Object.keys(notes).length === 0
      ? null
      : JSON.stringify(notes, null, 2).split('\n').map(visible).join('\n');
  return {
    toolCallId,
    // A tool chooses its own title: the name it goes by in every rule stands beside it.
    title: visible(
      annotations.title === undefined ? toolName : `${annotations.title} (${toolName})`,
    ),
    name: toolName,
    kind: annotations.kind ?? 'other',
    status: 'pending',
    rawInput: args,
    ...(text === null ? {} : { content: [{ type: 'content', content: { type: 'text', text } }] }),
  };
}

/** What would turn, break or hide text on a screen is shown as its number. */
const visible = (text: string): string =>
  text.replace(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    (letter) => `\\u${(letter.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );

const RESPONSE: JsonSchema = Object.freeze({
  type: 'object',
  properties: {
    outcome: {
      type: 'object',
      properties: { outcome: { const: 'selected' }, optionId: { type: 'string' } },
      required: ['outcome', 'optionId'],
    },
  },
  required: ['outcome'],
});

/**
 * What a person answered to a request, or `null` where nobody did: the turn was cancelled, the
 * option was not offered, the response is malformed. `null` is neither an approval nor a rejection;
 * a prompt that gives it leaves the word to others, and with none the call does not run. It trusts
 * the client to have asked somebody.
 */
export function fromAcpResponse(
  response: unknown,
  request: Pick<AcpPermissionRequest, 'options'>,
  { decidedBy }: { readonly decidedBy?: string } = {},
): ApprovalAnswer | null {
  const { value, problem } = readClaim(RESPONSE, response);
  if (problem !== null) return null;
  // The schema has just said so.
  const { outcome } = value as { readonly outcome: { readonly optionId: string } };
  const chosen = request.options.filter(({ optionId }) => optionId === outcome.optionId);
  const [option] = chosen;
  if (option === undefined || chosen.length > 1 || !APPROVAL_ANSWERS.includes(option.kind))
    return null;
  return { decision: option.kind, ...(decidedBy === undefined ? {} : { decidedBy }) };
}

/**
 * Sends a request to the client and gives back its response. `signal` aborts when the answer is no
 * longer wanted.
 */
export type AcpAsk = (request: AcpPermissionRequest, signal: AbortSignal) => Promise<unknown>;

/**
 * A channel to the person behind an ACP client, for `governTools({ prompts })`. A connection that
 * fails reaches nobody.
 */
export function acpPrompt(
  ask: AcpAsk,
  options: { readonly decidedBy?: string } = {},
): ApprovalPrompt {
  return async function acp(question) {
    const { turn, callId, toolName, annotations } = question;
    const request = toAcpPermission(question, {
      sessionId: turn.sessionId,
      toolCallId: callId,
      toolName,
      annotations,
    });
    return fromAcpResponse(await ask(request, question.signal), request, options);
  };
}
