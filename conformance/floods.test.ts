import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { callLimit, consent, idempotency, rateLimit, repeatGuard } from '../middleware/index.ts';
import {
  type ApprovalPrompt,
  type Clock,
  composeToolCallers,
  defineLayer,
  defineTool,
  governTools,
  refuse,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
} from '../src/index.ts';
import { type ApprovalStore, fileApprovals, memoryApprovals } from '../src/policy/index.ts';
import {
  type ClaimStore,
  type CounterStore,
  memoryClaims,
  memoryCounters,
} from '../src/stores/index.ts';
import { echoExecutor, makeCall, testClock } from './index.ts';
import { howMany } from './how-many.fixture.ts';

const FLOOD = howMany(2_000, 100_000);
/** Questions by one caller. */
const questions = (usually: number): number => howMany(usually, 100_000);
const PATIENCE_MS = 900_000;

/** A stack of one real layer, called by sessions that make up whatever a caller can make up. */
function start(layer: ToolLayer, clock = testClock()) {
  const stack = composeToolCallers([layer], { clock });
  const call = (sessionId: string, nth: number | string, runId?: string): Promise<ToolResult> =>
    stack(
      makeCall({
        callId: `call-${nth}`,
        toolArgs: { nth },
        turn: { sessionId, ...(runId === undefined ? {} : { runId }) },
      }),
      // One that keeps no calls: a hundred thousand of them are not what is measured.
      (inner) => echoExecutor()(inner),
    );
  return { clock, call };
}

async function statusesOf(
  calls: number,
  make: (nth: number) => Promise<ToolResult>,
): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (let nth = 0; nth < calls; nth += 1) {
    const { status } = await make(nth);
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}

/** A table with a cap that refuses what does not fit. */
function cappedCounters(maxKeys: number): CounterStore {
  const counts = new Map<string, number>();
  return {
    take(key, { max }) {
      const count = counts.get(key) ?? 0;
      if (count >= max || (count === 0 && counts.size >= maxKeys))
        return { admitted: false, count, retryAfterMs: null };
      counts.set(key, count + 1);
      return { admitted: true, count: count + 1, retryAfterMs: null };
    },
  };
}

/** Claims in a table with a cap, whoever fills it. */
function cappedClaims(maxKeys: number): ClaimStore {
  const keys = new Set<string>();
  const claims = memoryClaims();
  return {
    ...claims,
    claim(key, { owner: _owner, ...request }) {
      if (keys.size >= maxKeys && !keys.has(key)) throw new Error('full');
      keys.add(key);
      return claims.claim(key, request);
    },
  };
}

/** As many as a store of the size that the test gives it has keys. */
const SMALL = 500;

describe('more sessions of one caller than a store has keys', () => {
  it.each([
    ['without a window', FLOOD, {}],
    [
      'with a window of a day',
      SMALL,
      { windowMs: 86_400_000, store: memoryCounters({ maxKeys: SMALL }) },
    ],
  ])(
    'do not keep another one from a rate limit %s',
    { timeout: PATIENCE_MS },
    async (_name, flood, options) => {
      const { call } = start(rateLimit({ maxCalls: 2, per: 'session', ...options }));

      expect(await statusesOf(flood + 10, (nth) => call(`flood-${nth}`, nth))).toEqual({
        ok: flood + 10,
      });
      expect((await call('another', 1)).status).toBe('ok');
      expect((await call('another', 2)).status).toBe('ok');
      expect((await call('another', 3)).status).toBe('rate_limited');
    },
  );

  it('do so with a plain table that has a cap, and the same calls find it', async () => {
    const { call } = start(
      rateLimit({ maxCalls: 2, per: 'session', store: cappedCounters(SMALL) }),
    );
    await statusesOf(SMALL + 10, (nth) => call(`flood-${nth}`, nth));

    expect(await call('another', 1)).toMatchObject({ status: 'rate_limited', errorClass: 'fatal' });
  });

  it('do not wipe out the limit of a tool that is counted in the same store', async () => {
    const store = memoryCounters({ maxKeys: SMALL });
    const { call } = start(rateLimit({ maxCalls: 1, per: 'tool', store }));
    const { call: callOther } = start(rateLimit({ maxCalls: 1, per: 'session', store }));
    await call('mine', 1);
    await statusesOf(SMALL * 2, (nth) => callOther(`flood-${nth}`, nth));

    expect((await call('mine', 2)).status).toBe('rate_limited');
  });
});

