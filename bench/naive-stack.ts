/**
 * The eleven layers of the captain stack as they are written on the first day: a closure each, a
 * deep copy each so that nobody changes what belongs to another, hashes of `JSON.stringify`, a
 * timer and a signal per call, and a file that is appended to for every receipt and waited for. It
 * does less than the real one: one pattern per kind of secret, no chain, no signature, no spans.
 */

import { createHash, randomUUID } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import type { CallToolRequest, CallToolResult } from '@modelcontextprotocol/sdk/types.js';

type Params = CallToolRequest['params'];
export type NaiveExecutor = (params: Params) => Promise<CallToolResult | Record<string, unknown>>;

interface Call {
  readonly id: string;
  readonly params: Params;
}

interface Line {
  readonly name: string;
  readonly status: string;
  readonly startedAt: string;
  readonly endedAt: string;
}

interface Outcome {
  readonly status: string;
  readonly result: unknown;
  readonly audit: Record<string, unknown> & { readonly layers: readonly Line[] };
}

type Caller = (call: Call) => Promise<Outcome>;
type Layer = (call: Call, next: Caller) => Promise<Outcome>;

/** Governs what `execute` does, and keeps a receipt of each call in the file. */
export function naiveStack(receipts: string, execute: NaiveExecutor): NaiveExecutor {
  const layers: readonly (readonly [name: string, layer: Layer])[] = [
    ['auditLog', auditLog(receipts)],
    ['telemetry', telemetry()],
    ['summary', annotated((call) => ({ summary: call.params.name }))],
    ['consent', consent([{ tool: /.*/, decision: 'allow' }])],
    ['requiredReason', requiredReason],
    ['redaction', redaction],
    ['handoffArtifact', async (call, next) => next(call)],
    ['idempotency', idempotency()],
    ['rateLimit', rateLimit(1_000_000_000)],
    ['dryRun', dryRun([])],
    ['timeout', timeout(30_000)],
  ];
  const bottom: Caller = async ({ params }) => ({
    status: 'ok',
    result: await execute(params),
    audit: { layers: [] },
  });
  const caller = layers.reduceRight((next, [name, layer]) => recorded(name, layer, next), bottom);
  return async (params) => (await caller({ id: randomUUID(), params })).result as CallToolResult; // What `execute` answered.
}

const copied = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T; // Everything here is JSON.
const hashed = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex');

/** A line in the record for each layer. */
const recorded = (name: string, layer: Layer, next: Caller): Caller => {
  return async (call) => {
    const startedAt = new Date().toISOString();
    const outcome = await layer(copied(call), next);
    const line = { name, status: outcome.status, startedAt, endedAt: new Date().toISOString() };
    return { ...outcome, audit: { ...outcome.audit, layers: [...outcome.audit.layers, line] } };
  };
};

const annotated =
  (patch: (call: Call) => object): Layer =>
  async (call, next) => {
    const outcome = await next(call);
    return { ...outcome, audit: { ...outcome.audit, ...patch(call) } };
  };

const auditLog =
  (file: string): Layer =>
  async (call, next) => {
    const startedAt = performance.now();
    const outcome = await next(call);
    const receipt = {
      record: 'receipt',
      tool_call_id: call.id,
      tool_name: call.params.name,
      status: outcome.status,
      duration_ms: performance.now() - startedAt,
      args_hash: hashed(call.params.arguments),
      result_hash: hashed(outcome.result),
      audit: outcome.audit,
      emitted_at: new Date().toISOString(),
    };
    await appendFile(file, `${JSON.stringify(receipt)}\n`);
    return outcome;
  };

function telemetry(): Layer {
  const spans: object[] = [];
  return async (call, next) => {
    const startedAt = performance.now();
    const outcome = await next(call);
    spans.push({
      name: `execute_tool ${call.params.name}`,
      startedAt,
      endedAt: performance.now(),
      args: hashed(call.params.arguments),
    });
    if (spans.length > 512) spans.splice(0);
    return outcome;
  };
}

const consent =
  (rules: readonly { readonly tool: RegExp; readonly decision: string }[]): Layer =>
  async (call, next) => {
    const rule = rules.find(({ tool }) => tool.test(call.params.name));
    if (rule?.decision !== 'allow') throw new Error('nobody can be asked');
    const fingerprint = hashed(call);
    const outcome = await next(call);
    return {
      ...outcome,
      audit: {
        ...outcome.audit,
        consent: { decision: 'auto', fingerprint, decidedAt: new Date().toISOString() },
      },
    };
  };

const requiredReason: Layer = async (call, next) => {
  const { reason, ...rest } = call.params.arguments ?? {};
  if (typeof reason !== 'string' || reason.trim() === '') throw new Error('say why');
  const outcome = await next({ ...call, params: { ...call.params, arguments: rest } });
  return { ...outcome, audit: { ...outcome.audit, reason } };
};

const SECRETS = [
  /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g,
  /\b[srp]k_(?:live|test)_[A-Za-z0-9]{10,}/g,
  /\bAIza[\w-]{35}/g,
  /\bA[KS]IA[A-Z0-9]{16}\b/g,
  /\bgh[pousr]_[A-Za-z0-9]{20,}/g,
  /\bglpat-[\w-]{20,}/g,
  /\bxox[a-z]-[A-Za-z0-9-]{10,}/g,
  /\bsk-[\w-]{20,}/g,
  /\bnpm_[A-Za-z0-9]{36}/g,
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/g,
];

const masked = <T>(value: T): T =>
  JSON.parse(
    SECRETS.reduce((text, pattern) => text.replace(pattern, '[redacted]'), JSON.stringify(value)),
  ) as T; // As it was, but for texts.

const redaction: Layer = async (call, next) => {
  const outcome = await next(masked(call));
  return masked(outcome);
};

function idempotency(): Layer {
  const kept = new Map<string, Outcome>();
  return async (call, next) => {
    const key = hashed(call.params);
    const hit = kept.get(key);
    if (hit !== undefined) return copied(hit);
    const outcome = await next(call);
    kept.set(key, copied(outcome));
    const [oldest] = kept.keys();
    if (kept.size > 256 && oldest !== undefined) kept.delete(oldest);
    return outcome;
  };
}

function rateLimit(maxCalls: number): Layer {
  let count = 0;
  return async (call, next) => {
    count += 1;
    if (count > maxCalls) throw new Error('too many calls');
    return next(call);
  };
}

const dryRun =
  (only: readonly string[]): Layer =>
  async (call, next) =>
    only.includes(call.params.name)
      ? { status: 'dry_run', result: { content: [] }, audit: { layers: [] } }
      : next(call);

const timeout =
  (maxMs: number): Layer =>
  async (call, next) => {
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), maxMs);
    const aborted = new Promise<never>((_, reject) => {
      controller.signal.addEventListener('abort', () => reject(new Error('timeout')), {
        once: true,
      });
    });
    return Promise.race([next(call), aborted]).finally(() => clearTimeout(timer));
  };
