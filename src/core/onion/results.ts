/** The public ways to make a result, and to change one. */

import { linkOf, slotOf } from './pass.ts';
import type { AuditPatch, EntryPatch } from '../contract/audit-record.ts';
import type { Content, ContentBlock } from '../contract/content.ts';
import { openCopy, snapshot, snapshotObject } from '../json/json.ts';
import { make, NO_CONTENT, remake, type ResultParts, withAudit } from './make-result.ts';
import { AlliumError, describeThrown, type ErrorCode, oneLine } from '../contract/errors.ts';
import { type ErrorClass, type Executed, statusRow, type ToolStatus } from '../contract/status.ts';
import { type ToolCall } from '../contract/call.ts';
import type { Interruption, ToolResult } from '../contract/result.ts';
import { isAbandoned } from './own-call.ts';
import { mergeAudit, mergeRecords, openAudit } from './audit.ts';

/** The tool ran and answered, or a layer answers in its place. */
export function ok(
  call: ToolCall,
  value?: unknown,
  options: { content?: readonly ContentBlock[]; status?: ToolStatus } = {},
): ToolResult {
  const status = options.status ?? 'ok';
  demandStatus(status, true);
  const result = value === undefined ? null : snapshot(value);
  const content = options.content === undefined ? NO_CONTENT : frozenContent(options.content);
  return make(call, {
    ok: true,
    status,
    result,
    content,
    error: null,
    errorCategory: null,
    errorClass: null,
  });
}

/**
 * The call is turned away, with a code in both `status` and `errorCategory` and a sentence for the
 * model.
 */
export function refuse(
  call: ToolCall,
  status: ToolStatus,
  message: string,
  options: { retryAfterMs?: number; interruption?: Interruption } = {},
): ToolResult {
  const ending: ResultParts = failed(
    status,
    message,
    status,
    statusRow(status)?.errorClass ?? null,
  );
  const { retryAfterMs, interruption } = options;
  if (retryAfterMs === undefined && interruption === undefined) return make(call, ending);
  return make(call, {
    ...ending,
    ...(interruption === undefined ? {} : { interruption: frozen(interruption) }),
    ...(retryAfterMs === undefined ? {} : { metadata: Object.freeze({ retryAfterMs }) }),
  });
}

export interface FailOptions {
  readonly category?: string;
  readonly errorClass?: ErrorClass;
  /** For executors that know whether the tool was reached. */
  readonly executed?: Executed;
}

/** Something broke. The cause stays with the host (`causeOf`); the model gets the message. */
export function fail(
  call: ToolCall,
  status: ToolStatus,
  cause: unknown,
  message?: string,
  options: FailOptions = {},
): ToolResult {
  const errorClass = options.errorClass ?? statusRow(status)?.errorClass ?? null;
  const ending = failed(
    status,
    message ?? describeThrown(cause),
    options.category ?? status,
    errorClass,
  );
  return make(call, ending, () => cause, options.executed ?? null);
}

export type ResultChanges = Partial<
  Pick<
    ToolResult,
    | 'ok'
    | 'status'
    | 'error'
    | 'errorCategory'
    | 'errorClass'
    | 'approval'
    | 'interruption'
    | 'outputFiles'
    | 'metadata'
    | 'executor'
    | 'content'
  >
> & { readonly result?: unknown; readonly renderedResult?: string; readonly arguments?: object };

/**
 * The same answer with other contents. Re-renders every text surface, so that no old text survives
 * in one of them. Which call it answers and what has run cannot be changed; a new status brings its
 * codes along, unless others are given.
 */
