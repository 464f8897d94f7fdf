/**
 * The honest limit: what one careful person would write who needs exactly the captain stack, around
 * one tool, and never has to add, leave out or reorder a layer. Nothing in it comes from the
 * package; ajv and the OpenTelemetry API are used as any program uses them. It leaves the same
 * results, records, receipts and spans behind, also for calls that are turned away, which is proven
 * before it is measured (`limit-proof.ts`). README.md says what it does not do.
 */

import { randomUUID } from 'node:crypto';
import { context } from '@opentelemetry/api';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { answerBook, deadlines } from './limit-parts.ts';
import { openChain } from './limit-receipts.ts';
import {
  AUDIT_LOG,
  CONSENT,
  IDEMPOTENCY,
  type Pass,
  RATE_LIMIT,
  putReceipt,
  REQUIRED_REASON,
  resultOf,
  SUMMARY,
  type ToolFacts,
  type Turn,
} from './limit-record.ts';
import { cleanText, cleanValue, type Found } from './limit-secrets.ts';
import { endSpan, openSpan } from './limit-span.ts';
import { isSuspectText, NotJson, type Taken, walker } from './limit-value.ts';

export interface LimitOptions {
  readonly tool: ToolFacts & {
    readonly inputSchema: {
      readonly properties: Readonly<Record<string, object>>;
      readonly required: readonly string[];
    };
    readonly execute: (args: never, context: LimitContext) => unknown;
  };
  readonly session: string;
  readonly folder: string;
  readonly key: { readonly id: string; readonly secret: string };
  readonly decide: (args: Readonly<Record<string, unknown>>) => string | Promise<string>;
  readonly summarize: (toolName: string, status: string) => string;
  readonly maxCalls: number;
  readonly timeoutMs: number;
  readonly graceMs: number;
}

/** What a tool is told beside its arguments. */
export interface LimitContext {
  readonly callId: string;
  readonly turn: Turn;
  readonly signal: AbortSignal;
}

type Args = Readonly<Record<string, unknown>>;
interface Answer {
  readonly taken: Taken;
  readonly text: string;
}

const MAX_ANSWERS = 256;
const ANSWER_MS = 600_000;
const REASON = { type: 'string', description: 'Brief one-line reason for invoking this tool' };

/** What outlives a call. */
type Kept = ReturnType<typeof keptFor>;

function keptFor(options: LimitOptions) {
  const { tool, session, maxCalls, timeoutMs, graceMs } = options;
  const { inputSchema: schema } = tool;
  const ajv = new Ajv2020({ allErrors: true, verbose: true, strict: false });
  const { take, ofText } = walker(options.key);
  return {
    tool,
    decide: options.decide,
    summarize: options.summarize,
    caps: { maxCalls, timeoutMs },
    fitsOwn: ajv.compile(schema),
    fitsShown: ajv.compile({
      ...schema,
      properties: { ...schema.properties, reason: REASON },
      required: [...schema.required, 'reason'],
    }),
    take,
    ofText,
    definition: take({ schema, description: tool.description }).hash,
    nothing: take({}),
    chain: openChain<Pass>(options.folder, session, (pass, uri, put) =>
      putReceipt(pass, tool, { maxCalls, timeoutMs }, uri, put),
    ),
    answers: answerBook<Answer>(MAX_ANSWERS, ANSWER_MS),
    times: deadlines(timeoutMs, graceMs),
    count: 0,
  };
}

export function createLimit(options: LimitOptions) {
  const kept = keptFor(options);
  return {
    call: (id: string, args: unknown, turn: Turn): Promise<object> => call(kept, id, args, turn),
    publicKey: kept.chain.publicKey,
    flush: () => kept.chain.flush(),
    close: async (): Promise<void> => {
      kept.times.close();
      await kept.chain.close();
    },
  };
}

/** auditLog, telemetry and summary: what sees every call. */
async function call(kept: Kept, id: string, given: unknown, turn: Turn): Promise<object> {
  const { tool, caps, chain } = kept;
  const pass = newPass(id, turn, kept.nothing);
  const open = openSpan(pass, tool);
  const problem = admit(kept, pass, given);
  if (chain.failure() !== null) refuse(pass, AUDIT_LOG, 'auditLog', unrecorded(tool.name));
  else if (problem !== null) refuse(pass, SUMMARY, 'admission', notAccepted(tool.name, problem));
  else if (open.isRecording) await context.with(open.own, () => decided(kept, pass));
  else await decided(kept, pass);
  pass.cleanedMs = Date.now();
  const line = kept.summarize(tool.name, pass.status).trim().replace(/\s+/g, ' ');
  pass.summary = isSuspectText(line) ? cleanText(line, newFound()) : line;
  pass.endMs = Date.now();
  pass.durationMs = performance.now() - pass.startTick;
  if (open.isRecording) endSpan(open, pass, caps);
  return resultOf(pass, tool, caps, chain.append(pass));
}

