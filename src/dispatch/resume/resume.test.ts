import { describe, expect, it } from 'vitest';
import { testClock } from '../../../conformance/index.ts';
import {
  auditLog,
  callLimit,
  consent,
  idempotency,
  permissions,
  requiredReason,
} from '../../../middleware/index.ts';
import {
  type ApprovalAnswer,
  defineTool,
  type GovernOptions,
  governTools,
  isAlliumError,
  type JsonObject,
  toolFailure,
} from '../../index.ts';
import { type ApprovalStore, memoryApprovals, memoryGrants } from '../../policy/index.ts';

const schema = {
  type: 'object',
  properties: { to: { type: 'string' }, amount: { type: 'number' } },
  required: ['to'],
} as const;

/** A bank whose payments somebody has to approve, and nobody can be asked at once. */
function bank(options: Partial<GovernOptions> = {}) {
  const paid: unknown[] = [];
  const events: JsonObject[] = [];
  const { clock = testClock() } = options as { readonly clock?: ReturnType<typeof testClock> };
  const approvals = memoryApprovals();
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: schema,
    execute: (args) => {
      paid.push(args);
      return { paid: true };
    },
  });
  let ids = 0;
  const governed = governTools({
    tools: [pay],
    layers: [consent({ default: 'ask' })],
    approvals,
    clock,
    createId: () => `id-${(ids += 1)}`,
    ...options,
  });
  for (const name of ['tool_call', 'tool_call_update'] as const)
    governed.on(name, (event) => events.push(event as unknown as JsonObject));
  const waiting = async (args: object = { to: 'bob', amount: 5 }) => {
    const result = await governed.call(
      { name: 'pay', arguments: args, id: 'call-1' },
      { turn: { sessionId: 's', turnId: 't' } },
    );
    return { result, id: result.interruption?.id ?? 'none' };
  };
  return { governed, waiting, paid, clock, approvals, events };
}

const allow: ApprovalAnswer = { decision: 'allow_once', decidedBy: 'ada' };
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'resolved',
    (error: unknown) => (isAlliumError(error) ? error.code : error),
  );

