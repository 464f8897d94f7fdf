import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { LAYER_CONTRACT, type LayerSubject } from '../conformance/index.ts';
import { createScriptPool } from '../src/artifacts/index.ts';
import { ok, type ToolLayer } from '../src/index.ts';
import { memoryPins } from '../src/policy/index.ts';
import {
  auditLog,
  callLimit,
  consent,
  definitionPin,
  dryRun,
  handoffArtifact,
  hooks,
  idempotency,
  outputLimit,
  rateLimit,
  record,
  redaction,
  permissions,
  repeatGuard,
  replay,
  requiredReason,
  retry,
  scopedExecutor,
  summary,
  telemetry,
  timeout,
} from './index.ts';

/** Wrong on purpose: what a JavaScript caller could pass. */
const bad = (make: (options: never) => unknown, ...options: readonly unknown[]) =>
  options.map((option) => () => make(option as never));

const folder = mkdtempSync(join(tmpdir(), 'allium-contract-'));
const recording = join(folder, 'empty.jsonl');
writeFileSync(recording, '');
const recorders: ToolLayer[] = [];
const pool = createScriptPool();
const allowing = (event: string) => ({
  name: event,
  event,
  when: 'True',
  script: "def handle(event, payload):\n  return {'action': 'allow'}\n",
});
afterAll(async () => {
  for (const layer of recorders) await layer.close?.();
  await pool.close();
  rmSync(folder, { recursive: true });
});

