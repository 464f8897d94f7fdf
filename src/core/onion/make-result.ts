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
import { oneLine } from '../contract/errors.ts';

export type ResultFields = Omit<
  ToolResult,
  typeof BRAND | 'renderedResult' | 'observation' | 'audit'
>;
export type LinkFields = Pick<
  ResultLink,
  'state' | 'call' | 'raise' | 'cause' | 'claim' | 'at' | 'rendered'
>;
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
): ToolResult =>
  build(
    fieldsOf(result, executed, executionDurationMs),
    linkOf(result),
    result.renderedResult,
    result.audit,
  );

/**
 * Field by field: every call passes here some times, and to spread what is frozen costs several
 * times as much.
 */
function fieldsOf(
  result: ToolResult,
  executed: Executed,
  executionDurationMs: number,
): ResultFields {
  const {
    ok: isOk,
    status,
    toolName,
    toolCallId,
    error,
    errorCategory,
    errorClass,
    executor,
    approval,
    outputFiles,
    interruption,
    metadata,
  } = result;
  return {
    ok: isOk,
    status,
    toolName,
    toolCallId,
    arguments: result.arguments,
    result: result.result,
    content: givenContent(result),
    error,
    errorCategory,
    errorClass,
    executor,
    executed,
    approval,
    outputFiles,
    executionDurationMs,
    interruption,
    metadata,
  } as ResultFields; // Absent members are undefined, as in every result.
}

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

/** Field by field: a spread would cost more than everything else a pass-through stack does. */
export function make(
  given: ToolCall,
  ending: ResultParts,
  cause: (() => unknown) | null = null,
  claim: Executed | null = null,
): ToolResult {
  const call = ownCall(given);
  const { state } = slotOf(call);
  const fields = {
    ok: ending.ok,
    status: ending.status,
    toolName: call.toolName,
    toolCallId: call.callId,
    arguments: call.toolArgs,
    result: ending.result,
    content: ending.content,
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
  } as ResultFields;
  return build(
    fields,
    { state, call, raise: null, cause, claim, at: null, rendered: true },
    undefined,
    state.audit,
  );
}

/** How long the executor has been at work, in whole milliseconds and more. */
export function runningMs({ clock, enteredAt }: Pass): number {
  const ms = clock.monotonic() - enteredAt;
  return ms < 1 ? 0 : ms;
}

/** The one literal every result is made of. */
export function build(
  fields: ResultFields,
  link: LinkFields,
  text: string | undefined,
  audit: AuditRecord | undefined,
): ToolResult {
  const renderedResult =
    text ?? (fields.ok ? renderContent(fields.content, fields.result) : (fields.error ?? ''));
  const derived = fields.content.length === 0;
  const { state, call, raise: code, cause, claim, at } = link;
  const rendered = text === undefined || link.rendered;
  const brand: ResultLink = {
    state,
    call,
    raise: code,
    cause,
    claim,
    at,
    derived,
    rendered,
    result: null,
  };
  const result = {
    ok: fields.ok,
    status: fields.status,
    toolName: fields.toolName,
    toolCallId: fields.toolCallId,
    arguments: fields.arguments,
    result: fields.result,
    content: derived ? textContent(renderedResult) : fields.content,
    renderedResult,
    observation: observe(fields, renderedResult),
    error: fields.error,
    errorCategory: fields.errorCategory,
    errorClass: fields.errorClass,
    executor: fields.executor,
    executed: fields.executed,
    approval: fields.approval,
    outputFiles: fields.outputFiles,
    executionDurationMs: fields.executionDurationMs,
    interruption: fields.interruption,
    metadata: fields.metadata,
    audit,
    [BRAND]: brand,
    // One shape for every result: absent members are undefined, which the type cannot say.
  } as ToolResult;
  brand.result = result;
  return Object.freeze(result);
}

/** The same texts, another wrapping. */
export function remake(
  result: ToolResult,
  changes: { link?: LinkFields; audit?: AuditRecord },
): ToolResult {
  const fields = fieldsOf(result, result.executed, result.executionDurationMs);
  return build(
    fields,
    changes.link ?? linkOf(result),
    result.renderedResult,
    changes.audit ?? result.audit,
  );
}

/** What a tool wrote cannot open or close a frame: lines of it that look like one are quoted. */
function observe(fields: ResultFields, text: string): string {
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
