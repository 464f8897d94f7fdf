/**
 * Watches calls, and hands what it saw to OpenTelemetry and to the other sinks. Nothing that fails
 * here reaches a call.
 */

import type { EventEmitter } from 'node:events';
import { clockOf } from '../core/onion/own-call.ts';
import type { ToolCall } from '../core/contract/call.ts';
import type { Next } from '../core/contract/layer.ts';
import type { ToolResult } from '../core/contract/result.ts';
import { whenEnded } from '../core/onion/account.ts';
import type { Clock } from '../core/time/clock.ts';
import {
  clip,
  endCall,
  type EndedCall,
  humanWaitOf,
  MAX_TEXT,
  type SpanAttributes,
} from './ended-call.ts';
import {
  countCall,
  countDropped,
  createOtel,
  type Instruments,
  isHeard,
  type Otel,
  runWithin,
} from './otel/otel.ts';
import { endSpan, type OpenSpan, openSpan } from './otel/otel-span.ts';
import { fixedParent } from './otel/parent-context.ts';
import { accept, closeOutlet, createOutlet, lose, type Outlet, type Sender } from './outlet.ts';
import { problemTeller, type TellProblem } from './problem.ts';
import { type RecordSettings, spanRecordOf, type SpanRecord } from './span-record.ts';
import { type LangfuseSettings, langfuseSender } from './langfuse-sink.ts';

/** What a host wants watched, and where it is to go. */
export interface ReporterSettings extends SenderSettings {
  /** On every span. They cannot replace what a span says itself. */
  readonly attributes: Readonly<SpanAttributes>;
  /** The trace that all calls belong to. */
  readonly traceId: string | undefined;
  /** The span that all calls belong under. */
  readonly parentSpanId: string | undefined;
  /** Whether arguments, results and error texts go along. */
  readonly captureContent: boolean;
  /** How long one delivery may take, and `close` may wait. */
  readonly timeoutMs: number;
  /** How many records may be on their way to one sink. */
  readonly maxPending: number;
  /** Hears what went wrong. Without it, the process is warned. */
  readonly onError: TellProblem | undefined;
}

/** What a layer hands its calls to. */
export interface Reporter {
  /** Hands the call on, under watch if a sink would hear of it. */
  readonly watch: (call: ToolCall, next: Next) => Promise<ToolResult>;
  readonly close: () => Promise<void>;
}

const NOBODY = { tracer: null, instruments: null };

/** Checks nothing: the settings must be what their types say. */
export function createReporter(settings: ReporterSettings): Reporter {
  const { traceId, parentSpanId, captureContent, timeoutMs, maxPending } = settings;
  const attached = clippedAttributes(settings.attributes);
  const tell = problemTeller(settings.onError);
  const otel = createOtel(
    { parent: fixedParent(traceId, parentSpanId), attached, captureContent },
    tell,
  );
  const recordSettings: RecordSettings = { traceId, parentSpanId, attached, captureContent };
  const onDropped = (sink: string, count: number) => countDropped(otel, sink, count);
  const outletSettings = { maxPending, timeoutMs, tell, onDropped };
  const outlets = createSenders(settings).map((sender) => createOutlet(sender, outletSettings));
  const usesOtel = settings.sinks.includes('otel');
  const to: Destinations = { otel, outlets, recordSettings };

  return {
    watch(call, next) {
      const isListening = usesOtel && isHeard(otel);
      if (!isListening && outlets.length === 0) return next(call);
      const { tracer, instruments } = isListening ? otel : NOBODY;
      const clock = clockOf(call);
      const startMs = clock.now();
      const startTick = clock.monotonic();
      // Only a resumed call can have waited for a person.
      const wait = call.turn.resumes === undefined ? null : humanWaitOf(call);
      const open = tracer === null ? null : openSpan(otel, tracer, call, startMs);
      // What a layer outside masks in the result by path is masked only when the call has ended.
      const final = captureContent ? whenEnded(call) : null;
      const running = open === null ? next(call) : runWithin(otel, open.context, call, next);
      return running.then((result) => {
        const ended = endCall(call, result, clock, { startMs, startTick, wait });
        if (final === null) report(to, ended, open, instruments, clock);
        else
          void final.then((answer) => report(to, { ...ended, answer }, open, instruments, clock));
        return result;
      });
    },
    async close() {
      await Promise.all(outlets.map(closeOutlet));
    },
  };
}