const subjects: Readonly<Record<string, LayerSubject>> = {
  'audit-log': {
    create: () => auditLog(() => Promise.resolve()),
    badOptions: bad(
      auditLog,
      undefined,
      null,
      'disk',
      {},
      { sink: 1 },
      { sink: 'cloud', intent: true },
      { sink: 'cloud', redact: 'token' },
      { sink: 'cloud', durability: 'later' },
      { sink: 'cloud', key: { id: 'a b', secret: 's' } },
      { sink: 'cloud', onSinkEror: 'warn' },
    ),
  },
  'call-limit': {
    create: () => callLimit({ maxCalls: 1000, perTool: { 'echo*': 1000 }, maxPrompts: 1 }),
    badOptions: bad(
      callLimit,
      undefined,
      {},
      { per: 'run' },
      { maxCalls: -1 },
      { maxCalls: '5' },
      { perTool: { a: 1.5 } },
      { maxCalls: 1, per: 'tool' },
      { maxPrompts: -1 },
      { maxCalls: 1, store: {} },
      { maxCalls: 1, message: '' },
      { maxCall: 5 },
    ),
  },
  consent: {
    create: () => consent({ decide: () => true, expiresMs: 1000 }),
    badOptions: bad(
      consent,
      undefined,
      null,
      'allow',
      { decied: 1 },
      { rules: [{ tool: 'a' }] },
      { default: 'yes' },
      { prompts: [1] },
    ),
  },
  'definition-pin': {
    create: () => definitionPin({ store: memoryPins() }),
    badOptions: bad(
      definitionPin,
      null,
      'files',
      { store: {} },
      { store: { read: () => null } },
      { source: '' },
      { onNew: 'ask' },
      { onChange: 'pin' },
      { message: '' },
      { onQuarantine: 'log' },
      { onChanged: 'warn' },
    ),
  },
  'dry-run': {
    create: () => dryRun(),
    badOptions: bad(
      dryRun,
      null,
      'all',
      { onyl: [] },
      { only: 'read' },
      { except: [1] },
      { message: '' },
    ),
  },
  hooks: {
    create: () => hooks({ hooks: [allowing('tool.pre'), allowing('tool.post')], pool }),
    badOptions: bad(
      hooks,
      undefined,
      null,
      {},
      { hooks: 'all' },
      { hooks: [{ name: 'a' }] },
      { hooks: [{ name: 'a', event: 'tool.before', script: 'x' }] },
      { hooks: [{ name: '', event: 'tool.pre', script: 'x' }] },
      { hooks: [{ name: 'a', event: 'tool.pre', script: 1 }] },
      { hooks: [{ name: 'a', event: 'tool.pre', script: 'x', piority: 1 }] },
      { hooks: [], effects: ['exec'] },
      { hooks: [], deadlineMs: 0 },
      { hooks: [], pool: {} },
      { dir: '' },
      { hook: [] },
    ),
  },
  idempotency: {
    create: () => idempotency({ mode: 'effect' }),
    badOptions: bad(
      idempotency,
      null,
      { kye: () => 'a' },
      { key: 'a' },
      { ttlMs: 0 },
      { store: {} },
      { store: 'memory' },
      { maxEntries: 0 },
      { mode: 'write' },
      { scope: 'user' },
      { leaseMs: 0 },
    ),
  },
  'output-limit': {
    create: () =>
      outputLimit({ maxBytes: 512, store: { write: () => Promise.reject(new Error('full')) } }),
    badOptions: bad(
      outputLimit,
      null,
      { maxByte: 1024 },
      { maxBytes: 511 },
      { maxBytes: '8192' },
      { store: {} },
      { store: null },
      { readTool: '' },
      { readTool: 'a b' },
    ),
  },
  permissions: {
    create: () => permissions({ checkers: [() => 'no_opinion'], hide: true }),
    badOptions: bad(
      permissions,
      undefined,
      null,
      {},
      { checkers: () => 'allow' },
      { checkers: ['allow'] },
      { checkers: [{ name: 'rules' }] },
      { checkers: [{ evaluate: () => 'allow' }] },
      { checkers: [], fallback: 'no_opinion' },
      { checkers: [], shadow: 'yes' },
      { checkers: [], hide: 1 },
      { checkers: [], expiresMs: 0 },
      { checkers: [], expiresMs: 2 ** 31 },
      { checkers: [], fallbak: 'deny' },
    ),
  },
  'rate-limit': {
    create: () => rateLimit({ maxCalls: 100, windowMs: 1000, per: 'tool' }),
    badOptions: bad(
      rateLimit,
      undefined,
      {},
      { maxCalls: -1 },
      { maxCalls: '5' },
      { maxCalls: 1, windowMs: 0 },
      { maxCalls: 2 ** 40, windowMs: 2 ** 30 },
      { maxCalls: 1, per: 'user' },
      { maxCalls: 1, store: {} },
      { maxCalls: 1, message: '' },
      { maxCalls: 1, window: 5 },
    ),
  },
  record: {
    create: () => {
      const layer = record({ file: join(folder, `${recorders.length}.jsonl`) });
      recorders.push(layer);
      return layer;
    },
    badOptions: bad(
      record,
      undefined,
      null,
      {},
      { file: '' },
      { file: join(folder, 'missing', 'a.jsonl') },
      { file: folder },
      { file: join(recording, 'a.jsonl') },
      { file: 'a.jsonl', onError: 'ignore' },
      { file: 'a.jsonl', path: 'b' },
    ),
  },
  'repeat-guard': {
    create: () => repeatGuard({ nudgeAfter: 1 }),
    badOptions: bad(
      repeatGuard,
      null,
      { nudgeAfter: 6 },
      { stopAfter: 0 },
      { per: 'tool' },
      { windowCalls: 5 },
      { windowMs: 0 },
      { ignore: 'reason' },
      { except: [1] },
      { message: '' },
      { stopsAfter: 5 },
    ),
  },
  replay: {
    create: () => replay({ file: recording, mode: 'ordered', onMissing: 'pass' }),
    badOptions: bad(
      replay,
      undefined,
      null,
      {},
      { file: '' },
      { file: 1 },
      { file: recording, mode: 'loose' },
      { file: recording, onMissing: 'pass' },
      { file: recording, mode: 'ordered', onMissing: 'run' },
      { file: recording, onUnused: 'warn' },
      { file: recording, strict: true },
    ),
  },
  redaction: {
    create: () => redaction(),
    badOptions: bad(
      redaction,
      null,
      'secrets',
      { detector: [] },
      { detectors: ['secret'] },
      { strategies: { secrets: 'hide' } },
      { strategies: { token: 'mask' } },
      { paths: ['a..b'] },
      { patterns: ['(?=x)'] },
      { patterns: ['x*'] },
      { redactor: {} },
      { key: 'short' },
    ),
  },
  'required-reason': {
    create: () => requiredReason(),
    call: { toolArgs: { reason: 'because', text: 'a' } },
    badOptions: bad(
      requiredReason,
      null,
      'reason',
      { feild: 'why' },
      { field: '' },
      { field: '__proto__' },
      { description: 1 },
      { strip: 'yes' },
      { auditKey: 'layers' },
      { minLength: 0 },
      { onMissing: 'fill' },
      { schemaRequired: 1 },
    ),
  },
  'handoff-artifact': {
    create: () => handoffArtifact({ sink: () => {}, strict: true }),
    call: {
      toolArgs: {
        handoff: { sourcePersona: 'a', targetPersonaOrHuman: { id: 'b' }, task: 'c', reason: 'd' },
      },
    },
    badOptions: bad(
      handoffArtifact,
      null,
      'all',
      { sinks: [] },
      { sink: 'x' },
      { detect: 1 },
      { keys: 'x' },
      { source: ' ' },
      { strict: 1 },
    ),
  },
  retry: {
    create: () => retry({ backoffMs: 0 }),
    badOptions: bad(
      retry,
      null,
      { maxAttempt: 2 },
      { maxAttempts: 0 },
      { backoffMs: -1 },
      { maxBackoffMs: 1.5 },
      { maxElapsedMs: '5' },
      { jitter: 'full' },
      { only: 'read' },
      { except: [1] },
      { on: ['consent_denied'] },
      { on: 'retryable' },
      { random: 0.5 },
    ),
  },
  'scoped-executor': {
    create: () => scopedExecutor({ stage: 'review', allowedTools: ['echo'] }),
    badOptions: bad(
      scopedExecutor,
      undefined,
      null,
      { tools: [] },
      { allowedTools: ['*'] },
      { sideEffectLevel: 'all' },
      { onViolation: 1 },
    ),
  },
  summary: {
    create: () => summary((call) => `called ${call.toolName}`),
    badOptions: bad(summary, undefined, null, 'text', {}),
  },
  telemetry: {
    create: () => telemetry({ sinks: [() => Promise.resolve(), 'otel'] }),
    badOptions: bad(
      telemetry,
      null,
      5,
      'stdout',
      { snik: 'otel' },
      { sink: 'file' },
      { sinks: ['x'] },
      { timeoutMs: 0 },
      { maxPending: 0 },
    ),
  },
  timeout: {
    create: () => timeout({ maxMs: 1000 }),
    badOptions: bad(
      timeout,
      undefined,
      {},
      { maxMs: 0 },
      { maxMs: '5' },
      { maxMs: 5, perTol: {} },
      { maxMs: 5, perTool: { a: -1 } },
      { maxMs: 5, graceMs: -1 },
    ),
  },
};

