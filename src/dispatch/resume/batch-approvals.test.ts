import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { createRandom, type Random } from '../../../conformance/benches/fuzz/random.ts';
import { settle, testClock } from '../../../conformance/test-kit.ts';
import { consent } from '../../../middleware/index.ts';
import type { ApprovalAnswer, GovernOptions, ToolResult } from '../../index.ts';
import { memoryApprovals } from '../../policy/index.ts';
import { setup } from '../testing.fixture.ts';
import { desk, requests, workshop } from './waiting.fixture.ts';

const allow: ApprovalAnswer = { decision: 'allow_once', decidedBy: 'ada' };
const reject: ApprovalAnswer = { decision: 'reject_once', decidedBy: 'ada' };

/** Calls that ask for it wait for a person, half a minute at most. */
function office(options: Partial<GovernOptions> = {}) {
  const person = desk();
  const { tool, ...shop } = workshop();
  const clock = testClock();
  const approvals = memoryApprovals();
  const parts = setup({
    toolList: () => [tool],
    layers: [
      consent({
        rules: [{ tool: '*', when: ({ ask }) => ask === true, decision: 'ask' }],
        default: 'allow',
        expiresMs: 30_000,
      }),
    ],
    prompts: [person.prompt],
    ...{ clock, approvals },
    ...options,
  });
  return { ...parts, clock, approvals, person, shop };
}

const statuses = (results: readonly ToolResult[]) => results.map(({ status }) => status);
const ids = (results: readonly ToolResult[]) => results.map(({ toolCallId }) => toolCallId);

