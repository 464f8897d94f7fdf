/** What a file may say about each bundled layer: the options of the layers' own tables. */

import { OPTIONS as auditLog } from '../../../middleware/audit-log/options.ts';
import { OPTIONS as callLimit } from '../../../middleware/call-limit/options.ts';
import { OPTIONS as consent } from '../../../middleware/consent/options.ts';
import { OPTIONS as definitionPin } from '../../../middleware/definition-pin/options.ts';
import { OPTIONS as dryRun } from '../../../middleware/dry-run/options.ts';
import { OPTIONS as handoffArtifact } from '../../../middleware/handoff-artifact/options.ts';
import { OPTIONS as hooks } from '../../../middleware/hooks/options.ts';
import { OPTIONS as idempotency } from '../../../middleware/idempotency/options.ts';
import { OPTIONS as outputLimit } from '../../../middleware/output-limit/options.ts';
import { OPTIONS as permissions } from '../../../middleware/permissions/options.ts';
import { OPTIONS as rateLimit } from '../../../middleware/rate-limit/options.ts';
import { OPTIONS as record } from '../../../middleware/record/options.ts';
import { OPTIONS as redaction } from '../../../middleware/redaction/options.ts';
import { OPTIONS as repeatGuard } from '../../../middleware/repeat-guard/options.ts';
import { OPTIONS as replay } from '../../../middleware/replay/options.ts';
import { OPTIONS as requiredReason } from '../../../middleware/required-reason/options.ts';
import { OPTIONS as retry } from '../../../middleware/retry/options.ts';
import { OPTIONS as scopedExecutor } from '../../../middleware/scoped-executor/options.ts';
import { OPTIONS as summary } from '../../../middleware/summary/options.ts';
import { OPTIONS as telemetry } from '../../../middleware/telemetry/options.ts';
import { OPTIONS as timeout } from '../../../middleware/timeout/options.ts';
import type { JsonObject } from '../../index.ts';
import { expected, type OptionTable } from '../../layer.ts';
import { POLICY_FACTORIES } from '../policy-factories.ts';
import { listOf, members, said, TEXT } from './parts.ts';

/** What the file may say about one layer. */
export interface LayerSchema {
  readonly description: string;
  readonly options: OptionTable;
  /** Options of which one at least must be given. */
  readonly needs?: readonly string[];
  /**
   * `false`: the name alone is refused, though no option is required. A gate that says nothing is
   * more likely forgotten than meant.
   */
  readonly bare?: false;
  /** What may stand in the place of the options. */
  readonly instead?: JsonObject;
  /** A function may stand in the place of the options. */
  readonly isFunction?: boolean;
}

/** Whether the name of a layer may stand alone. */
export const standsAlone = ({ options, needs, bare }: LayerSchema): boolean =>
  needs === undefined &&
  bare === undefined &&
  Object.values(options).every(({ required }) => required !== true);

/** A policy by its name, or a checker that code makes. */
const CHECKER: JsonObject = {
  ...members({
    ...Object.fromEntries(
      [...POLICY_FACTORIES.keys()].map((name) => [
        name,
        said(`the options of ${name}, see the page about policies`, { type: ['object', 'null'] }),
      ]),
    ),
    $module: said('a checker or policy that a module exports', TEXT),
  }),
  title: 'one policy by its name, or { $module: ./file.ts#name }',
  minProperties: 1,
  maxProperties: 1,
};

/** By layer. */
export const LAYER_SCHEMAS: Readonly<Record<string, LayerSchema>> = {
  consent: {
    description: 'rules and people decide; an approval holds for exactly the call that was shown',
    bare: false,
    isFunction: true,
    options: consent,
  },
  permissions: {
    description:
      'what a call is about to do has to be allowed: by checkers, or by a person they send for',
    options: { ...permissions, checkers: { ...permissions.checkers, schema: listOf(CHECKER) } },
  },
  scopedExecutor: {
    description: 'narrows tools, capabilities and side effects for everything inside',
    bare: false,
    options: scopedExecutor,
  },
  definitionPin: {
    description: 'tools are held to what they said of themselves when they were trusted',
    options: definitionPin,
  },
  hooks: {
    description: 'scripts that have a say before a tool runs and after it has',
    needs: ['hooks', 'dir'],
    options: hooks,
  },
  dryRun: {
    description: 'a preview instead of the tool',
    options: dryRun,
  },
  callLimit: {
    description: 'so many calls for a run or a session, and so many questions to people',
    needs: ['maxCalls', 'perTool', 'maxPrompts'],
    options: callLimit,
  },
  rateLimit: {
    description: 'so many calls in total or per time, per tool, session or key',
    options: rateLimit,
  },
  repeatGuard: {
    description: 'the same call again and again: tells the model, then stops it',
    options: repeatGuard,
  },
  timeout: {
    description: 'limits the time of a call, aborts the tool, and says what may have happened',
    options: timeout,
  },
  retry: {
    description: 'tries again what may be repeated, and never an ambiguous write',
    options: retry,
  },
  idempotency: {
    description: 'keeps answers of reads, and effects from happening twice',
    options: idempotency,
  },
  outputLimit: {
    description: 'keeps large results aside, with a tool to read them',
    options: outputLimit,
  },
  auditLog: {
    description: 'a receipt for every call, refusals included: by hash, chained and signed',
    isFunction: true,
    instead: expected.oneOf('local', 'cloud', 'both').schema,
    options: auditLog,
  },
  record: {
    description: 'writes calls and answers to a file',
    options: record,
  },
  replay: {
    description: 'answers from a recording instead of the tool',
    options: replay,
  },
  requiredReason: {
    description: 'the model has to say why, and it is recorded',
    options: requiredReason,
  },
  summary: {
    description: 'one line for people about every call',
    isFunction: true,
    options: summary,
  },
  redaction: {
    description: 'masks secrets on every surface, in both directions',
    isFunction: true,
    options: redaction,
  },
  telemetry: {
    description: 'OpenTelemetry spans and metrics, Langfuse, or your own function',
    isFunction: true,
    instead: expected.oneOf('otel', 'langfuse', 'stderr', 'noop').schema,
    options: telemetry,
  },
  handoffArtifact: {
    description: 'a typed record of work handed to somebody else',
    options: handoffArtifact,
  },
};
