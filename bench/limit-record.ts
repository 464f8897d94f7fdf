/**
 * What the limit says about a call: one list of lines, told as the audit record of the result, as
 * the text of the receipt and as spans. Times are numbers until they are told.
 */

import { asciiJson, isoTime, quoted } from './limit-parts.ts';
import type { Put } from './limit-receipts.ts';
import type { Found } from './limit-secrets.ts';
import type { Taken } from './limit-value.ts';

export interface Turn {
  readonly sessionId: string;
  readonly runId: string;
  readonly iteration: number;
  readonly model: string;
  readonly provider: string;
}

export interface ToolFacts {
  readonly name: string;
  readonly description: string;
  readonly kind: string;
  readonly hints: {
    readonly readOnly: boolean;
    readonly destructive: boolean;
    readonly idempotent: boolean;
    readonly openWorld: boolean;
  };
}

/** What the layers that count and wait are told. */
export interface Caps {
  readonly maxCalls: number;
  readonly timeoutMs: number;
}

/** Where a call ended on its way in, counted from the inside. */
export const RATE_LIMIT = 2;
export const IDEMPOTENCY = 3;
export const REQUIRED_REASON = 6;
export const CONSENT = 7;
export const SUMMARY = 8;
export const AUDIT_LOG = 10;

/** One call on its way, from the outermost layer in and back. */
export interface Pass {
  readonly id: string;
  readonly turn: Turn;
  readonly startMs: number;
  readonly startTick: number;
  decidedMs: number;
  toolMs: number;
  answeredMs: number;
  cleanedMs: number;
  endMs: number;
  durationMs: number;
  ranMs: number;
  /** The innermost layer it came to. */
  depth: number;
  blockedBy: string | null;
  requested: Taken;
  args: Readonly<Record<string, unknown>>;
  executed: Taken | null;
  hasRun: boolean;
  result: Taken | null;
  /** What the model reads: the result, or why there is none. */
  text: string;
  status: string;
  category: string | null;
  errorClass: string | null;
  approval: { readonly id: string; readonly fingerprint: string; readonly decision: string } | null;
  reason: string | null;
  idempotency: 'miss' | 'hit' | 'waited';
  isKept: boolean;
  count: number;
  /** The members that a handoff lacks. */
  invalidHandoff: readonly string[] | null;
  foundIn: Found | null;
  foundOut: Found | null;
  summary: string;
}

type Details = Readonly<Record<string, unknown>> | null;
type TellLine = (
  name: string,
  status: string,
  startMs: number,
  endMs: number,
  details: Details,
) => void;

/** The layers inside telemetry that the call came to, innermost first. */
export function tellLayers(pass: Pass, { maxCalls: cap, timeoutMs }: Caps, tell: TellLine): void {
  const { depth, status, count, idempotency, startMs, decidedMs, toolMs } = pass;
  const { answeredMs, cleanedMs, isKept, invalidHandoff: fields, approval } = pass;
  if (pass.blockedBy === 'admission') tell('admission', status, startMs, cleanedMs, null);
  if (depth <= 0) {
    const limit = status === 'timeout' ? { limitMs: timeoutMs } : null;
    tell('timeout', status, toolMs, answeredMs, limit);
    tell('dryRun', status, toolMs, answeredMs, null);
  }
  if (depth <= RATE_LIMIT) {
    const taken = status === 'rate_limited' ? 'blocked' : 'ok';
    tell('rateLimit', taken, toolMs, answeredMs, { count, cap });
  }
  if (depth <= IDEMPOTENCY) {
    const miss = idempotency === 'miss' ? { kept: isKept } : null;
    tell('idempotency', idempotency, decidedMs, answeredMs, miss);
    const handoff = fields === null ? null : { fields };
    tell('handoffArtifact', fields === null ? status : 'invalid', decidedMs, answeredMs, handoff);
    tell('redaction', status, decidedMs, cleanedMs, foundIn(pass));
  }
  if (depth <= REQUIRED_REASON) {
    const said = depth === REQUIRED_REASON ? 'rejected' : status;
    tell('requiredReason', said, decidedMs, cleanedMs, null);
  }
  if (depth <= CONSENT) tell('consent', approval?.decision ?? '', startMs, cleanedMs, DECIDED_BY);
  if (depth <= SUMMARY) tell('summary', status, startMs, cleanedMs, null);
}

const DECIDED_BY = Object.freeze({ decidedBy: 'decide' });

function foundIn({ foundIn: into, foundOut: out }: Pass): Details {
  if (into === null && out === null) return null;
  const found: Record<string, number> = { ...into?.labels };
  for (const [label, count] of Object.entries(out?.labels ?? {}))
    found[label] = (found[label] ?? 0) + count;
  return Object.keys(found).length === 0 ? null : { found };
}

