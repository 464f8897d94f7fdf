import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { trace } from '@opentelemetry/api';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  auditLog,
  consent,
  dryRun,
  handoffArtifact,
  idempotency,
  outputLimit,
  rateLimit,
  redaction,
  requiredReason,
  retry,
  scopedExecutor,
  summary,
  telemetry,
  timeout,
} from '../middleware/index.ts';
import {
  defineLayer,
  defineTool,
  fail,
  fileOutputs,
  type GovernOptions,
  governTools,
  type Logger,
  refuse,
  STATUSES,
  type ToolLayer,
  toolOutput,
  type ToolResult,
} from '../src/index.ts';
import { filesBelow, formsIn, plainCanary, secretCanary, tracesOf } from './canaries.fixture.ts';

const SECRET = secretCanary();
const HIDDEN = plainCanary();
const folder = mkdtempSync(join(tmpdir(), 'allium-canaries-'));
vi.stubEnv('ALLIUM_STATE_DIR', folder);
const spans = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });

const hidden = [{ name: 'apiKey', from: 'secret:api' }] as const;
const inputSchema = {
  type: 'object',
  properties: { token: { type: 'string' }, key: { type: 'string' } },
} as const;
const said = (args: object) => `${SECRET} and ${String((args as { apiKey?: string }).apiKey)}`;

const tools = [
  defineTool({
    ...{ name: 'tell', description: 'Tells everything.', inputSchema, injected: hidden },
    execute(args, { report }) {
      report({ progress: 1, message: said(args) });
      return { text: said(args), ...args, handoff: { task: said(args) } };
    },
  }),
  defineTool({
    ...{ name: 'break', description: 'Fails.', inputSchema, injected: hidden },
    execute(args) {
      throw Object.assign(new Error(said(args)), { config: { token: said(args) } });
    },
  }),
  defineTool({
    ...{ name: 'report', description: 'Reports an error.', inputSchema, injected: hidden },
    execute: (args) => toolOutput({ content: [{ type: 'text', text: said(args) }], isError: true }),
  }),
  defineTool({
    ...{ name: 'misfit', description: 'Answers wrongly.', inputSchema, injected: hidden },
    outputSchema: { type: 'object', properties: { text: { type: 'number' } } },
    execute: (args) => ({ text: said(args) }),
  }),
  defineTool({
    ...{ name: 'hang', description: 'Never answers.', inputSchema, injected: hidden },
    execute(args, { report }) {
      report({ message: said(args) });
      return new Promise(() => {});
    },
  }),
  defineTool({
    ...{ name: 'flood', description: 'Says a lot.', inputSchema, injected: hidden },
    execute: (args) => `${said(args)}\n`.repeat(2_000),
  }),
];

/** What a scenario changes about the stack; everything else is the captain's. */
interface Changes {
  readonly layers?: Partial<Record<string, ToolLayer>>;
  /** Inside telemetry, outside everything that acts. */
  readonly outer?: ToolLayer;
  readonly options?: Partial<GovernOptions>;
  /** Every further call has other arguments. */
  readonly varies?: boolean;
}

const saysNo = (status: string): Changes => ({
  outer: defineLayer({
    name: 'no',
    caller: (call) => refuse(call, status, `No: ${JSON.stringify(call.toolArgs)}`),
  }),
});

type Scenario = readonly [
  status: string,
  request: { name: string; arguments?: object | string },
  changes?: Changes,
  times?: number,
];

const args = { token: SECRET, reason: `for ${SECRET}` };
const ask = consent({
  rules: [{ tool: '*', decision: 'ask' }],
  expiresMs: 20,
  prompts: [() => new Promise(() => {})],
});
const failing = auditLog(() => Promise.reject(new Error('the sink is down')));
const effect = (): ToolLayer =>
  idempotency({ mode: 'effect', key: (call) => JSON.stringify(call.toolArgs.key) });

