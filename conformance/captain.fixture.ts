/** The captain stack of real layers, in any order. */

import {
  auditLog,
  consent,
  dryRun,
  handoffArtifact,
  idempotency,
  rateLimit,
  redaction,
  requiredReason,
  summary,
  telemetry,
  timeout,
} from '../middleware/index.ts';
import type { ToolLayer } from '../src/index.ts';

/** The reference recipe, outermost first. */
export const CAPTAIN_ORDER = [
  'auditLog',
  'telemetry',
  'summary',
  'consent',
  'requiredReason',
  'redaction',
  'handoffArtifact',
  'idempotency',
  'rateLimit',
  'dryRun',
  'timeout',
] as const;

export type CaptainName = (typeof CAPTAIN_ORDER)[number];

/** What changes the rules of a layer. */
export interface CaptainOptions {
  /** Telemetry that records arguments and results. @default false */
  readonly captureContent?: boolean;
  /** Idempotency that keeps a write from running twice, instead of caching reads. @default false */
  readonly effectKeys?: boolean;
}

const makers: Readonly<Record<CaptainName, (options: CaptainOptions) => ToolLayer>> = {
  auditLog: () => auditLog('cloud'),
  telemetry: ({ captureContent = false }) => telemetry({ sink: 'noop', captureContent }),
  summary: () => summary((call) => call.toolName),
  consent: () => consent(() => true),
  requiredReason: () => requiredReason(),
  redaction: () => redaction(),
  handoffArtifact: () => handoffArtifact(),
  idempotency: ({ effectKeys }) => idempotency({ mode: effectKeys === true ? 'effect' : 'cache' }),
  rateLimit: () => rateLimit({ maxCalls: 100 }),
  dryRun: () => dryRun({ only: [] }),
  timeout: () => timeout({ maxMs: 1_000 }),
};

/** The layers of the captain stack in the order given. */
export const captainLayers = (
  order: readonly CaptainName[] = CAPTAIN_ORDER,
  options: CaptainOptions = {},
): readonly ToolLayer[] => order.map((name) => makers[name](options));