/** Where something was hidden; `null` where nothing was. */
function metadataOf({ foundIn: into, foundOut: out }: Pass) {
  const [redactedIn, redactedOut] = [into?.paths ?? NO_PATHS, out?.paths ?? NO_PATHS];
  return redactedIn.length + redactedOut.length === 0 ? null : { redactedIn, redactedOut };
}

const NO_PATHS: readonly string[] = Object.freeze([]);

/** Which layers changed the arguments that the tool got. */
function rewritesOf({ foundIn: into }: Pass): typeof REWRITES {
  const paths = into?.paths ?? NO_PATHS;
  if (paths.length === 0) return REWRITES;
  return [...REWRITES, { layer: 'redaction', paths }];
}

const REWRITES: readonly { readonly layer: string; readonly paths: readonly string[] }[] = [
  Object.freeze({ layer: 'requiredReason', paths: Object.freeze(['reason']) }),
];
Object.freeze(REWRITES);

const isReasonMissing = (pass: Pass): boolean => pass.blockedBy === 'requiredReason';
const wasRun = (pass: Pass): string =>
  pass.hasRun ? (pass.status === 'ok' ? 'yes' : 'unknown') : 'no';

/** The answer, frozen like everything in it. */
export function resultOf(pass: Pass, tool: ToolFacts, caps: Caps, receiptUri: string): object {
  const { approval: asked, status, text } = pass;
  const { name } = tool;
  const isOk = status === 'ok';
  const consent =
    asked === null
      ? null
      : { decision: asked.decision, decidedBy: 'decide', decidedAt: isoTime(pass.decidedMs) };
  const approval =
    asked === null || consent === null
      ? null
      : Object.freeze({ id: asked.id, fingerprint: asked.fingerprint, ...consent });
  return Object.freeze({
    ok: isOk,
    status,
    toolName: name,
    toolCallId: pass.id,
    arguments: pass.args,
    result: pass.result?.value ?? null,
    content: Object.freeze([Object.freeze({ type: 'text', text })]),
    renderedResult: text,
    observation: observationOf(pass, name),
    error: isOk ? null : text,
    errorCategory: pass.category,
    errorClass: pass.errorClass,
    executor: 'local',
    executed: wasRun(pass),
    approval,
    outputFiles: NO_FILES,
    executionDurationMs: pass.ranMs,
    interruption: undefined,
    metadata: undefined,
    audit: auditOf(pass, tool, caps, { consent, receiptUri }),
  });
}

const NO_FILES = Object.freeze([]);

function observationOf({ status, text, hasRun }: Pass, name: string): string {
  if (status === 'ok') return `[result of ${name}]\n${text}\n[end of ${name} result]\n`;
  return hasRun
    ? `[error from ${name}]\n${text}\n[end of ${name} error]\n`
    : `[blocked: ${name} — ${status}]`;
}

function auditOf(
  pass: Pass,
  { kind, hints }: ToolFacts,
  caps: Caps,
  { consent, receiptUri }: { readonly consent: object | null; readonly receiptUri: string },
): object {
  const layers: object[] = [];
  const tell: TellLine = (name, status, startMs, endMs, details) => {
    const [startedAt, endedAt] = [isoTime(startMs), isoTime(endMs)];
    layers.push(
      details === null
        ? { name, status, startedAt, endedAt }
        : { status, ...freezeMembers(details), name, startedAt, endedAt },
    );
  };
  tellLayers(pass, caps, tell);
  tell('telemetry', pass.status, pass.startMs, pass.endMs, null);
  tell('auditLog', pass.status, pass.startMs, pass.endMs, null);
  const audit: Record<string, unknown> = { kind, hints, layers: Object.freeze(layers) };
  if (pass.hasRun) audit.rewrites = freezeDeep(rewritesOf(pass));
  const metadata = metadataOf(pass);
  if (metadata !== null) audit.metadata = freezeDeep(metadata);
  if (isReasonMissing(pass)) audit.reasonMissing = true;
  audit.summary = pass.summary;
  if (pass.reason !== null) audit.reason = pass.reason;
  if (consent !== null) audit.consent = Object.freeze(consent);
  audit.receiptUri = receiptUri;
  return Object.freeze(audit);
}

const freezeMembers = (details: object): object => {
  for (const member of Object.values(details)) freezeDeep(member);
  return details;
};

/** For what is rare; what every call has is frozen where it is made. */
function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) freezeDeep(member);
  return Object.freeze(value);
}