describe('more names of one session than a store has keys', () => {
  const perName = {
    maxCalls: 1,
    per: ({ toolArgs }: ToolCall) => `name ${JSON.stringify(toolArgs.nth)}`,
  };

  it('do not wipe out what another session has used up', { timeout: PATIENCE_MS }, async () => {
    const { call } = start(rateLimit({ ...perName, store: memoryCounters({ maxKeys: SMALL }) }));
    await call('another', 'used up');
    await statusesOf(SMALL * 2, (nth) => call('flooder', nth));

    expect((await call('another', 'used up')).status).toBe('rate_limited');
    expect((await call('another', 'new')).status).toBe('ok');
  });

  it('do not wipe out the count of a run of another session', {
    timeout: PATIENCE_MS,
  }, async () => {
    const { call } = start(callLimit({ maxCalls: 1, store: memoryCounters({ maxKeys: SMALL }) }));
    await call('another', 1, 'used up');
    await statusesOf(SMALL * 2, (nth) => call('flooder', nth, `run-${nth}`));

    expect((await call('another', 2, 'used up')).status).toBe('limit_exceeded');
    expect((await call('another', 3, 'new')).status).toBe('ok');
  });

  it('cost the session that made them up, with a time to wait where waiting helps', async () => {
    const windowMs = 60_000;
    const { call, clock } = start(
      rateLimit({ ...perName, windowMs, store: memoryCounters({ maxKeys: SMALL }) }),
    );
    await statusesOf(SMALL, (nth) => call('flooder', nth));
    const refused = await call('flooder', 'one more');

    expect(refused).toMatchObject({
      status: 'rate_limited',
      errorClass: 'retryable',
      metadata: { retryAfterMs: windowMs },
    });
    expect((await call('another', 'new')).status).toBe('ok');
    await clock.advance(windowMs);
    expect((await call('flooder', 'one more')).status).toBe('ok');
  });
});

describe('more runs of one session than a guard remembers', () => {
  /** Looks for the run in a plain table, from which the one that was idle longest goes. */
  function naiveGuard(maxRuns: number, stopAfter: number): ToolLayer {
    const runs = new Map<string, number>();
    return defineLayer({
      name: 'naiveGuard',
      async caller(call, next) {
        const run = call.turn.runId ?? '';
        const count = (runs.get(run) ?? 0) + 1;
        runs.delete(run);
        runs.set(run, count);
        const [idle] = runs.size > maxRuns ? runs.keys() : [];
        if (idle !== undefined) runs.delete(idle);
        return count > stopAfter ? refuse(call, 'limit_exceeded', 'again') : next(call);
      },
    });
  }
  const afterFlood = async (layer: ToolLayer) => {
    const { call } = start(layer);
    for (let nth = 0; nth < 5; nth += 1) await call('another', 'the same', 'run');
    await statusesOf(SMALL + 10, (nth) => call('flooder', nth, `run-${nth}`));
    return (await call('another', 'the same', 'run')).status;
  };

  it('do not let another one repeat itself again', async () => {
    expect(await afterFlood(repeatGuard())).toBe('limit_exceeded');
  });

  it('do so with a plain table, and the same calls find it', async () => {
    expect(await afterFlood(naiveGuard(SMALL, 5))).toBe('ok');
  });
});

describe('more answers for always than consent remembers', () => {
  /**
   * A person allows a tool with any arguments and rejects one call of it for always, and then
   * leaves while answers pile up.
   */
  async function rejectedAfterFlood(flooder: string) {
    let isThere = true;
    let isFirst = true;
    const prompt: ApprovalPrompt = ({ shown: { args } }) => {
      if (!isThere) return null;
      const said = JSON.stringify(args);
      if (said.includes('bad')) return { decision: 'reject_always', decidedBy: 'ada' };
      if (!said.includes('good')) return { decision: 'allow_always', decidedBy: 'ada' };
      const answer = isFirst
        ? { decision: 'allow_always' as const, anyArguments: true as const }
        : { decision: 'allow_once' as const };
      isFirst = false;
      return { ...answer, decidedBy: 'ada' };
    };
    const stack = composeToolCallers(
      [consent({ default: 'ask', remember: true, prompts: [prompt] })],
      { clock: testClock() },
    );
    let calls = 0;
    const ask = async (sessionId: string, toolName: string, word: string) =>
      (
        await stack(
          makeCall({
            callId: `call-${(calls += 1)}`,
            toolName,
            toolArgs: { word },
            turn: { sessionId },
          }),
          echoExecutor(),
        )
      ).status;
    const said = [await ask('another', 'pay', 'bad'), await ask('another', 'pay', 'good')];
    for (let nth = 0; nth < 1_100; nth += 1) {
      await ask(flooder, `tool-${nth}`, 'flood');
      // The wide yes is used all the time, and the no is not.
      await ask('another', 'pay', 'good');
    }
    isThere = false;
    return [...said, await ask('another', 'pay', 'bad')];
  }

  it('does not make a yes for any arguments cover what was rejected, whoever piles them up', async () => {
    expect(await rejectedAfterFlood('flooder')).toEqual(['consent_denied', 'ok', 'consent_denied']);
    expect(await rejectedAfterFlood('another')).toEqual([
      'consent_denied',
      'ok',
      'approval_required',
    ]);
  });
});