const SCENARIOS: readonly Scenario[] = [
  ['ok', { name: 'tell' }],
  ['ok', { name: 'flood' }],
  ['dry_run', { name: 'tell' }, { layers: { dryRun: dryRun() } }],
  ['tool_not_found', { name: 'tel' }],
  ['schema_violation', { name: 'tell', arguments: { token: [SECRET], reason: SECRET } }],
  ['schema_violation', { name: 'tell', arguments: `{"token": "${SECRET}"` }],
  ['schema_violation', { name: 'tell', arguments: { token: SECRET, reason: ' ' } }],
  [
    'consent_denied',
    { name: 'tell' },
    { layers: { consent: consent(() => ({ decision: 'denied', reason: `not ${SECRET}` })) } },
  ],
  [
    'consent_denied',
    { name: 'tell' },
    { layers: { consent: consent(() => Promise.reject(new Error(SECRET))) } },
  ],
  ['consent_expired', { name: 'tell' }, { layers: { consent: ask } }],
  ['approval_required', { name: 'tell' }, { layers: { consent: consent({ default: 'ask' }) } }],
  ['permission_denied', { name: 'tell' }, { outer: scopedExecutor({ sideEffectLevel: 'none' }) }],
  ['scope_violation', { name: 'tell' }, { outer: scopedExecutor({ allowedTools: [] }) }],
  ['rate_limited', { name: 'tell' }, { layers: { rateLimit: rateLimit({ maxCalls: 1 }) } }, 2],
  ['limit_exceeded', { name: 'tell' }, { options: { limits: { maxCallsPerRun: 0 } } }],
  ['audit_unavailable', { name: 'tell' }, { layers: { auditLog: failing } }, 2],
  ['executor_error', { name: 'break' }],
  ['executor_error', { name: 'report' }],
  ['timeout', { name: 'hang' }, { layers: { timeout: timeout({ maxMs: 20, graceMs: 0 }) } }],
  ['cancelled', { name: 'hang' }, { options: {} }],
  ['output_schema_violation', { name: 'misfit' }],
  [
    'redacted',
    { name: 'tell' },
    {
      layers: {
        redaction: redaction({ detectors: ['secrets'], strategies: { secrets: 'block' } }),
      },
    },
  ],
  ['idempotency_conflict', { name: 'tell' }, { layers: { effect: effect() }, varies: true }, 2],
  [
    'outcome_unknown',
    { name: 'break', arguments: { ...args, key: 'a' } },
    { layers: { effect: effect() } },
    2,
  ],
  [
    'tool_middleware_exception',
    { name: 'tell' },
    {
      outer: defineLayer({
        name: 'bad',
        caller: (call) => Promise.reject(new Error(JSON.stringify(call))),
      }),
    },
  ],
  [
    'exception',
    { name: 'tell' },
    {
      outer: defineLayer({
        name: 'bad',
        caller: (call) => fail(call, 'exception', new Error(SECRET)),
      }),
    },
  ],
  ...['policy_blocked', 'circuit_open', 'definition_changed', 'auth_required'].map(
    (status): Scenario => [status, { name: 'tell' }, saysNo(status)],
  ),
];

/** Everything a call leaves behind, besides its files and OpenTelemetry spans. */
interface Traces {
  readonly results: readonly ToolResult[];
  readonly text: string;
}

function stackOf(
  sink: (record: object) => void,
  { layers = {}, outer }: Changes,
): readonly ToolLayer[] {
  const stack: Record<string, ToolLayer> = {
    auditLog: auditLog({ sink: 'both', intent: true }),
    telemetry: telemetry({ sinks: [sink, 'otel'] }),
    summary: summary(
      (call, result) => `${call.toolName} ${JSON.stringify(call.toolArgs)} ${result.error ?? ''}`,
    ),
    ...(outer === undefined ? {} : { outer }),
    consent: consent(() => true),
    requiredReason: requiredReason(),
    retry: retry({ maxAttempts: 2, backoffMs: 1 }),
    outputLimit: outputLimit({ maxBytes: 1_024, store: fileOutputs(join(folder, 'outputs')) }),
    ...(layers.effect === undefined ? {} : { effect: layers.effect }),
    redaction: redaction(),
    handoffArtifact: handoffArtifact(),
    idempotency: idempotency({ store: null }),
    rateLimit: rateLimit({ maxCalls: 10_000 }),
    dryRun: dryRun({ only: [] }),
    timeout: timeout({ maxMs: 10_000 }),
  };
  return Object.entries(stack).map(([name, layer]) => layers[name] ?? layer);
}