/** Reads the arguments and checks them against what the model was shown. */
function admit(kept: Kept, pass: Pass, given: unknown): string | null {
  const { fitsShown } = kept;
  try {
    const value: unknown = typeof given === 'string' ? JSON.parse(given) : given;
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return `the arguments must be a JSON object, got ${kindOf(value)}`;
    pass.requested = kept.take(value);
    pass.args = pass.requested.value as Args; // An object, as was seen above.
  } catch (error) {
    return error instanceof NotJson ? error.message : BAD_JSON;
  }
  return fitsShown(pass.args) ? null : problemsIn(fitsShown.errors);
}

/** consent, requiredReason and the way in of redaction. */
async function decided(kept: Kept, pass: Pass): Promise<void> {
  const { tool, definition } = kept;
  const { requested, args, turn } = pass;
  const approvalId = `approval_${randomUUID()}`;
  const fingerprint = kept.ofText(`${definition} ${turn.sessionId} ${pass.id} ${requested.hash}`);
  const answer = kept.decide(args);
  const decision = typeof answer === 'string' ? answer : await answer;
  pass.decidedMs = pass.toolMs = pass.answeredMs = Date.now();
  pass.approval = { id: approvalId, fingerprint, decision };
  if (decision !== 'auto' && decision !== 'approved')
    return refuse(pass, CONSENT, 'consent', denied(tool.name));
  const { reason, ...rest } = args;
  if (typeof reason !== 'string' || reason.trim() === '')
    return refuse(pass, REQUIRED_REASON, 'requiredReason', reasonless(tool.name));
  const said = reason.trim().toWellFormed();
  const { isSuspect } = requested;
  pass.reason = isSuspect && isSuspectText(said) ? cleanText(said, newFound()) : said;
  const clean = isSuspect ? cleanValue(rest, '', '', (pass.foundIn = newFound())) : rest;
  const executed = kept.take(clean);
  pass.executed = executed;
  pass.args = executed.value as Args; // Without a member, an object stays one.
  await answered(kept, pass, executed);
}

/** idempotency, and the way out of handoffArtifact and redaction. */
async function answered(kept: Kept, pass: Pass, { hash }: Taken): Promise<void> {
  const { answers } = kept;
  const key = `${pass.turn.sessionId} ${hash}`;
  pass.idempotency = 'hit';
  let entry = answers.find(key, pass.decidedMs);
  while (entry !== null && entry.answer === null) {
    pass.idempotency = 'waited';
    await answers.settled(entry);
    entry = answers.find(key, Date.now());
  }
  let answer = entry?.answer ?? null;
  if (answer === null) {
    const begun = answers.begin(key);
    pass.idempotency = 'miss';
    answer = await ran(kept, pass);
    pass.isKept = answer !== null;
    answers.settle(begun, answer, pass.answeredMs);
  } else pass.depth = IDEMPOTENCY;
  if (answer === null) return;
  handOver(pass, answer.taken.value);
  const { taken } = answer;
  const value = taken.isSuspect ? cleanOut(pass, taken.value) : taken.value;
  pass.result = value === taken.value ? taken : kept.take(value);
  pass.text = value === taken.value ? answer.text : textOf(value);
}

/** rateLimit, dryRun, timeout and the tool; `null` when there is no answer to be kept. */
async function ran(kept: Kept, pass: Pass): Promise<Answer | null> {
  const { tool, caps, fitsOwn } = kept;
  if (kept.count >= caps.maxCalls) return limited(kept, pass);
  kept.count += 1;
  pass.count = kept.count;
  // dryRun: asked for no tool. What is shown to the tool fits its own schema, or it does not run.
  if (!fitsOwn(pass.args)) {
    refuse(pass, 0, 'admission', notAccepted(tool.name, problemsIn(fitsOwn.errors)));
    return null;
  }
  const own = contextFor(pass);
  pass.toolMs = Date.now();
  const startTick = performance.now();
  // The tool's schema has been checked.
  const outcome = await kept.times.run(
    () => tool.execute(pass.args as never, own),
    () => own.stop(),
  );
  pass.ranMs = performance.now() - startTick;
  pass.answeredMs = Date.now();
  pass.hasRun = true;
  if (outcome === null) return late(kept, pass);
  if ('thrown' in outcome) return threw(pass, outcome.thrown);
  try {
    const taken = kept.take(outcome.value ?? null);
    return { taken, text: textOf(taken.value) };
  } catch (error) {
    return threw(pass, error);
  }
}

function limited({ tool, caps, count }: Kept, pass: Pass): null {
  pass.count = count;
  const message = `rate limit exceeded (cap: ${caps.maxCalls}, count: ${count}).`;
  const advice = `Do not call ${tool.name} again.`;
  const ending = { status: 'rate_limited', errorClass: 'fatal', message: `${message} ${advice}` };
  refuse(pass, RATE_LIMIT, 'rateLimit', ending);
  return null;
}

function late({ tool, caps }: Kept, pass: Pass): null {
  const message = `${tool.name} did not answer in time (limit: ${caps.timeoutMs} ms).`;
  const advice = 'It may have done its work; check before you try again.';
  end(pass, 'timeout', 'retryable', `${message} ${advice}`);
  return null;
}

