/**
 * The captain stack as one function: what is left when nobody has to be able to add, leave out or reorder a layer. It scans,
 * hashes, traces and records with the same parts and hands out the same answer; it knows its tool, its options and that
 * nothing goes wrong. That is what layers are measured against.
 */

import { randomUUID } from 'node:crypto';
import { context } from '@opentelemetry/api';
import {
  canonicalJson,
  hashCanonical,
  type JsonObject,
  type ToolCall,
  type ToolResult,
  withCall,
} from 'allium';
import { createReceipt } from 'allium/receipts';
import { LRUCache } from 'lru-cache';
import {
  callWith,
  type Governed,
  RATE,
  receiptFiles,
  searchOrders,
  SESSION,
  TIMEOUT_MS,
  TOOL,
} from './stack-scenario.ts';
import {
  endSpan,
  fieldsOf,
  fingerprintOf,
  hashed,
  isoTime,
  type Line,
  lineOf,
  loadScan,
  openSpan,
  type Said,
  type Scan,
} from './stack-parts.ts';

const HINTS = Object.freeze({
  readOnly: true,
  destructive: false,
  idempotent: false,
  openWorld: true,
});
const REWRITES = Object.freeze([
  Object.freeze({ layer: 'requiredReason', paths: Object.freeze(['reason']) }),
]);

/** What outlives a call. */
interface Kept {
  readonly scan: Scan;
  readonly answers: LRUCache<string, JsonObject>;
  count: number;
}

export async function handStack(): Promise<Governed & { readonly folder: string }> {
  const { folder, sink, remove } = receiptFiles();
  const kept: Kept = {
    scan: await loadScan(),
    answers: new LRUCache({ max: 256, ttl: 600_000 }),
    count: 0,
  };
  const call = async (args: JsonObject): Promise<unknown> => {
    const given = callWith(args);
    const [auditAt, startTick] = [Date.now(), performance.now()];
    await sink.ready(SESSION);
    const telemetryAt = Date.now();
    const open = openSpan(given.callId);
    const ran = await context.with(open.own, () => decided(given, kept));
    const { said, lines, result, approval } = ran;
    const requestedHash = hashed(given.toolArgs);
    endSpan(open, requestedHash, lines);
    lines.push(lineOf('telemetry', 'ok', telemetryAt, Date.now()));
    const hashes = {
      requestedHash,
      executedHash: hashed(ran.args),
      resultHash: hashed(result.result),
    };
    const durationMs = performance.now() - startTick;
    const fields = fieldsOf({ callId: given.callId, ...hashes, durationMs, said });
    const audit = {
      kind: 'search',
      hints: HINTS,
      layers: lines,
      rewrites: REWRITES,
      summary: said.summary,
      reason: said.reason,
      consent: said.consent,
    };
    const build = (place: string) =>
      createReceipt(fields, { audit, uri: place, emittedMs: Date.now() });
    const { uri, kept: written } = sink.append(SESSION, build, 'background');
    written.catch(() => {});
    lines.push(lineOf('auditLog', 'ok', auditAt, Date.now()));
    return answer(result, approval, Object.freeze({ ...audit, receiptUri: uri }));
  };
  return { name: 'one function', folder, call, flush: () => sink.flush(), close: remove };
}

interface Ran {
  readonly result: ToolResult;
  readonly args: JsonObject;
  readonly lines: Line[];
}

