import { describe, expect, it } from 'vitest';
import { fail, ok, refuse, withResult } from '../onion/results.ts';
import { makeCall } from '../../../conformance/test-kit.ts';
import { type KnownStatus, outcomeOf, STATUSES, statusRow, strongerExecuted } from './status.ts';

const RESERVED = [
  ...[
    'ok',
    'tool_not_found',
    'schema_violation',
    'consent_denied',
    'policy_blocked',
    'scope_violation',
    'executor_error',
  ],
  ...['redacted', 'dry_run', 'rate_limited', 'exception', 'tool_middleware_exception'],
];
const OURS = [
  ...[
    'timeout',
    'cancelled',
    'permission_denied',
    'approval_required',
    'auth_required',
    'consent_expired',
    'limit_exceeded',
  ],
  ...[
    'circuit_open',
    'idempotency_conflict',
    'outcome_unknown',
    'output_schema_violation',
    'definition_changed',
    'audit_unavailable',
  ],
];
const table = Object.entries(STATUSES) as [KnownStatus, (typeof STATUSES)[KnownStatus]][]; // The keys are what the table is typed by.

describe('STATUSES', () => {
  it('has the reserved names of the field and ours, and no others', () => {
    expect(Object.keys(STATUSES).sort()).toEqual([...RESERVED, ...OURS].sort());
  });

  it.each(table)('%s says what it means and cannot be changed', (_, row) => {
    expect(row.meaning).toMatch(/^[A-Z].*\.$/);
    expect(Object.isFrozen(row)).toBe(true);
    expect(row.ok).toBe(row.outcome === 'completed');
  });

  it('is asked by own names only', () => {
    expect(statusRow('ok')).toBe(STATUSES.ok);
    expect(['constructor', '__proto__', 'toString', 'no_such_status'].map(statusRow)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('outcomeOf', () => {
  it.each(table)('agrees with the table on %s', (status, row) => {
    const call = makeCall();
    const result = row.ok ? ok(call, 1, { status }) : refuse(call, status, 'Because.');

    expect(outcomeOf(result)).toBe(row.outcome);
  });

  it('goes by `ok` where a layer invented the status', () => {
    expect(outcomeOf(ok(makeCall(), 1, { status: 'half_done' }))).toBe('completed');
    expect(outcomeOf(refuse(makeCall(), 'moon_is_full', 'Wait.'))).toBe('failed');
  });
});

describe('results', () => {
  it.each(table)('with %s cannot be built by the function that contradicts it', (status, row) => {
    const call = makeCall();
    const wrong = row.ok
      ? [
          () => refuse(call, status, 'No.'),
          () => fail(call, status, null),
          () => withResult(refuse(call, 'policy_blocked', 'No.'), { status }),
        ]
      : [() => ok(call, 1, { status }), () => withResult(ok(call, 1), { status })];

    for (const build of wrong)
      expect(build).toThrow(expect.objectContaining({ code: 'ERR_INVALID_STATUS' }));
  });

  it.each([undefined, null, 5, '', {}, Symbol('status')])(
    'with a status that is no text are refused: %s',
    (status) => {
      const odd = status as string; // Somebody without types.

      expect(() => refuse(makeCall(), odd, 'No.')).toThrow(
        expect.objectContaining({ code: 'ERR_INVALID_STATUS' }),
      );
    },
  );
});

describe('strongerExecuted', () => {
  it('keeps what is known to have run', () => {
    const values = ['no', 'unknown', 'yes'] as const;
    const joined = values.map((a) => values.map((b) => strongerExecuted(a, b)));

    expect(joined).toEqual([
      ['no', 'unknown', 'yes'],
      ['unknown', 'unknown', 'yes'],
      ['yes', 'yes', 'yes'],
    ]);
  });
});
