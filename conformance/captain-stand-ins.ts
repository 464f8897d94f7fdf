/** The captain stack as pass-through layers: the bundled layers' names, traits and order rules without what they do. */

import { defineLayer, type OrderRule, type ToolLayer } from '../src/core/layer.ts';

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
export interface StandInOptions {
  /** Telemetry that records arguments and results. @default false */
  readonly captureContent?: boolean;
  /** Idempotency that keeps a write from running twice, instead of caching reads. @default false */
  readonly effectKeys?: boolean;
}

/** The layers of the captain stack in the order given. */
export function captainStandIns(order: readonly CaptainName[] = CAPTAIN_ORDER, options: StandInOptions = {}): readonly ToolLayer[] {
  const traits = traitsWith(options);
  return order.map((name) => defineLayer({ name, caller: (call, next) => next(call), ...traits[name] }));
}

const mustStand = (side: { outsideOf: string } | { insideOf: string }, because: string): OrderRule => ({ ...side, level: 'must', because });
const shouldStand = (side: { outsideOf: string } | { insideOf: string }, because: string): OrderRule => ({
  ...side,
  level: 'should',
  because,
});

const traitsWith = ({ captureContent, effectKeys }: StandInOptions): Record<CaptainName, Omit<ToolLayer, 'name' | 'caller'>> => ({
  auditLog: { observes: true, order: [mustStand({ outsideOf: 'consent' }, 'audit inside consent would miss refusals')] },
  telemetry: captureContent === true ? { observes: true, order: [mustStand({ insideOf: 'redaction' }, LEAK)] } : { observes: true },
  summary: { observes: true, order: [shouldStand({ insideOf: 'auditLog' }, 'the receipt would lack the summary')] },
  consent: {},
  requiredReason: { rewrites: true, schemaTransform: (tool) => tool },
  redaction: { rewrites: true, scrub: (text) => text },
  handoffArtifact: {},
  idempotency: effectKeys === true ? { order: [mustStand({ outsideOf: 'redaction' }, JOINED_EFFECTS)] } : {},
  rateLimit: { order: [shouldStand({ insideOf: 'idempotency' }, 'an answer from the cache would use up the limit')] },
  dryRun: { order: [shouldStand({ insideOf: 'consent' }, 'a preview would be shown before anybody was asked')] },
  timeout: { order: [mustStand({ insideOf: 'consent' }, "timeout outside consent would count the human's time")] },
});

const LEAK = 'captured payloads outside redaction would leak';
const JOINED_EFFECTS = 'an effect key made from masked values would join two effects';