/** Where a layer sends what it saw. */
interface Destinations {
  readonly otel: Otel;
  readonly outlets: readonly Outlet[];
  readonly recordSettings: RecordSettings;
}

function report(
  { otel, outlets, recordSettings }: Destinations,
  ended: EndedCall,
  open: OpenSpan | null,
  instruments: Instruments | null,
  clock: Clock,
): void {
  if (open !== null) endSpan(otel, open, ended);
  if (instruments !== null) countCall(otel, instruments, ended);
  if (outlets.length > 0) sendRecord(outlets, ended, recordSettings, clock);
}

/** `null` for none. */
function clippedAttributes(attributes: Readonly<SpanAttributes>): Readonly<SpanAttributes> | null {
  const all = Object.entries(attributes);
  if (all.length === 0) return null;
  return Object.freeze(
    Object.fromEntries(
      all.map(([name, value]) => [name, typeof value === 'string' ? clip(value, MAX_TEXT) : value]),
    ),
  );
}

/** One record for all outlets: it is frozen. */
function sendRecord(
  outlets: readonly Outlet[],
  ended: EndedCall,
  settings: RecordSettings,
  clock: Clock,
): void {
  let record: ReturnType<typeof spanRecordOf>;
  try {
    record = spanRecordOf(ended, settings);
  } catch (thrown) {
    for (const outlet of outlets) lose(outlet, thrown);
    return;
  }
  for (const outlet of outlets) accept(outlet, record, clock);
}

/**
 * Takes one record per call. What it returns is watched for its failure, never waited for by a
 * call.
 */
export type TelemetrySink = (record: SpanRecord) => unknown;

/** The sinks that come with the package. */
export type TelemetrySinkName = 'otel' | 'langfuse' | 'stderr' | 'noop';

/** Which sinks, in the order in which problems count them. */
export interface SenderSettings extends LangfuseSettings {
  readonly sinks: readonly (TelemetrySink | TelemetrySinkName)[];
}

/**
 * The sinks that get records. `otel` makes its own spans, and `noop` gets nothing: not even a
 * record is built for it.
 */
export function createSenders(settings: SenderSettings): readonly Sender[] {
  return settings.sinks.flatMap((sink, index): readonly Sender[] => {
    if (typeof sink === 'function')
      return [
        { name: `sink ${index + 1}`, maxBatch: 1, send: ([record]) => record && sink(record) },
      ];
    if (sink === 'stderr') return [stderrSender()];
    if (sink === 'langfuse') return [langfuseSender(settings, process.env)];
    return [];
  });
}

/**
 * Span records as JSON lines on standard error. pino is loaded with the first record, so that
 * stacks without this sink never pay for it. Writes without blocking, and counts a record as
 * delivered once the system has taken it: a reader that has stopped fills the outlet, not the
 * memory.
 */
export function stderrSender(descriptor = 2): Sender {
  let loading: Promise<(batch: readonly SpanRecord[]) => Promise<void>> | undefined;
  return {
    name: 'stderr',
    maxBatch: 64,
    send: async (batch) => (await (loading ??= openWriter(descriptor)))(batch),
  };
}

async function openWriter(
  descriptor: number,
): Promise<(batch: readonly SpanRecord[]) => Promise<void>> {
  const { pino } = await import('pino');
  const target = pino.destination({ dest: descriptor, sync: false });
  // A closed pipe is reported as an event, and one without a listener would end the process.
  target.on('error', () => {});
  const logger = pino({ name: 'allium' }, target);
  return (batch) => {
    // Not `flush`: it calls back before anything is written, or else syncs, which fails on a
    // terminal and on a pipe.
    const written = drained(target);
    for (const record of batch) logger.info({ span: record }, record.name);
    return written;
  };
}

function drained(target: EventEmitter): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: unknown): void => {
      target.off('drain', settle).off('error', settle);
      if (error === undefined) resolve();
      else reject(error);
    };
    target.on('drain', settle).on('error', settle);
  });
}
