import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeCall, recordingSink } from '../../conformance/test-kit.ts';
import {
  auditLog,
  callLimit,
  consent,
  dryRun,
  handoffArtifact,
  idempotency,
  permissions,
  rateLimit,
  redaction,
  requiredReason,
  retry,
  scopedExecutor,
  summary,
  telemetry,
  timeout,
} from '../../middleware/index.ts';
import {
  type AuditRecord,
  composeToolCallers,
  defineLayer,
  ok,
  refuse,
  STATUSES,
  type ToolCall,
  type ToolCaller,
  type ToolLayer,
  type ToolResult,
  withCall,
} from '../index.ts';
import { guardCall, raise } from '../layer.ts';
import type { Receipt } from '../receipts/index.ts';
import { setup } from './testing.fixture.ts';
import { howMany } from '../../conformance/how-many.fixture.ts';

const SECRET = ['gh', 'p_', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('');

/** Real layers that refuse whatever they are asked, and those that refuse nothing. */
const REAL: readonly (() => ToolLayer)[] = [
  () => telemetry('noop'),
  () => summary((call) => call.toolName),
  () => consent(() => false),
  () => consent({ default: 'ask' }),
  () => requiredReason(),
  () => redaction(),
  () => redaction({ detectors: ['secrets'], strategies: { secrets: 'block' } }),
  () => redaction(() => Promise.reject(new Error('no'))),
  () => handoffArtifact({ strict: true }),
  () => idempotency({ mode: 'effect', key: () => '' }),
  () => rateLimit({ maxCalls: 0 }),
  () => callLimit({ maxCalls: 0 }),
  () => permissions({ checkers: [() => 'deny'] }),
  () => scopedExecutor({ allowedTools: [], onViolation: 'raise' }),
  () => dryRun(),
  () => retry(),
  () => timeout({ maxMs: 1 }),
];

const refusal: ToolCaller = (call) => refuse(call, 'policy_blocked', 'no');

/** What no layer should do, done by layers that say they act, observe or clean. */
const STRANGE: readonly ToolCaller[] = [
  refusal,
  (call, next) =>
    next(guardCall(call, () => ({ status: 'policy_blocked', message: 'no', blockedBy: 'x' }))),
  (call, next) => next(withCall(call, { signal: AbortSignal.abort() })),
  (_call, next) => next({} as ToolCall),
  (call) => raise(refuse(call, 'consent_denied', 'no')),
  (call) => ok(call, {}, { status: 'dry_run' }),
  (call) =>
    refuse(call, 'approval_required', 'wait', {
      interruption: { kind: 'approval_required', id: 'a', fingerprint: '', shown: {}, options: [] },
    }),
  async (call, next) => {
    await next(call);
    return next(call);
  },
  async (call, next) => {
    await next(call);
    return raise(refuse(call, 'scope_violation', 'no'));
  },
  (call, next) => {
    void next(call);
    return ok(call, 'early');
  },
  () => {
    throw new Error('no');
  },
  async (call, next) => {
    await next(call);
    throw new Error('no');
  },
];

const strange = (caller: ToolCaller, role: 'act' | 'observe' | 'clean') => () =>
  defineLayer({
    name: `strange ${role}`,
    caller,
    ...(role === 'observe' ? { observes: true } : {}),
    ...(role === 'clean' ? { scrub: (text: string) => text } : {}),
  });

const ALL = [
  ...REAL,
  ...STRANGE.flatMap((caller) =>
    (['act', 'observe', 'clean'] as const).map((role) => strange(caller, role)),
  ),
];
/** Any of them in any order, and where among them the audit log stands. */
const orders = fc.tuple(
  fc.shuffledSubarray(ALL, { minLength: 1, maxLength: 7 }),
  fc.nat({ max: 7 }),
);

interface Seen {
  readonly result: ToolResult;
  readonly receipts: readonly Receipt[];
  readonly endings: number;
}

type Observe = (layers: readonly ToolLayer[], output: string) => Promise<Omit<Seen, 'receipts'>>;

const observe: Observe = async (layers, output) => {
  const { governed, events } = setup({ layers });
  const result = await governed.observe({ name: 'web_search', arguments: { q: SECRET } }, output);
  await governed.close();
  const endings = events.filter(
    (event) => event.type === 'tool_call_update' && event.status !== 'in_progress',
  );
  return { result, endings: endings.length };
};

/** Runs one order; the rules about orders are left out, because here every order is meant. */
async function seenIn(
  run: Observe,
  [makers, place]: readonly [readonly (() => ToolLayer)[], number],
): Promise<Seen> {
  const sink = recordingSink<Receipt>();
  const layers = makers.map((make) => make());
  layers.splice(place, 0, auditLog(sink));
  const seen = await run(
    layers.map((layer) => ({ ...layer, order: [] })),
    'what came out',
  );
  return { ...seen, receipts: sink.records };
}

const claimsNotToHaveRun = ({ status }: Pick<ToolResult, 'status'>): boolean =>
  Object.entries(STATUSES).some(([name, row]) => name === status && row.executed === 'no');

/** Whether a call that ran is told of as one: by its result, by one receipt, by one ending. */
const isTrue = ({ result, receipts, endings }: Seen): boolean =>
  result.executed === 'yes' &&
  !claimsNotToHaveRun(result) &&
  endings === 1 &&
  receipts.length === 1 &&
  receipts.every(
    ({ status, executed, record }) =>
      record === 'receipt' && executed === 'yes' && !claimsNotToHaveRun({ status: status ?? '' }),
  );

const holdsFor = (run: Observe) =>
  fc.assert(
    fc.asyncProperty(orders, async (order) => isTrue(await seenIn(run, order))),
    { numRuns: howMany(100, 400) },
  );

describe('an observed call, whatever the layers and their order,', () => {
  it('never comes to a refusal, and leaves exactly one receipt and one ending', {
    timeout: 60_000,
  }, async () => {
    await holdsFor(observe);
  });

  it('has a line for every layer outside and inside of any other', async () => {
    for (const make of ALL) {
      const around = ['outer', 'inner'].map((name) =>
        defineLayer({ name, observes: true, caller: (call, next) => next(call) }),
      );
      const { result } = await observe(
        [...around.slice(0, 1), { ...make(), order: [] }, ...around.slice(1)],
        'x',
      );
      const names = (result.audit as AuditRecord).layers.map(({ name }) => name);

      expect(names.filter((name) => name !== 'admission' && name !== 'limits')).toEqual([
        'inner',
        make().name,
        'outer',
      ]);
    }
  });
});

describe('the naive twins of observe', () => {
  /** Everything runs around an executor that hands over the output. */
  const asAnyCall: Observe = async (layers, output) => {
    const result = await composeToolCallers(layers)(
      makeCall({ toolName: 'web_search', toolArgs: { q: SECRET } }),
      async (call) => ok(call, output),
    );
    return { result, endings: 1 };
  };
  /** Only the layers that observe or clean run, and are trusted. */
  const trusting: Observe = (layers, output) =>
    asAnyCall(
      layers.filter((layer) => layer.observes === true || layer.scrub !== undefined),
      output,
    );
  /** Says that it ran, whatever became of it. */
  const claiming: Observe = async (layers, output) => {
    const { result, endings } = await trusting(layers, output);
    return { result: { ...result, executed: 'yes', status: 'ok' }, endings };
  };

  it.each([
    ['that runs every layer', asAnyCall],
    ['that trusts those who observe', trusting],
    ['that only claims', claiming],
  ])('one %s is caught', async (_title, twin) => {
    await expect(holdsFor(twin)).rejects.toThrow('Property failed');
  });
});