describe('as many effects of one session as a store has keys', () => {
  const TTL_MS = 600_000;
  const flooded = async (flood: number, make: (clock: Clock) => ClaimStore) => {
    const clock = testClock();
    const { call } = start(
      idempotency({ mode: 'effect', ttlMs: TTL_MS, store: make(clock) }),
      clock,
    );
    await call('another', 'before');
    const counts = await statusesOf(flood, (nth) => call('flooder', nth));
    return { call, clock, counts };
  };

  it('leave room for another one, forget nothing, and tell the flooder when to come back', {
    timeout: PATIENCE_MS,
  }, async () => {
    const { call, clock, counts } = await flooded(FLOOD, (time) =>
      memoryClaims({ maxKeys: FLOOD, clock: time }),
    );

    expect(counts).toEqual({ ok: FLOOD / 2, rate_limited: FLOOD / 2 });
    expect((await call('another', 'after')).status).toBe('ok');
    // The first effect of the flooder: its answer had to go, the key is there, and it does not run
    // again.
    expect((await call('flooder', 0)).status).toBe('outcome_unknown');
    const refused = await call('flooder', 'one more');
    expect(refused).toMatchObject({
      status: 'rate_limited',
      errorClass: 'retryable',
      executed: 'no',
      metadata: { retryAfterMs: TTL_MS },
    });
    await clock.advance(TTL_MS);
    expect((await call('flooder', 'one more')).status).toBe('ok');
  });

  it('do not push out the answer of another one', async () => {
    const { call } = await flooded(SMALL, (clock) => memoryClaims({ maxKeys: SMALL, clock }));

    expect(await call('another', 'before')).toMatchObject({
      status: 'ok',
      result: { nth: 'before' },
    });
  });

  it('keep another one out of a plain table with a cap, and the same calls find it', async () => {
    const { call } = await flooded(SMALL, () => cappedClaims(SMALL));

    expect((await call('another', 'after')).status).not.toBe('ok');
  });
});

describe('questions by the thousand of one session', () => {
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: { type: 'object' },
    execute: () => 'paid',
  });
  const start = (approvals: ApprovalStore) =>
    governTools({ tools: [pay], layers: [consent({ default: 'ask' })], approvals });
  const folder = () => {
    const dir = mkdtempSync(join(tmpdir(), 'allium-floods-'));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    return join(dir, 'approvals');
  };

  it.each<[string, number, () => ApprovalStore]>([
    ['memory', questions(2_000), () => memoryApprovals()],
    ['files', questions(500), () => fileApprovals({ dir: folder(), maxApprovals: 200 })],
  ])(
    'are refused, and another session is asked about its call and can be answered: %s',
    { timeout: PATIENCE_MS },
    async (kept, flood, make) => {
      const governed = start(make());
      const ask = (sessionId: string, nth: number) =>
        governed.call({ name: 'pay', arguments: { nth } }, { turn: { sessionId } });
      const before = await ask('another', 1);
      const counts = await statusesOf(flood, (nth) => ask('flooder', nth));
      const refused = await ask('flooder', 0);
      const after = await ask('another', 2);
      const room = kept === 'memory' ? 500 : 100;

      expect(counts).toEqual({ approval_required: room, rate_limited: flood - room });
      expect(refused).toMatchObject({
        status: 'rate_limited',
        errorClass: 'retryable',
        executed: 'no',
      });
      expect(refused.interruption).toBeUndefined();
      for (const { interruption } of [before, after]) {
        const done = await governed.resume(interruption?.id ?? '', {
          decision: 'allow_once',
          decidedBy: 'ada',
        });
        expect(done).toMatchObject({ status: 'ok', result: 'paid' });
      }
    },
  );

  it('of as many sessions do not keep another one from asking', {
    timeout: PATIENCE_MS,
  }, async () => {
    const governed = start(memoryApprovals());
    const ask = (sessionId: string) =>
      governed.call({ name: 'pay', arguments: {} }, { turn: { sessionId } });
    await statusesOf(questions(2_000), (nth) => ask(`flood-${nth}`));
    const { interruption } = await ask('another');

    expect(
      (await governed.resume(interruption?.id ?? '', { decision: 'allow_once', decidedBy: 'ada' }))
        .status,
    ).toBe('ok');
  });
});
