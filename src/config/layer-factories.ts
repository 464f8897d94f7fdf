/** The layers that can be written by name in a file. */

import type { ToolLayer } from '../index.ts';
import { withPolicies } from './policy-factories.ts';
import type { DataPath, Report } from './problem.ts';
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
  permissions,
  rateLimit,
  record,
  redaction,
  repeatGuard,
  replay,
  requiredReason,
  retry,
  scopedExecutor,
  summary,
  telemetry,
  timeout,
} from '../../middleware/index.ts';

/**
 * Makes a layer from the value behind its name. Checks the value, and throws `ERR_INVALID_OPTION`
 * for what it cannot take.
 */
// `never` is what every factory takes: each one checks what it is given when it is called.
export type LayerFactory = (options: never) => ToolLayer;

/** By the name of the factory, which is the name of the layer. */
export const LAYER_FACTORIES: ReadonlyMap<string, LayerFactory> = new Map<string, LayerFactory>(
  Object.entries({
    auditLog,
    callLimit,
    consent,
    dryRun,
    handoffArtifact,
    idempotency,
    outputLimit,
    rateLimit,
    redaction,
    requiredReason,
    definitionPin,
    hooks,
    permissions,
    record,
    repeatGuard,
    replay,
    retry,
    scopedExecutor,
    summary,
    telemetry,
    timeout,
  }),
);

/**
 * Options that hold more than plain values become what the layer takes, with what is wrong reported
 * for its place.
 */
export const OPTION_READERS: ReadonlyMap<
  string,
  (options: unknown, path: DataPath, report: Report) => unknown
> = new Map([['permissions', withPolicies]]);
