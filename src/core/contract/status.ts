/** How a call can end: one table that code, docs and receipts read. */

import { match } from 'ts-pattern';

export type Executed = 'no' | 'yes' | 'unknown';
export type Outcome = 'completed' | 'interrupted' | 'failed';
export type ErrorClass = 'retryable' | 'repairable' | 'fatal';

export interface StatusRow {
  readonly ok: boolean;
  /** What `executed` says with this status; `varies` where it depends on how far the call got. */
  readonly executed: Executed | 'varies';
  readonly outcome: Outcome;
  /** What the caller can do: try the same again, change the call, or give up. */
  readonly errorClass: ErrorClass | null;
  readonly meaning: string;
}

const row = (
  ok: boolean,
  executed: StatusRow['executed'],
  outcome: Outcome,
  errorClass: ErrorClass | null,
  meaning: string,
): StatusRow => Object.freeze({ ok, executed, outcome, errorClass, meaning });

export const STATUSES = Object.freeze({
  ok: row(true, 'yes', 'completed', null, 'The tool ran and answered.'),
  dry_run: row(true, 'no', 'completed', null, 'A preview was answered; the tool did not run.'),
  tool_not_found: row(false, 'no', 'failed', 'repairable', 'No tool of that name was offered.'),
  schema_violation: row(
    false,
    'no',
    'failed',
    'repairable',
    'The arguments do not fit the schema.',
  ),
  consent_denied: row(false, 'no', 'failed', 'fatal', 'A person or a consent rule said no.'),
  consent_expired: row(false, 'no', 'failed', 'retryable', 'Nobody answered the question in time.'),
  approval_required: row(false, 'no', 'interrupted', null, 'The call waits for an approval.'),
  auth_required: row(false, 'no', 'interrupted', null, 'The call waits for somebody to sign in.'),
  policy_blocked: row(false, 'no', 'failed', 'fatal', 'A hook or a rule blocked the call.'),
  permission_denied: row(
    false,
    'no',
    'failed',
    'fatal',
    'The permission engine or the capability policy refused.',
  ),
  scope_violation: row(
    false,
    'no',
    'failed',
    'fatal',
    'The tool is outside the scope of this stage.',
  ),
  rate_limited: row(false, 'no', 'failed', 'retryable', 'Too many calls in too short a time.'),
  limit_exceeded: row(false, 'no', 'failed', 'fatal', 'A limit on calls was reached.'),
  circuit_open: row(false, 'no', 'failed', 'retryable', 'The tool has failed too often and rests.'),
  idempotency_conflict: row(
    false,
    'no',
    'failed',
    'repairable',
    'The effect key was used with other arguments.',
  ),
  definition_changed: row(
    false,
    'no',
    'failed',
    'fatal',
    'The tool is not the one that was approved.',
  ),
  audit_unavailable: row(
    false,
    'no',
    'failed',
    'retryable',
    'The call could not be recorded, so it did not run.',
  ),
  executor_error: row(
    false,
    'varies',
    'failed',
    'repairable',
    'The tool failed or reported an error.',
  ),
  timeout: row(false, 'unknown', 'failed', 'retryable', 'The tool did not answer in time.'),
  cancelled: row(false, 'varies', 'failed', 'fatal', 'The caller took the call back.'),
  outcome_unknown: row(
    false,
    'unknown',
    'failed',
    'fatal',
    'The tool may have run; nobody knows how it ended.',
  ),
  output_schema_violation: row(
    false,
    'yes',
    'failed',
    'fatal',
    'The tool ran, but its answer does not fit its output schema.',
  ),
  redacted: row(false, 'varies', 'failed', 'fatal', 'The tool ran, but its result was withheld.'),
  exception: row(
    false,
    'varies',
    'failed',
    'fatal',
    'Something failed outside the tool and the layers.',
  ),
  tool_middleware_exception: row(false, 'varies', 'failed', 'fatal', 'A layer failed.'),
} as const satisfies Record<string, StatusRow>);

export type KnownStatus = keyof typeof STATUSES;
/** The table's names, and whatever further ones a layer invents. */
export type ToolStatus = KnownStatus | (string & {});

/** The row of a status, or `undefined` for one that a layer invented. */
export const statusRow = (status: string): StatusRow | undefined =>
  Object.hasOwn(STATUSES, status) ? STATUSES[status as KnownStatus] : undefined;

/** Takes a result apart for a host: finished, waiting for a person, or failed. */
export function outcomeOf(result: { readonly ok: boolean; readonly status: ToolStatus }): Outcome {
  // The case that counts: taking a result apart costs as much as a span.
  if (result.ok && result.status === 'ok') return 'completed';
  return match(result)
    .with(
      { status: 'approval_required' },
      { status: 'auth_required' },
      () => 'interrupted' as const,
    )
    .with({ ok: true }, () => 'completed' as const)
    .with({ ok: false }, () => 'failed' as const)
    .exhaustive();
}

const RANK: Readonly<Record<Executed, number>> = { no: 0, unknown: 1, yes: 2 };

/** What is known to have run stays known: the stronger of two statements. */
export const strongerExecuted = (a: Executed, b: Executed): Executed =>
  RANK[a] >= RANK[b] ? a : b;
