/**
 * What the captain stacks are compared on: one tool, arguments of 200 bytes that no two calls
 * share, and a structured answer of 4 KB that is made anew for every call. Whoever governs the
 * call, the tool, the receipts and the spans are the same.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { context, propagation, trace } from '@opentelemetry/api';
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  type ReadableSpan,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-node';
import type { HashKey, JsonObject } from 'allium';
import { type LocalReceiptSink, localReceiptSink } from 'allium/receipts';

export const SESSION = 'bench-session';
export const TOOL = 'search_orders';
export const DESCRIPTION = 'Finds orders by customer, city and status.';
/** The same for everybody, so that hashes can be compared. Not a secret: it guards nothing. */
export const KEY: HashKey = { id: 'bench', secret: 'bench-bench-bench-bench-bench-be' };
export const RATE = { maxCalls: 1_000_000_000 } as const;
export const TIMEOUT_MS = 30_000;

/** A stack that can be measured: it makes a call of the arguments and answers for it. */
export interface Governed {
  readonly name: string;
  readonly call: (args: JsonObject) => Promise<unknown>;
  /** Where its receipts are. */
  readonly folder: string;
  /** Waits for its receipts. */
  readonly flush: () => Promise<void>;
  /** Lets go of its files. */
  readonly close: () => Promise<void>;
}

/** A stack that takes whatever a model may send, and signs its receipts. */
export interface Side extends Governed {
  readonly ask: (id: string, args: unknown) => Promise<unknown>;
  readonly publicKey: string;
  /** Signs the end of its receipts and leaves them where they are. */
  readonly finish: () => Promise<void>;
}

/** Calls with ids of their own. */
export function numbered(ask: Side['ask']): Governed['call'] {
  let count = 0;
  return (args) => ask(`call-${(count += 1)}`, args);
}

/** Arguments as a model writes them, with its reason. The number makes every call another one. */
export const argsAt = (n: number): JsonObject => ({
  customer: `customer-${n}`,
  city: 'Ghent',
  status: ['open', 'shipped', 'returned'],
  from: '2026-01-01',
  to: '2026-03-31',
  limit: 24,
  reason: 'The user asked which of their orders are late.',
});

const CITIES = ['Ghent', 'Porto', 'Turku', 'Graz'];

/** Twenty-four rows of what a shop knows about an order. */
export function answerTo(args: JsonObject): JsonObject {
  const rows: JsonObject[] = [];
  for (let row = 0; row < 24; row += 1) {
    rows.push({
      id: `order-${row}`,
      customer: args.customer ?? null,
      city: CITIES[row % 4] ?? '',
      total: 19.5 + row,
      currency: 'EUR',
      paid: row % 3 === 0,
      items: row + 1,
      note: 'Leave it with the neighbours if nobody opens the door.',
    });
  }
  return { rows, page: 1, pages: 3, total: 68 };
}

/** An answer of 60 bytes. */
export const shortAnswerTo = (args: JsonObject): JsonObject => ({
  order: `order-of-${String(args.customer)}`,
  city: 'Ghent',
  total: 19.5,
});

/** What the sides that are compared are told. */
export interface Rules {
  readonly answer: (
    args: JsonObject,
    context: { readonly signal: AbortSignal },
  ) => Promise<JsonObject>;
  readonly decide: (args: JsonObject) => 'auto' | 'denied';
  readonly maxCalls: number;
  readonly timeoutMs: number;
  readonly graceMs: number;
}

/** Nothing is refused. */
export const rulesFor = (answer: (args: JsonObject) => JsonObject): Rules => ({
  answer: async (args) => answer(args),
  decide: () => 'auto',
  maxCalls: RATE.maxCalls,
  timeoutMs: TIMEOUT_MS,
  graceMs: 100,
});

/** Frozen like the schema of every tool that a registry holds: what is fixed is worked out once. */
export const SCHEMA = Object.freeze({
  type: 'object',
  properties: Object.freeze({
    customer: Object.freeze({ type: 'string' }),
    limit: Object.freeze({ type: 'integer' }),
  }),
  required: Object.freeze(['customer']),
});

export const TURN = Object.freeze({
  sessionId: SESSION,
  iteration: 3,
  runId: 'run-1',
  model: 'model-1',
  provider: 'provider-1',
});

/** A folder of its own for the receipts of one stack. */
export function receiptFiles(): {
  readonly folder: string;
  readonly sink: LocalReceiptSink;
  readonly remove: () => Promise<void>;
} {
  const folder = mkdtempSync(join(tmpdir(), 'allium-bench-'));
  const state = process.env.ALLIUM_STATE_DIR;
  // The signing key is made on first use; it must not end up where somebody works.
  process.env.ALLIUM_STATE_DIR = folder;
  const sink = localReceiptSink({ dir: join(folder, 'receipts'), key: KEY });
  if (state === undefined) delete process.env.ALLIUM_STATE_DIR;
  else process.env.ALLIUM_STATE_DIR = state;
  return {
    folder: join(folder, 'receipts'),
    sink,
    remove: async () => {
      await sink.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface Tracing {
  /** The spans of what runs, oldest first. */
  spansOf(run: () => Promise<unknown>): Promise<readonly ReadableSpan[]>;
  stop(): Promise<void>;
}

/**
 * The SDK as a service runs it, with an exporter that throws away what it gets unless somebody
 * wants to see it.
 */
export function startTracing(): Tracing {
  const kept: ReadableSpan[] = [];
  let keeps = false;
  const exporter: SpanExporter = {
    export(spans, done) {
      if (keeps) kept.push(...spans);
      done({ code: 0 });
    },
    shutdown: async () => {},
  };
  const processor = new BatchSpanProcessor(exporter);
  const provider = new NodeTracerProvider({ spanProcessors: [processor] });
  provider.register();
  return {
    async spansOf(run) {
      await processor.forceFlush();
      keeps = true;
      await run();
      await processor.forceFlush();
      keeps = false;
      return kept.splice(0);
    },
    async stop() {
      await provider.shutdown();
      // What was registered for the whole process must not slow down what is measured next.
      for (const part of [trace, context, propagation]) part.disable();
    },
  };
}
