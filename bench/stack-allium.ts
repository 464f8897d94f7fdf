/** The captain stack, as the documentation lists it. */

import { composeToolCallers } from 'allium';
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
} from 'allium/middleware';
import { distinct } from './harness.ts';
import {
  callWith,
  type Governed,
  KEY,
  RATE,
  receiptFiles,
  searchOrders,
  TIMEOUT_MS,
} from './stack-scenario.ts';

export function alliumStack(): Governed & { readonly folder: string } {
  const { folder, sink, remove } = receiptFiles();
  const caller = composeToolCallers([
    auditLog({ sink, durability: 'background', key: KEY }),
    telemetry('otel'),
    summary((call, result) => `${call.toolName}: ${result.status}`),
    consent(() => 'auto'),
    requiredReason(),
    redaction({ detectors: ['secrets'] }),
    handoffArtifact(),
    idempotency(),
    rateLimit(RATE),
    dryRun({ only: [] }),
    timeout({ maxMs: TIMEOUT_MS }),
  ]);
  const source = '(args) => caller(callWith(args), searchOrders)';
  return {
    name: 'allium',
    folder,
    call: distinct(source, { caller, callWith, searchOrders }),
    flush: () => sink.flush(),
    close: remove,
  };
}
