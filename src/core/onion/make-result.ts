/** How results are put together. Only this file makes one; everything public goes through it. */

import { type ToolCall } from '../contract/call.ts';
import { BRAND, type OutputFileRef, type ToolResult } from '../contract/result.ts';
import type { AuditRecord } from '../contract/audit-record.ts';
import { ownCall } from './own-call.ts';
import { type Content, renderContent } from '../contract/content.ts';
import { nameInFrame, quoteFrames } from '../contract/voice.ts';
import { type Pass, linkIn, linkOf, type ResultLink, slotOf } from './pass.ts';
import type { Executed } from '../contract/status.ts';
import { freezeParsed } from '../json/json.ts';
import { type ErrorCode, oneLine } from '../contract/errors.ts';

/** A result while it is put together: its texts come last. */
type Draft = { -readonly [Name in keyof Omit<ToolResult, typeof BRAND>]: ToolResult[Name] };

/** What may be changed on a result. A member that is absent or undefined stays as it is. */
export type Changes = { readonly [Name in keyof Draft]?: Draft[Name] | undefined };

/** The part of a result that says how it went; the rest is taken from the call. */
export type ResultParts = Pick<
  ToolResult,
  | 'ok'
  | 'status'
  | 'result'
  | 'content'
  | 'error'
  | 'errorCategory'
  | 'errorClass'
  | 'interruption'
  | 'metadata'
>;

/** What the framework itself writes on a result. */
export const stamp = (
  result: ToolResult,
  executed: Executed,
  executionDurationMs = result.executionDurationMs,
): ToolResult => remake(result, { executed, executionDurationMs });

/** The result with the call's record, for results that were built before there was one. */
export const withAudit = (result: ToolResult, audit: AuditRecord | undefined): ToolResult =>
  audit === undefined || result.audit === audit ? result : remake(result, { audit });

/** Whether a value is a result made here, and for this call. */
export function isResultOf(value: unknown, state: Pass): value is ToolResult {
  return isResult(value) && linkOf(value).state === state;
}

export function isResult(value: unknown): value is ToolResult {
  // A hostile proxy throws on every touch, and so may what it answers with.
  try {
    return typeof value === 'object' && value !== null && linkIn(value)?.result === value;
  } catch {
    return false;
  }
}

/** A snapshot, so that it is not copied where a result is changed. */
const NO_FILES: readonly OutputFileRef[] = freezeParsed([]);
/** No blocks were given: the text stands for them. */
export const NO_CONTENT: Content = Object.freeze([]);

const textContent = (text: string): Content =>
  Object.freeze([Object.freeze({ type: 'text', text } as const)]);

/** The blocks that tool or layer gave, without those that only repeat the text. */
export const givenContent = (result: ToolResult): Content =>
  linkOf(result).derived ? NO_CONTENT : result.content;

/** A result of a call. `make` and `remake` write the same members in the same order: one shape. */
export function make(
  given: ToolCall,
  ending: ResultParts,
  cause: (() => unknown) | null = null,
  claim: Executed | null = null,
): ToolResult {
  const call = ownCall(given);
  const { state } = slotOf(call);
  // Member by member: a spread would cost more than everything else a pass-through stack does.
  const draft = {
    ok: ending.ok,
    status: ending.status,
    toolName: call.toolName,
    toolCallId: call.callId,
    arguments: call.toolArgs,
    result: ending.result,
    content: ending.content,
    renderedResult: '',
    observation: '',
    error: ending.error,
    errorCategory: ending.errorCategory,
    errorClass: ending.errorClass,
    executor: call.declaredExecutor,
    executed: state.running ? (claim ?? 'yes') : state.executed,
    approval: null,
    outputFiles: NO_FILES,
    executionDurationMs: state.running ? runningMs(state) : 0,
    interruption: ending.interruption,
    metadata: ending.metadata,
    audit: state.audit,
    [BRAND]: NO_LINK,
  } as Draft; // Absent members are undefined, which the type cannot say.
  const link: ResultLink = {
    state,
    call,
    raise: null,
    cause,
    claim,
    at: null,
    derived: false,
    rendered: true,
    result: null,
  };
  return sealed(draft, link, null);
}