describe('a batch in which people are asked', () => {
  it('comes back in order with each call decided on its own, and exactly the approved ones ran', async () => {
    const { governed, person, shop, clock } = office();
    const waits = { ask: true, quick: true };
    const running = governed.batch(
      requests(waits, waits, waits, waits, waits, waits, { quick: true }),
    );
    await settle();
    person.answer('f', null);
    person.answer('e', { ...allow, result: 'by hand' });
    person.answer('d', { ...allow, args: { quick: true, n: 4 } });
    person.answer('b', reject);
    person.answer('a', allow);
    await clock.advance(30_000);
    const results = await running;

    expect(statuses(results)).toEqual([
      'ok',
      'consent_denied',
      'consent_expired',
      'ok',
      'ok',
      'approval_required',
      'ok',
    ]);
    expect(ids(results)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
    expect(results.map(({ executed }) => executed)).toEqual([
      'yes',
      'no',
      'no',
      'yes',
      'no',
      'no',
      'yes',
    ]);
    expect(results[4]).toMatchObject({ result: 'by hand', approval: { decidedBy: 'ada' } });
    expect([...shop.entered].sort()).toEqual(['a', 'd', 'g']);
    expect(shop.args).toContainEqual({ quick: true, n: 4 });
  });

  it('ends what its caller leaves, keeps what had run, and asks nobody any more', async () => {
    const { governed, person, shop } = office();
    const caller = new AbortController();
    const running = governed.batch(
      requests({ ask: true }, { quick: true }, { ask: true }, { ask: true, quick: true }),
      {
        signal: caller.signal,
      },
    );
    await settle();
    person.answer('d', allow);
    person.answer('c', reject);
    await settle();
    caller.abort();
    const results = await running;

    expect(statuses(results)).toEqual(['cancelled', 'ok', 'consent_denied', 'ok']);
    expect(shop.entered).toEqual(['b', 'd']);
  });

  it('takes up each of the calls that wait on its own, in whatever order', async () => {
    const { governed, shop } = office({ prompts: [] });
    const waits = { ask: true, quick: true };
    const results = await governed.batch(requests(waits, { quick: true }, waits, waits));
    const resume = (index: number, decision: ApprovalAnswer) =>
      governed.resume(results[index]?.interruption?.id ?? '', decision);
    const [d, a, c] = await Promise.all([resume(3, reject), resume(0, allow), resume(2, allow)]);

    expect(statuses(results)).toEqual([
      'approval_required',
      'ok',
      'approval_required',
      'approval_required',
    ]);
    expect(new Set(results.flatMap(({ interruption }) => interruption?.id ?? [])).size).toBe(3);
    expect([a?.status, c?.status, d?.status]).toEqual(['ok', 'ok', 'consent_denied']);
    expect(shop.entered).toEqual(['b', 'a', 'c']);
  });

  it.each([
    ['its own maxConcurrent', {}, { maxConcurrent: 1 }],
    ['limits.maxConcurrent', { limits: { maxConcurrent: 1 } }, { maxConcurrent: 9 }],
    ['both', { limits: { maxConcurrent: 1 } }, { maxConcurrent: 1 }],
  ])(
    'is not held up by one that waits, whatever bounds it: %s',
    async (_name, options, batchOptions) => {
      const { governed, person, shop } = office(options);
      const ended: string[] = [];
      governed.on(
        'tool_call_update',
        (event) => event.status === 'completed' && ended.push(event.tool_call_id),
      );
      const running = governed.batch(
        requests({ ask: true, quick: true }, { quick: true }, { quick: true }),
        batchOptions,
      );
      await settle();
      const before = [...ended];
      person.answer('a', allow);
      const results = await running;

      expect(before).toEqual(['b', 'c']);
      expect(ids(results)).toEqual(['a', 'b', 'c']);
      expect(shop.entered).toEqual(['b', 'c', 'a']);
      expect(shop.most()).toBe(1);
    },
  );

  it('leaves no timer and no listener behind', async () => {
    const { governed, person, clock } = office({ limits: { maxConcurrent: 1 } });
    const caller = new AbortController();
    const waits = { ask: true, quick: true };
    const running = governed.batch(requests(waits, waits, waits, { quick: true }), {
      signal: caller.signal,
    });
    await settle();
    person.answer('a', allow);
    person.answer('b', reject);
    await clock.advance(30_000);
    await running;
    person.answer('c', allow);
    await settle();

    expect(clock.pending).toBe(0);
    expect(getEventListeners(caller.signal, 'abort')).toHaveLength(0);
    expect(statuses(await governed.batch(requests({ quick: true }, { quick: true })))).toEqual([
      'ok',
      'ok',
    ]);
  });
});

/** What becomes of one call of a random batch. */
type Fate = 'free' | 'allow' | 'edit' | 'supply' | 'reject' | 'expire' | 'nobody';

const FATES: readonly Fate[] = [
  'free',
  'free',
  'allow',
  'edit',
  'supply',
  'reject',
  'expire',
  'nobody',
];
const STATUS_OF: Readonly<Record<Fate, string>> = {
  ...{ free: 'ok', allow: 'ok', edit: 'ok', supply: 'ok' },
  ...{ reject: 'consent_denied', expire: 'consent_expired', nobody: 'approval_required' },
};
const RUNS: readonly Fate[] = ['free', 'allow', 'edit'];

function answerFor(fate: Fate): ApprovalAnswer | null {
  if (fate === 'edit') return { ...allow, args: { n: 99 } };
  if (fate === 'supply') return { ...allow, result: 1 };
  return fate === 'nobody' ? null : fate === 'reject' ? reject : allow;
}

/** Answers and finishes in a random order until nothing is left but what nobody will answer. */
async function playOut(
  { person, shop }: Pick<ReturnType<typeof office>, 'person' | 'shop'>,
  fateOf: (id: string) => Fate,
  random: Random,
) {
  for (;;) {
    await settle();
    const moves = [
      ...person
        .open()
        .flatMap((id) =>
          fateOf(id) === 'expire' ? [] : [() => person.answer(id, answerFor(fateOf(id)))],
        ),
      ...shop.inside().map((id) => () => shop.finish(id)),
    ];
    if (moves.length === 0) return;
    random.pick(moves)();
  }
}

describe('200 random batches', () => {
  it('never run more tools at a time than they may, and come back whole and in order', async () => {
    let sawFull = 0;
    for (let seed = 1; seed <= 200; seed += 1) {
      const random = createRandom(seed);
      const fates = Array.from({ length: 2 + random.below(8) }, () => random.pick(FATES));
      const [own, shared] = [1 + random.below(3), 1 + random.below(3)];
      const parts = office({ limits: { maxConcurrent: shared } });
      const running = parts.governed.batch(
        requests(...fates.map((fate, n) => ({ n, ask: fate !== 'free' }))),
        { maxConcurrent: own },
      );
      const most = Math.min(own, shared);
      await playOut(parts, (id) => fates[id.charCodeAt(0) - 97] ?? 'free', random);
      await parts.clock.advance(30_000);
      const results = await running;

      expect(statuses(results), `seed ${seed}`).toEqual(fates.map((fate) => STATUS_OF[fate]));
      expect(ids(results), `seed ${seed}`).toEqual(
        requests(...fates.map(() => ({}))).map(({ id }) => id),
      );
      expect([...parts.shop.entered].sort(), `seed ${seed}`).toEqual(
        ids(results).filter((_id, index) => RUNS.includes(fates[index] ?? 'reject')),
      );
      expect(parts.shop.most(), `seed ${seed}`).toBeLessThanOrEqual(most);
      expect(parts.clock.pending, `seed ${seed}`).toBe(0);
      if (parts.shop.most() === most) sawFull += 1;
    }
    // Otherwise the bound would hold for the wrong reason.
    expect(sawFull).toBeGreaterThan(100);
  });
});