const folders = readdirSync(import.meta.dirname, { withFileTypes: true }).filter((entry) =>
  entry.isDirectory(),
);

describe('the layer contract', () => {
  it('is run over every folder of middleware', () => {
    expect(Object.keys(subjects).sort()).toEqual(folders.map(({ name }) => name).sort());
  });

  for (const [folder, subject] of Object.entries(subjects)) {
    describe(folder, () => {
      for (const promise of LAYER_CONTRACT) it(promise.name, () => promise.check(subject));
    });
  }
});

/** A layer for each promise that breaks it: a contract nothing can break proves nothing. */
const offenders: Readonly<Record<string, LayerSubject['create']>> = {
  'is a well-formed layer': () => ({ name: 'x' }) as unknown as ToolLayer,
  'keeps concurrent calls apart': () => {
    let last: unknown = null;
    return {
      name: 'shares',
      caller: async (call, next) => {
        last = call.toolArgs;
        await next(call);
        return ok(call, last);
      },
    };
  },
  'lets progress through': () => ({
    name: 'swallows',
    caller: (call, next) => next({ ...call, report: () => {} }),
  }),
  'leaves no timer and no listener behind': () => ({
    name: 'listens',
    caller: (call, next) => {
      call.signal.addEventListener('abort', () => {});
      return next(call);
    },
  }),
  'changes a shown tool the same way twice and never in place': () => ({
    name: 'appends',
    caller: (call, next) => next(call),
    schemaTransform: (tool) => ({ ...tool, description: `${tool.description}!` }),
  }),
  'refuses bad options': () => ({ name: 'takes anything', caller: (call, next) => next(call) }),
};

describe('the layer contract catches a layer that', () => {
  for (const [name, create] of Object.entries(offenders)) {
    it(`breaks "${name}"`, async () => {
      const promise = LAYER_CONTRACT.find((entry) => entry.name === name);

      await expect(promise?.check({ create, badOptions: [() => create()] })).rejects.toThrow();
    });
  }
});