describe('resume', () => {
  it('runs a call that somebody approved, with the same id, once', async () => {
    const { governed, waiting, paid, events } = bank();
    const { result, id } = await waiting();
    const resumed = await governed.resume(id, { ...allow, reason: 'rent' });

    expect(result).toMatchObject({
      status: 'approval_required',
      executed: 'no',
      toolCallId: 'call-1',
    });
    expect(resumed).toMatchObject({
      status: 'ok',
      executed: 'yes',
      toolCallId: 'call-1',
      approval: { id, decidedBy: 'ada', reason: 'rent' },
    });
    expect(resumed.audit).toMatchObject({
      consent: { decision: 'approved' },
      approval: { id, gate: 'consent' },
    });
    expect(paid).toEqual([{ to: 'bob', amount: 5 }]);
    expect(events.map(({ type, status }) => [type, status])).toEqual([
      ['tool_call', 'pending'],
      ['tool_call_update', 'in_progress'],
      ['tool_call_update', 'paused'],
      ['tool_call_update', 'in_progress'],
      ['tool_call_update', 'completed'],
    ]);
  });

  it('denies with the reason, and runs nothing', async () => {
    const { governed, waiting, paid } = bank();
    const { id } = await waiting();
    const result = await governed.resume(id, {
      decision: 'reject_once',
      decidedBy: 'ada',
      reason: 'too much',
    });

    expect(result).toMatchObject({ status: 'consent_denied', executed: 'no' });
    expect(result.error).toContain('too much');
    expect(paid).toEqual([]);
  });

  it('takes one answer: the second throws, whatever it says', async () => {
    const { governed, waiting, paid } = bank();
    const { id } = await waiting();
    await governed.resume(id, allow);

    expect(await codeOf(governed.resume(id, allow))).toBe('ERR_APPROVAL_RESOLVED');
    expect(await codeOf(governed.resume(id, { decision: 'reject_once' }))).toBe(
      'ERR_APPROVAL_RESOLVED',
    );
    expect(await codeOf(governed.resume(id))).toBe('ERR_APPROVAL_RESOLVED');
    expect(paid).toHaveLength(1);
  });

  it('takes one of a hundred answers that come at once', async () => {
    const { governed, waiting, paid } = bank();
    const { id } = await waiting();
    const codes = await Promise.all(
      Array.from({ length: 100 }, () => codeOf(governed.resume(id, allow))),
    );

    expect(codes.filter((code) => code === 'resolved')).toHaveLength(1);
    expect(codes.filter((code) => code === 'ERR_APPROVAL_RESOLVED')).toHaveLength(99);
    expect(paid).toHaveLength(1);
  });

  it.each([
    undefined,
    { decision: 'yes' },
    { decision: 'allow_once', agrs: {} },
    { decision: 'reject_once', result: 1 },
    { decision: 'allow_once', args: {}, result: 1 },
    { decision: 'allow_once', args: [] },
    { decision: 'allow_once', result: 1n },
    {},
  ])('throws for a decision that is none (%#), and the call still waits', async (decision) => {
    const { governed, waiting, paid } = bank();
    const { id } = await waiting();
    const code = await codeOf(governed.resume(id, decision as never));

    expect(code).toBe(decision === undefined ? 'ERR_APPROVAL_PENDING' : 'ERR_INVALID_DECISION');
    expect(paid).toEqual([]);
    expect(await governed.resume(id, allow)).toMatchObject({ status: 'ok' });
  });

  it('throws for an approval nobody knows', async () => {
    const { governed } = bank();

    expect(await codeOf(governed.resume('approval_none', allow))).toBe('ERR_UNKNOWN_APPROVAL');
  });

  it('runs nothing for a yes that comes late, and lets a late no be a no', async () => {
    const { governed, waiting, paid, clock } = bank({
      layers: [consent({ default: 'ask', expiresMs: 1000 })],
    });
    const [first, second] = [await waiting(), await waiting()];
    await clock.advance(1000);

    expect(await governed.resume(first.id, allow)).toMatchObject({
      status: 'consent_expired',
      executed: 'no',
      approval: { decision: 'expired' },
    });
    expect(await governed.resume(second.id, { decision: 'reject_once' })).toMatchObject({
      status: 'consent_denied',
    });
    expect(await codeOf(governed.resume(first.id, allow))).toBe('ERR_APPROVAL_RESOLVED');
    expect(paid).toEqual([]);
  });

  it('runs nothing for a no, also where rules have come to allow the call since', async () => {
    let decision: 'ask' | 'auto' = 'ask';
    const { governed, waiting, paid } = bank({ layers: [consent(() => decision)] });
    const { id } = await waiting();
    decision = 'auto';

    expect(await governed.resume(id, { decision: 'reject_once' })).toMatchObject({
      status: 'consent_denied',
      executed: 'no',
    });
    expect(paid).toEqual([]);
  });

  it('lets rules that have come to deny the call have the last word', async () => {
    let decision: 'ask' | 'denied' = 'ask';
    const { governed, waiting, paid } = bank({ layers: [consent(() => decision)] });
    const { id } = await waiting();
    decision = 'denied';

    expect(await governed.resume(id, allow)).toMatchObject({
      status: 'consent_denied',
      executed: 'no',
    });
    expect(paid).toEqual([]);
  });

  it('runs with edited arguments that fit, without what is hidden', async () => {
    const seen: unknown[] = [];
    const pay = defineTool({
      name: 'pay',
      description: 'Pays.',
      inputSchema: schema,
      injected: [{ name: 'account', from: () => 'the host’s' }],
      execute: (args) => void seen.push(args),
    });
    const { governed, waiting } = bank({ tools: [pay] });
    const { id } = await waiting();
    const result = await governed.resume(id, {
      ...allow,
      args: { to: 'carol', amount: 1, account: 'forged' },
    });

    expect(result).toMatchObject({ status: 'ok', arguments: { to: 'carol', amount: 1 } });
    expect(result.audit?.consent).toMatchObject({ edited: true, paths: ['to', 'amount'] });
    expect(JSON.stringify(result)).not.toContain('forged');
    expect(seen).toEqual([{ to: 'carol', amount: 1, account: 'the host’s' }]);
  });

  it('refuses edited arguments that do not fit, or that rules deny', async () => {
    const rules = [
      { tool: '*', when: ({ to }: JsonObject) => to === 'mallory', decision: 'deny' },
    ] as const;
    const { governed, waiting, paid } = bank({ layers: [consent({ rules, default: 'ask' })] });
    const [first, second] = [await waiting(), await waiting()];

    expect(await governed.resume(first.id, { ...allow, args: { amount: 1 } })).toMatchObject({
      status: 'schema_violation',
    });
    expect(await governed.resume(second.id, { ...allow, args: { to: 'mallory' } })).toMatchObject({
      status: 'consent_denied',
    });
    expect(paid).toEqual([]);
  });

  it('answers with the result a person gives, in the tool’s place', async () => {
    const { governed, waiting, paid } = bank();
    const { id } = await waiting();
    const result = await governed.resume(id, { ...allow, result: { paid: 'by hand' } });

    expect(result).toMatchObject({
      status: 'ok',
      executed: 'no',
      result: { paid: 'by hand' },
      audit: { consent: { supplied: true } },
    });
    expect(paid).toEqual([]);
  });

  it('refuses a result that is not what the tool promises, and the call still waits', async () => {
    const tool = defineTool({
      name: 'pay',
      description: '',
      inputSchema: schema,
      outputSchema: { type: 'object', required: ['paid'] },
    });
    const { governed, waiting } = bank({ tools: [{ ...tool, execute: () => ({ paid: true }) }] });
    const { id } = await waiting();

    expect(await codeOf(governed.resume(id, { ...allow, result: { other: 1 } }))).toBe(
      'ERR_INVALID_DECISION',
    );
    expect(await governed.resume(id, { ...allow, result: { paid: 1 } })).toMatchObject({
      status: 'ok',
      executed: 'no',
    });
  });

  it('counts a call once, however often it is taken up', async () => {
    const { governed, waiting } = bank({
      layers: [callLimit({ maxCalls: 1 }), consent({ default: 'ask' })],
      limits: { maxCallsPerSession: 1 },
    });
    const { id } = await waiting();

    expect(await governed.resume(id, allow)).toMatchObject({ status: 'ok' });
    expect((await waiting()).result.status).toBe('limit_exceeded');
  });

  it('checks arguments and limits before anybody is asked', async () => {
    const { governed, waiting } = bank({ limits: { maxCallsPerSession: 1 } });

    expect((await waiting({ amount: 1 })).result).toMatchObject({ status: 'schema_violation' });
    expect((await waiting()).result.status).toBe('approval_required');
    expect((await waiting()).result.status).toBe('limit_exceeded');
    expect(governed.tools).toHaveLength(1);
  });

  it('asks every layer that asks: one yes does not answer two questions', async () => {
    const { governed, waiting, paid } = bank({
      layers: [consent({ default: 'ask' }), consent({ default: 'ask' })],
    });
    const { id } = await waiting();
    const second = await governed.resume(id, { ...allow, decidedBy: 'ada' });
    const done = await governed.resume(second.interruption?.id ?? '', {
      ...allow,
      decidedBy: 'bob',
    });

    expect(second.status).toBe('approval_required');
    expect(second.interruption?.id).not.toBe(id);
    expect(done).toMatchObject({ status: 'ok' });
    expect(paid).toHaveLength(1);
  });

  it('names the first receipt in the second', async () => {
    const receipts: JsonObject[] = [];
    let written = 0;
    const sink = Object.assign((receipt: object) => void receipts.push(receipt as JsonObject), {
      uri: () => `mem:${(written += 1)}`,
    });
    const { governed, waiting } = bank({ layers: [auditLog(sink), consent({ default: 'ask' })] });
    const { id } = await waiting();
    await governed.resume(id, allow);

    expect(receipts.map(({ status }) => status)).toEqual(['approval_required', 'ok']);
    expect(receipts[1]).toMatchObject({
      tool_call_id: 'call-1',
      audit: { consent: { decided_by: 'ada' }, approval: { id } },
    });
    expect(receipts[1]?.approved_hash).toBe(receipts[0]?.requested_hash);
  });

  it('strips what a layer inside injected, as in the first pass', async () => {
    const { governed, waiting, paid } = bank({
      layers: [consent({ default: 'ask' }), requiredReason()],
    });
    const { result, id } = await waiting({ to: 'bob', reason: 'the rent is due' });
    await governed.resume(id, allow);

    expect(result.interruption?.shown).toMatchObject({
      args: { to: 'bob', reason: 'the rent is due' },
    });
    expect(paid).toEqual([{ to: 'bob' }]);
  });

  it('allow_always: is a grant for exactly these arguments, and is offered only where it is kept', async () => {
    const clock = testClock();
    const { governed, waiting, paid } = bank({ clock, grants: memoryGrants({ clock }) });
    const { result, id } = await waiting();
    await governed.resume(id, { ...allow, decision: 'allow_always' });

    expect(result.interruption?.options).toContain('allow_always');
    expect((await bank().waiting()).result.interruption?.options).toEqual([
      'allow_once',
      'reject_once',
    ]);
    expect((await waiting()).result).toMatchObject({
      status: 'ok',
      approval: { decidedBy: 'ada' },
    });
    expect((await waiting({ to: 'bob', amount: 6 })).result.status).toBe('approval_required');
    expect(paid).toHaveLength(2);
  });

  it('reject_always: is a grant that rejects', async () => {
    const clock = testClock();
    const { governed, waiting, paid } = bank({ clock, grants: memoryGrants({ clock }) });
    const { id } = await waiting();
    await governed.resume(id, { decision: 'reject_always', decidedBy: 'ada' });

    expect((await waiting()).result).toMatchObject({
      status: 'consent_denied',
      approval: { decidedBy: 'ada' },
    });
    expect(paid).toEqual([]);
  });

  it('drops the arguments once the call is taken up', async () => {
    const { governed, waiting, approvals } = bank();
    const { id } = await waiting({ to: 'canary-7', amount: 1 });
    const before = JSON.stringify(await approvals.get(id));
    await governed.resume(id, { ...allow, args: { to: 'canary-8' } });
    const after = JSON.stringify(await approvals.get(id));

    expect(before).toContain('canary-7');
    expect(after).not.toMatch(/canary/);
  });

  it('runs nothing when the store fails, in whichever step', async () => {
    for (const step of ['add', 'get', 'replace'] as const) {
      const approvals = memoryApprovals();
      const failing: ApprovalStore = {
        ...approvals,
        [step]: () => Promise.reject(new Error('canary disk')),
      };
      const { governed, waiting, paid } = bank({ approvals: failing });
      const { result, id } = await waiting();
      const code = await codeOf(governed.resume(id, allow));

      expect(step === 'add' ? result.status : 'approval_required').toBe(result.status);
      expect(code).toBe(step === 'add' ? 'ERR_UNKNOWN_APPROVAL' : 'ERR_APPROVALS_UNAVAILABLE');
      expect(paid).toEqual([]);
      expect(JSON.stringify(result)).not.toContain('canary');
    }
  });

  it('cancels a call whose caller leaves while it is taken up', async () => {
    const { governed, waiting, paid } = bank();
    const { id } = await waiting();
    const result = await governed.resume(id, allow, { signal: AbortSignal.abort() });

    expect(result).toMatchObject({ status: 'cancelled', executed: 'no' });
    expect(paid).toEqual([]);
  });

  it('keeps no call that a tool made: taken up alone it would be free of what holds the tool', async () => {
    const { governed, approvals } = bank({
      tools: [
        defineTool({ name: 'pay', description: '', inputSchema: schema, execute: () => 1 }),
        defineTool({
          name: 'outer',
          description: '',
          inputSchema: { type: 'object' },
          execute: async (_args, { call }) =>
            (await call({ name: 'pay', arguments: { to: 'bob' } })).status,
        }),
      ],
      layers: [consent({ rules: [{ tool: 'outer', decision: 'allow' }], default: 'ask' })],
    });
    const result = await governed.call({ name: 'outer', arguments: {} });

    expect(result.result).toBe('approval_required');
    expect(await approvals.list()).toEqual([]);
  });

  it('waits for somebody to sign in where a tool says so, and makes the call again', async () => {
    let isSignedIn = false;
    const pay = defineTool({
      name: 'pay',
      description: '',
      inputSchema: schema,
      execute: () => {
        if (!isSignedIn)
          throw toolFailure('Somebody has to sign in at the bank.', {
            signIn: { url: 'https://bank.example/login' },
          });
        return 'paid';
      },
    });
    const { governed, waiting } = bank({ tools: [pay], layers: [consent(() => true)] });
    const { result, id } = await waiting();
    const other = await waiting();
    isSignedIn = true;

    expect(result).toMatchObject({
      status: 'auth_required',
      executed: 'no',
      interruption: { kind: 'auth_required' },
    });
    expect(result.interruption?.shown).toEqual({
      toolName: 'pay',
      signIn: { url: 'https://bank.example/login' },
    });
    expect(await governed.resume(id, allow)).toMatchObject({
      status: 'ok',
      result: 'paid',
      executed: 'yes',
    });
    expect(await governed.resume(other.id, { decision: 'reject_once' })).toMatchObject({
      status: 'consent_denied',
      executed: 'no',
    });
  });

  it('takes no effect key for a call that waits, and one for the call that runs', async () => {
    const checkers = [() => 'require_approval' as const];
    const layers = [idempotency({ mode: 'effect', key: () => 'k' }), permissions({ checkers })];
    const { governed, waiting, paid } = bank({ layers });
    const { result, id } = await waiting();
    const resumed = await governed.resume(id, allow);

    expect(result.status).toBe('approval_required');
    expect(resumed).toMatchObject({ status: 'ok', executed: 'yes' });
    expect((await waiting()).result).toMatchObject({ status: 'ok', executed: 'no' });
    expect(paid).toHaveLength(1);
  });
});