export function withResult(result: ToolResult, changes: ResultChanges): ToolResult {
  const { ok: isOk = result.ok, status = result.status } = changes;
  demandStatus(status, isOk);
  const ending = endingOf(isOk, status, result);
  return remake(result, {
    ok: isOk,
    status,
    arguments: changes.arguments === undefined ? undefined : snapshotObject(changes.arguments),
    result: changes.result === undefined ? undefined : snapshot(changes.result),
    content: changes.content === undefined ? undefined : frozenContent(changes.content),
    renderedResult: changes.renderedResult,
    error: changes.error === undefined ? ending.error : changes.error,
    errorCategory:
      changes.errorCategory === undefined ? ending.errorCategory : changes.errorCategory,
    errorClass: changes.errorClass === undefined ? ending.errorClass : changes.errorClass,
    executor: changes.executor,
    approval: frozen(changes.approval),
    outputFiles: frozen(changes.outputFiles),
    interruption: frozen(changes.interruption),
    metadata: frozen(changes.metadata),
  });
}

// A snapshot has the shape of what was copied.
const frozenContent = (content: readonly ContentBlock[]): Content =>
  snapshot(content) as unknown as Content;

const frozen = <T>(value: T): T => (value === undefined ? value : (snapshot(value) as T));

type ErrorParts = Pick<ToolResult, 'error' | 'errorCategory' | 'errorClass'>;
const NO_ERROR: ErrorParts = { error: null, errorCategory: null, errorClass: null };

/** What a changed result says of its error, unless that is changed too. */
function endingOf(isOk: boolean, status: ToolStatus, result: ToolResult): ErrorParts {
  if (isOk) return NO_ERROR;
  if (status === result.status) return result;
  const known = statusRow(status);
  return {
    error: result.error ?? known?.meaning ?? status,
    errorCategory: status,
    errorClass: known?.errorClass ?? null,
  };
}

/**
 * Adds to the audit record: `patch` to the record itself, `entry` to the line of the layer that
 * calls this. Inside an onion the record belongs to the call, so the result that comes back is the
 * one that went in.
 */
export function annotate(result: ToolResult, patch: AuditPatch, entry?: EntryPatch): ToolResult {
  const { state, call, at } = linkOf(result);
  if (!state.active)
    return remake(result, {
      audit: mergeRecords(result.audit ?? openAudit(call.annotations), patch),
    });
  const frame = at ?? slotOf(call).frame;
  // What an abandoned part of the call still has to say comes too late.
  if (isAbandoned(frame)) return result;
  // An executor writes from below the innermost layer and has no line of its own.
  const layer = at === null && frame?.sent === call ? null : frame;
  mergeAudit(state, patch, (frame === null ? 0 : frame.depth) + (layer === frame ? 0 : 1));
  if (entry !== undefined && layer !== null) {
    const said = openCopy(entry) as EntryPatch;
    layer.line = layer.line === null ? said : { ...layer.line, ...said };
  }
  return withAudit(result, state.audit);
}

/**
 * Marks a refusal so that it is thrown at the outer edge of the stack, after every outer layer has
 * seen it.
 */
export const raise = (result: ToolResult, code: ErrorCode = 'ERR_CALL_REFUSED'): ToolResult =>
  remake(result, {}, code);

/**
 * Whether text and content only write out the value, or the error, so that they are written anew
 * together with it.
 */
export const isRendered = (result: ToolResult): boolean =>
  linkOf(result).derived && linkOf(result).rendered;

/** The error behind a failed result, for the host's own logs. */
export const causeOf = (result: ToolResult): unknown => linkOf(result).cause?.();

function demandStatus(status: string, isOk: boolean): void {
  if (isOk && status === 'ok') return;
  const expected = statusRow(status)?.ok;
  if (typeof status === 'string' && status !== '' && (expected === undefined || expected === isOk))
    return;
  const name = typeof status === 'string' ? `"${oneLine(status)}"` : typeof status;
  throw new AlliumError(
    'ERR_INVALID_STATUS',
    `status ${name} cannot stand on a result that is ${isOk ? '' : 'not '}ok`,
    { status: name },
  );
}

function failed(
  status: ToolStatus,
  error: string,
  errorCategory: string,
  errorClass: ErrorClass | null,
): ResultParts {
  demandStatus(status, false);
  return { ok: false, status, result: null, content: NO_CONTENT, error, errorCategory, errorClass };
}