function threw(pass: Pass, thrown: unknown): null {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const found = newFound();
  const clean = isSuspectText(message) ? cleanText(message, found) : message;
  if (clean !== message) pass.foundOut = { ...found, paths: ['error'] };
  end(pass, 'executor_error', 'repairable', clean);
  pass.category = 'exception';
  return null;
}

const BAD_JSON = 'the arguments are not valid JSON; send one complete JSON object';

function newPass(id: string, turn: Turn, nothing: Taken): Pass {
  const startMs = Date.now();
  return {
    id,
    turn,
    startMs,
    startTick: performance.now(),
    decidedMs: startMs,
    toolMs: startMs,
    answeredMs: startMs,
    cleanedMs: startMs,
    endMs: startMs,
    durationMs: 0,
    ranMs: 0,
    depth: 0,
    blockedBy: null,
    requested: nothing,
    args: nothing.value as Args, // An object, taken above.
    executed: null,
    hasRun: false,
    result: null,
    text: '',
    status: 'ok',
    category: null,
    errorClass: null,
    approval: null,
    reason: null,
    idempotency: 'miss',
    isKept: false,
    count: 0,
    invalidHandoff: null,
    foundIn: null,
    foundOut: null,
    summary: '',
  };
}

/** What a tool is told, and how it is stopped. */
interface OwnContext extends LimitContext {
  callId: string;
  turn: Turn;
  controller: AbortController | null;
  isLate: boolean;
  stop(): void;
}

/** The signal is made only for tools that read it. */
const CONTEXT: ThisType<OwnContext> & Pick<OwnContext, 'signal' | 'stop'> = {
  get signal() {
    this.controller ??= new AbortController();
    if (this.isLate) this.controller.abort();
    return this.controller.signal;
  },
  stop() {
    this.isLate = true;
    this.controller?.abort();
  },
};

function contextFor({ id, turn }: Pass): OwnContext {
  const own = Object.create(CONTEXT) as OwnContext; // Its other members come now.
  own.callId = id;
  own.turn = turn;
  own.controller = null;
  own.isLate = false;
  return own;
}

interface Refusal {
  readonly status: string;
  readonly errorClass: string;
  readonly message: string;
}

const notAccepted = (tool: string, problem: string): Refusal => ({
  status: 'schema_violation',
  errorClass: 'repairable',
  message: `The arguments of ${tool} were not accepted: ${problem}. Correct them and call again.`,
});

const reasonless = (tool: string): Refusal => ({
  status: 'schema_violation',
  errorClass: 'repairable',
  message:
    `${tool} was not called: it takes a "reason" that says in one line why you call it.` +
    ' Add it and call again.',
});

const denied = (tool: string): Refusal => ({
  status: 'consent_denied',
  errorClass: 'fatal',
  message: `${tool} was not approved. Do not repeat the call unchanged.`,
});

const unrecorded = (tool: string): Refusal => ({
  status: 'audit_unavailable',
  errorClass: 'retryable',
  message: `${tool} was not called: calls cannot be recorded at the moment. Try again later.`,
});

/** Ends a call in the layer that turns it away. */
function refuse(
  pass: Pass,
  depth: number,
  layer: string,
  { status, errorClass, message }: Refusal,
): void {
  pass.depth = depth;
  pass.blockedBy = layer;
  end(pass, status, errorClass, message);
}

function end(pass: Pass, status: string, errorClass: string, message: string): void {
  pass.status = status;
  pass.category = status;
  pass.errorClass = errorClass;
  pass.text = message;
}

const newFound = (): Found => ({ labels: {}, paths: [] });
const cleanOut = (pass: Pass, value: unknown): unknown =>
  cleanValue(value, '', '', (pass.foundOut = newFound()));

/** Looks for a handoff. The limit has no use for one and only says what one lacks. */
function handOver(pass: Pass, value: unknown): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  const { __handoff, handoff } = value as { readonly __handoff?: unknown; handoff?: unknown };
  const payload = __handoff ?? handoff;
  if (typeof payload !== 'object' || payload === null) return;
  const missing = HANDOFF_FIELDS.filter((field) => !Object.hasOwn(payload, field));
  if (missing.length === 0) throw new Error('the limit hands nothing over');
  pass.invalidHandoff = Object.freeze(missing);
}

const HANDOFF_FIELDS = ['sourcePersona', 'targetPersonaOrHuman', 'task', 'reason'];

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/** What ajv found, as far as the limit's schemas can say it, in words for a model. */
const problemsIn = (errors: ErrorObject[] | null | undefined): string =>
  (errors ?? [])
    .map(({ keyword, instancePath, params, message, data }) => {
      if (keyword === 'required')
        return `${instancePath}/${String(params.missingProperty)} is required but missing`;
      const got = keyword === 'type' ? `, got ${typeOf(data)}` : '';
      return `${instancePath} ${message ?? 'does not fit'}${got}`;
    })
    .join('; ');

const typeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
const kindOf = (value: unknown): string => (Array.isArray(value) ? 'a list' : `a ${typeof value}`);