async function drive([status, request, changes = {}, times = 1]: Scenario): Promise<Traces> {
  const kept: unknown[] = [];
  const keep = (value: unknown) => void kept.push(value);
  const log = (fields: object, message: string) => keep([fields, message]);
  const logger: Logger = { debug: log, info: log, warn: log, error: log };
  const layers = stackOf(keep, changes);
  const governed = governTools({
    tools,
    layers,
    secrets: { api: HIDDEN },
    logger,
    ...changes.options,
  });
  governed.on('*', keep);
  const results: ToolResult[] = [];
  for (let time = 0; time < times; time += 1) {
    const abort = new AbortController();
    const calling = governed.call(
      { arguments: changes.varies === true ? { ...args, key: 'a', time } : args, ...request },
      { signal: abort.signal, onProgress: keep },
    );
    if (status === 'cancelled') setImmediate(() => abort.abort(new Error(SECRET)));
    results.push(await calling);
  }
  await governed.close().catch(keep);
  const errors = kept
    .filter((value) => value instanceof Error)
    .map((error) => `${error.message} ${String(error.stack)}`);
  return {
    results,
    text: [
      ...results.map(tracesOf),
      JSON.stringify(kept),
      JSON.stringify(governed.tools),
      ...errors,
    ].join('\n'),
  };
}

describe('canaries', () => {
  beforeAll(() => void trace.setGlobalTracerProvider(provider));
  afterAll(async () => {
    vi.unstubAllEnvs();
    trace.disable();
    await provider.shutdown();
    rmSync(folder, { recursive: true });
  });

  it.each(SCENARIOS.map((scenario, index) => [scenario[0], scenario[1].name, index] as const))(
    'never show where a call ends as %s (%s, %i)',
    async (status, _name, index) => {
      const { results, text } = await drive(SCENARIOS[index] as Scenario);

      expect(results.at(-1)?.status).toBe(status);
      expect(formsIn(text, SECRET)).toEqual([]);
      expect(formsIn(text, HIDDEN)).toEqual([]);
    },
  );

  it('never show in receipts, output files and OpenTelemetry spans', async () => {
    const files = filesBelow(folder);
    const told = JSON.stringify(
      spans
        .getFinishedSpans()
        .map(({ name, attributes, events, status }) => ({ name, attributes, events, status })),
    );

    expect(
      files.split('\n').filter((line) => line.includes('"record":"receipt"')).length,
    ).toBeGreaterThanOrEqual(SCENARIOS.length - 2);
    expect(spans.getFinishedSpans().length).toBeGreaterThan(SCENARIOS.length);
    for (const canary of [SECRET, HIDDEN])
      expect([...formsIn(files, canary), ...formsIn(told, canary)]).toEqual([]);
  });

  it('are tried with every status there is', () => {
    const driven = new Set(SCENARIOS.map(([status]) => status));

    expect(Object.keys(STATUSES).filter((status) => !driven.has(status))).toEqual([]);
  });

  it('are found where nothing cleans: a search that finds nothing anywhere proves nothing', async () => {
    const naive = redaction(() => ({}));
    const { text } = await drive(['ok', { name: 'tell' }, { layers: { redaction: naive } }]);

    expect(formsIn(text, SECRET).length).toBeGreaterThan(0);
    expect(formsIn(Buffer.from(`--${HIDDEN}--`).toString('base64'), HIDDEN).length).toBeGreaterThan(
      0,
    );
  });
});