/** Puts the receipt as it is written, without its closing brace. */
export function putReceipt(pass: Pass, tool: ToolFacts, caps: Caps, uri: string, put: Put): void {
  const { turn, requested, executed, approval, result, blockedBy } = pass;
  const isApproved = approval !== null && pass.depth < CONSENT;
  const ran = pass.hasRun ? (executed?.hash ?? null) : null;
  put('{"schema_version":1,"record":"receipt","session_id":');
  put(quoted(turn.sessionId));
  put(',"run_id":');
  put(quoted(turn.runId));
  put(',"tool_call_id":');
  put(quoted(pass.id));
  put(',"tool_name":');
  put(quoted(tool.name));
  put(`,"iteration":${turn.iteration},"turn_index":${turn.iteration - 1},"emit_order":0,"reason":`);
  put(quoted(pass.reason ?? pass.summary));
  put(',"kind":');
  put(quoted(tool.kind));
  put(',"executor":"local","status":');
  put(quoted(pass.status));
  put(',"error_category":');
  put(textOr(pass.category));
  put(',"executed":');
  put(quoted(wasRun(pass)));
  put(',"blocked_by":');
  put(textOr(blockedBy));
  put(`,"duration_ms":${Math.round(pass.durationMs * 1000) / 1000},"requested_hash":`);
  put(quoted(requested.hash));
  put(',"approved_hash":');
  put(textOr(isApproved ? requested.hash : null));
  put(',"executed_hash":');
  put(textOr(ran));
  put(',"args_hash":');
  put(quoted(requested.hash));
  put(',"result_hash":');
  put(textOr(result?.hash ?? null));
  put(',"model":');
  put(quoted(turn.model));
  put(',"provider":');
  put(quoted(turn.provider));
  putAudit(pass, tool, caps, uri, put);
  put(',"emitted_at":"');
  put(isoTime(pass.endMs));
  put('"');
}

const textOr = (text: string | null): string => (text === null ? 'null' : quoted(text));

function putAudit(pass: Pass, { kind, hints }: ToolFacts, caps: Caps, uri: string, put: Put): void {
  const { approval, reason } = pass;
  const { readOnly, destructive, idempotent, openWorld } = hints;
  put(',"audit":{"kind":');
  put(quoted(kind));
  put(`,"hints":{"read_only":${readOnly},"destructive":${destructive}`);
  put(`,"idempotent":${idempotent},"open_world":${openWorld}},"layers":[`);
  putLayers(pass, caps, put);
  put(']');
  if (pass.hasRun) {
    put(',"rewrites":');
    put(rewritesText(pass));
  }
  const metadata = metadataOf(pass);
  if (metadata !== null) {
    const { redactedIn, redactedOut } = metadata;
    const members = { redacted_in: redactedIn, redacted_out: redactedOut };
    put(`,"metadata":${asciiJson(members)}`);
  }
  if (isReasonMissing(pass)) put(',"reason_missing":true');
  put(',"summary":');
  put(quoted(pass.summary));
  if (reason !== null) {
    put(',"reason":');
    put(quoted(reason));
  }
  if (approval !== null) {
    put(',"consent":{"decision":');
    put(quoted(approval.decision));
    put(',"decided_by":"decide","decided_at":"');
    put(isoTime(pass.decidedMs));
    put('"}');
  }
  put(',"receipt_uri":');
  put(quoted(uri));
  put('}');
}

function putLayers(pass: Pass, caps: Caps, put: Put): void {
  const tell: TellLine = (name, status, startMs, endMs, details) => {
    put('{"name":"');
    put(name);
    put('","status":"');
    put(status);
    put('"');
    if (details !== null) put(detailsText(details));
    put(',"started_at":"');
    put(isoTime(startMs));
    put('","ended_at":"');
    put(isoTime(endMs));
    put(name === 'telemetry' ? '"}' : '"},');
  };
  tellLayers(pass, caps, tell);
  tell('telemetry', pass.status, pass.startMs, pass.endMs, null);
}

const REWRITES_TEXT = JSON.stringify(REWRITES);

function rewritesText(pass: Pass): string {
  const rewrites = rewritesOf(pass);
  return rewrites === REWRITES ? REWRITES_TEXT : asciiJson(rewrites);
}

/** Names in receipts where they are not those in memory. */
const WIRE_NAMES = new Map([
  ['decidedBy', 'decided_by'],
  ['limitMs', 'limit_ms'],
]);

function detailsText(details: object): string {
  if (details === DECIDED_BY) return ',"decided_by":"decide"';
  let text = '';
  for (const [name, value] of Object.entries(details)) {
    const said = typeof value === 'number' ? String(value) : asciiJson(value);
    text += `,"${WIRE_NAMES.get(name) ?? name}":${said}`;
  }
  return text;
}