/**
 * The same answer with changes, and with the texts it had where they still say the same. A text
 * that a layer set stays until what it stands for changes: redrawn, it would show what was hidden.
 */
export function remake(
  result: ToolResult,
  changes: Changes,
  raised: ErrorCode | null = linkOf(result).raise,
): ToolResult {
  const { state, call, cause, claim, at, derived, rendered } = linkOf(result);
  const draft = {
    ok: given(changes.ok, result.ok),
    status: given(changes.status, result.status),
    toolName: result.toolName,
    toolCallId: result.toolCallId,
    arguments: given(changes.arguments, result.arguments),
    result: given(changes.result, result.result),
    content: given(changes.content, derived ? NO_CONTENT : result.content),
    renderedResult: '',
    observation: '',
    error: given(changes.error, result.error),
    errorCategory: given(changes.errorCategory, result.errorCategory),
    errorClass: given(changes.errorClass, result.errorClass),
    executor: given(changes.executor, result.executor),
    executed: given(changes.executed, result.executed),
    approval: given(changes.approval, result.approval),
    outputFiles: given(changes.outputFiles, result.outputFiles),
    executionDurationMs: given(changes.executionDurationMs, result.executionDurationMs),
    interruption: given(changes.interruption, result.interruption),
    metadata: given(changes.metadata, result.metadata),
    audit: given(changes.audit, result.audit),
    [BRAND]: NO_LINK,
  } as Draft; // Absent members are undefined, which the type cannot say.
  const isStale =
    draft.ok !== result.ok ||
    draft.error !== result.error ||
    changes.result !== undefined ||
    changes.content !== undefined;
  const link: ResultLink = {
    state,
    call,
    raise: raised,
    cause,
    claim,
    at,
    derived,
    rendered: changes.renderedResult === undefined && (isStale || rendered),
    result: null,
  };
  return sealed(draft, link, changes.renderedResult ?? (isStale ? null : result.renderedResult));
}

const given = <T>(change: T | undefined, otherwise: T): T =>
  change === undefined ? otherwise : change;

/** How long the executor has been at work, in whole milliseconds and more. */
export function runningMs({ clock, enteredAt }: Pass): number {
  const ms = clock.monotonic() - enteredAt;
  return ms < 1 ? 0 : ms;
}

/** Writes the texts, or keeps `text`, ties the result to its call, and freezes it. */
function sealed(draft: Draft, link: ResultLink, text: string | null): ToolResult {
  const renderedResult =
    text ?? (draft.ok ? renderContent(draft.content, draft.result) : (draft.error ?? ''));
  link.derived = draft.content.length === 0;
  if (link.derived) draft.content = textContent(renderedResult);
  draft.renderedResult = renderedResult;
  draft.observation = observe(draft, renderedResult);
  const result = draft as ToolResult; // The brand, which only this file can write, comes next.
  (result as { [BRAND]: object })[BRAND] = link;
  link.result = result;
  return Object.freeze(result);
}

/** Holds the place of the link in the shape of a draft. */
const NO_LINK = Object.freeze({});

/** What a tool wrote cannot open or close a frame: lines of it that look like one are quoted. */
function observe(fields: Draft, text: string): string {
  const name = nameInFrame(oneLine(fields.toolName));
  if (!fields.ok && fields.executed === 'no' && fields.errorCategory === fields.status)
    return `[blocked: ${name} — ${nameInFrame(oneLine(fields.status))}]`;
  const quoted = lastQuoted.text === text ? lastQuoted.quoted : quoteFrames(text);
  if (quoted !== lastQuoted.quoted) lastQuoted = { text, quoted };
  return fields.ok
    ? `[result of ${name}]\n${quoted}\n[end of ${name} result]\n`
    : `[error from ${name}]\n${quoted}\n[end of ${name} error]\n`;
}

/** A result is built several times with the same text on its way out. */
let lastQuoted = { text: '', quoted: '' };