/** From the summary to the tool and back. */
async function decided(
  call: ToolCall,
  kept: Kept,
): Promise<Ran & { readonly said: Said; readonly approval: object }> {
  const { scan } = kept;
  const [summaryAt, consentAt] = [Date.now(), Date.now()];
  const id = `approval_${randomUUID()}`;
  const { toolArgs, callId } = call;
  const fingerprint = fingerprintOf(toolArgs, callId);
  const decision = await decide();
  const decidedAt = isoTime(Date.now());
  const reasonAt = Date.now();
  const { reason: given, ...rest } = toolArgs;
  const reason = scan.text(String(given).trim().toWellFormed());
  const redactionAt = Date.now();
  const [args = {}] = (scan.surfacesNow([rest]) ?? (await scan.surfaces([rest])))
    .values as readonly JsonObject[]; // A cleaned object is an object.
  const ran = await answered(withCall(call, { toolArgs: args }), kept);
  const { result, content, renderedResult } = ran.result;
  const surfaces = [result, content as unknown as JsonObject[], renderedResult]; // Content blocks are JSON.
  if (scan.surfacesNow(surfaces) === null) await scan.surfaces(surfaces);
  const { lines } = ran;
  lines.push(
    lineOf('redaction', 'ok', redactionAt, Date.now()),
    lineOf('requiredReason', 'ok', reasonAt, Date.now()),
  );
  const decidedBy = scan.text('decide');
  lines.push(lineOf('consent', decision, consentAt, Date.now(), { decidedBy }));
  const summary = scan.text(`${TOOL}: ${ran.result.status}`);
  lines.push(lineOf('summary', 'ok', summaryAt, Date.now()));
  const consent = Object.freeze({ decision, decidedBy, decidedAt });
  return {
    ...ran,
    said: { layers: lines, summary, reason, consent },
    approval: Object.freeze({ id, fingerprint, ...consent }),
  };
}

const decide = async (): Promise<'auto'> => 'auto';

/** From the handoff to the tool and back. */
async function answered(call: ToolCall, kept: Kept): Promise<Ran> {
  const { answers } = kept;
  const handoffAt = Date.now();
  const idempotencyAt = Date.now();
  const key = hashCanonical(['cache', SESSION, TOOL, canonicalJson(call.toolArgs)]);
  if (answers.has(key)) throw new Error('the benchmark repeats a call');
  const rateAt = Date.now();
  if (kept.count >= RATE.maxCalls) throw new Error('the benchmark ran into its own limit');
  kept.count += 1;
  const { count } = kept;
  const dryAt = Date.now();
  const timeoutAt = Date.now();
  const result = await withinTime(call);
  const lines = [
    lineOf('timeout', 'ok', timeoutAt, Date.now()),
    lineOf('dryRun', 'ok', dryAt, Date.now()),
  ];
  lines.push(lineOf('rateLimit', 'ok', rateAt, Date.now(), { count, cap: RATE.maxCalls }));
  const { result: value, content, renderedResult } = result;
  answers.set(
    key,
    Object.freeze({
      result: value,
      content: content as unknown as JsonObject[],
      text: renderedResult,
    }),
  ); // As above.
  lines.push(lineOf('idempotency', 'miss', idempotencyAt, Date.now(), { kept: true }));
  const members = value as JsonObject; // The tool answers with an object.
  if (Object.hasOwn(members, '__handoff') || Object.hasOwn(members, 'handoff'))
    throw new Error('the benchmark hands nothing over');
  lines.push(lineOf('handoffArtifact', 'ok', handoffAt, Date.now()));
  return { result, args: call.toolArgs, lines };
}

/** Whichever comes first: the tool, its time, or a caller that leaves. */
function withinTime(call: ToolCall): Promise<ToolResult> {
  const controller = new AbortController();
  return new Promise<ToolResult>((resolve, reject) => {
    const leave = () => {
      controller.abort();
      reject(new Error('cancelled'));
    };
    const timer = setTimeout(leave, TIMEOUT_MS);
    call.signal.addEventListener('abort', leave);
    const end = () => {
      clearTimeout(timer);
      call.signal.removeEventListener('abort', leave);
    };
    searchOrders(withCall(call, { signal: controller.signal })).then(
      (result) => {
        end();
        resolve(result);
      },
      (thrown: unknown) => {
        end();
        reject(thrown);
      },
    );
  });
}

/** Member by member, as every result of allium is made. */
function answer(result: ToolResult, approval: object, audit: object): object {
  return Object.freeze({
    ok: true,
    status: 'ok',
    toolName: result.toolName,
    toolCallId: result.toolCallId,
    arguments: result.arguments,
    result: result.result,
    content: result.content,
    renderedResult: result.renderedResult,
    observation: result.observation,
    error: null,
    errorCategory: null,
    errorClass: null,
    executor: 'local',
    executed: 'yes',
    approval,
    outputFiles: result.outputFiles,
    executionDurationMs: 0,
    interruption: undefined,
    metadata: undefined,
    audit,
  });
}
