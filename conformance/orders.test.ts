import { describe, expect, it } from 'vitest';
import {
  composeToolCallers,
  isAlliumError,
  type Next,
  ok,
  refuse,
  type ToolLayer,
  type ToolResult,
} from '../src/index.ts';
import {
  auditLog,
  consent,
  dryRun,
  idempotency,
  redaction,
  requiredReason,
  timeout,
} from '../middleware/index.ts';
import { makeCall, type PartialCall, settle, testClock, type TestClock } from './test-kit.ts';
import { howMany } from './how-many.fixture.ts';

/** Assembled, so that no scanner takes it for a real one. */
const CANARY = ['gh', 'p_', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('');
/** Looks like nothing: only a path rule knows that it is secret. */
const PIN = 'plain words 7391';
const CARD = '4111 1111 1111 1111';
const HUMAN_MS = 60_000;
const LIMIT_MS = 1_000;

const NAMES = [
  'auditLog',
  'consent',
  'requiredReason',
  'redaction',
  'idempotency',
  'dryRun',
  'timeout',
] as const;
type Name = (typeof NAMES)[number];
type Order = readonly Name[];

/** One stack in one order, with what came out of it. */
interface Bench {
  readonly clock: TestClock;
  readonly receipts: string[];
  readonly ran: string[];
  call(partial: PartialCall): Promise<ToolResult>;
}

function layersFor(receipts: string[], clock: TestClock): Record<Name, ToolLayer> {
  return {
    auditLog: auditLog((receipt: object) => void receipts.push(JSON.stringify(receipt))),
    consent: consent(async (call) => {
      if (call.toolName !== 'slow_human') return call.toolName !== 'forbidden';
      await new Promise<void>((resolve) => void clock.after(HUMAN_MS, resolve));
      return true;
    }),
    requiredReason: requiredReason(),
    redaction: redaction({
      detectors: ['secrets', 'card'],
      strategies: { card: 'block' },
      paths: ['**.pin'],
    }),
    idempotency: idempotency({
      key: (call) => `${call.toolName}:${JSON.stringify(call.toolArgs.key)}`,
    }),
    dryRun: dryRun({ only: ['preview_*'] }),
    timeout: timeout({ maxMs: LIMIT_MS, graceMs: 0 }),
  };
}

/** Layers that stand in for the real ones: the naive twins. */
type Twins = Partial<Record<Name, ToolLayer>>;

function benchOf(order: Order, twins: Twins = {}): Bench {
  const clock = testClock();
  const receipts: string[] = [];
  const ran: string[] = [];
  const made = { ...layersFor(receipts, clock), ...twins };
  const executor: Next = (call) => {
    ran.push(call.toolName);
    call.report({ message: CANARY });
    return call.toolName === 'stuck'
      ? new Promise(() => {})
      : Promise.resolve(ok(call, { echo: CANARY, args: call.toolArgs }));
  };
  // Without the rules: here harmful orders are run on purpose.
  const layers = order.map((name) => ({ ...made[name], order: [] }));
  const composed = composeToolCallers(layers, { clock });
  let calls = 0;
  return {
    ...{ clock, receipts, ran },
    call({ toolArgs, ...partial }) {
      calls += 1;
      const args = { reason: `because ${CANARY}`, key: calls, ...toolArgs };
      return composed(makeCall({ ...partial, callId: `call-${calls}`, toolArgs: args }), executor);
    },
  };
}

/** What the host and the model read; the arguments the model sent are not news to it. */
const shownBy = ({ result, content, renderedResult, observation, error }: ToolResult): string =>
  JSON.stringify([result, content, renderedResult, observation, error]);

/** Lets a call come to its end, whatever waits for the clock. */
async function finish(bench: Bench, calling: Promise<ToolResult>): Promise<ToolResult> {
  let result: ToolResult | null = null;
  void calling.then((ended) => (result = ended));
  for (let step = 0; step < 200 && result === null; step += 1)
    await (step < 6 ? settle() : bench.clock.advance(LIMIT_MS));
  if (result === null) throw new Error('a call did not end');
  return result;
}

const HARMS: Readonly<Record<string, (order: Order, twins: Twins) => Promise<boolean>>> = {
  async 'a canary leaks'(order, twins) {
    const progress: string[] = [];
    const bench = benchOf(order, twins);
    const report = (told: object) => void progress.push(JSON.stringify(told));
    const results = [
      await finish(
        bench,
        bench.call({ toolName: 'fetch', toolArgs: { token: CANARY, pin: PIN }, report }),
      ),
      await finish(
        bench,
        bench.call({ toolName: 'preview_fetch', toolArgs: { token: CANARY, pin: PIN } }),
      ),
      await finish(
        bench,
        bench.call({ toolName: 'fetch', toolArgs: { token: CANARY, pin: PIN, key: 1 } }),
      ),
    ];
    return [...results.map(shownBy), ...bench.receipts, ...progress].some(
      (text) => text.includes(CANARY) || text.includes(PIN),
    );
  },
  async 'something runs unapproved'(order, twins) {
    const bench = benchOf(order, twins);
    await finish(bench, bench.call({ toolName: 'forbidden' }));
    return bench.ran.includes('forbidden');
  },
  async 'a call is unrecorded'(order, twins) {
    const bench = benchOf(order, twins);
    const calls: PartialCall[] = [
      { toolName: 'forbidden' },
      { toolName: 'fetch', toolArgs: { reason: ' ' } },
      { toolName: 'fetch', toolArgs: { card: CARD } },
      { toolName: 'preview_fetch' },
      { toolName: 'fetch', toolArgs: { key: 'same' } },
      { toolName: 'fetch', toolArgs: { key: 'same' } },
      { toolName: 'stuck' },
    ];
    const results: ToolResult[] = [];
    for (const call of calls) results.push(await finish(bench, bench.call(call)));
    const recorded = bench.receipts.map(
      (text) => JSON.parse(text) as { tool_call_id: string; status: string },
    );
    return !results.every(({ toolCallId, status }) =>
      recorded.some((receipt) => receipt.tool_call_id === toolCallId && receipt.status === status),
    );
  },
  async 'a preview is kept as an answer'(order, twins) {
    const shared = { idempotency: layersFor([], testClock()).idempotency, ...twins };
    const previewing = benchOf(order, shared);
    await finish(
      previewing,
      previewing.call({ toolName: 'preview_fetch', toolArgs: { key: 'k' } }),
    );
    const real = benchOf(order, { ...shared, dryRun: dryRun({ only: [] }) });
    await finish(real, real.call({ toolName: 'preview_fetch', toolArgs: { key: 'k' } }));
    return real.ran.length !== 1;
  },
  async "a person's time is counted"(order, twins) {
    const bench = benchOf(order, twins);
    return (await finish(bench, bench.call({ toolName: 'slow_human' }))).status === 'timeout';
  },
};

function permutations<T>(items: readonly T[]): readonly (readonly T[])[] {
  if (items.length < 2) return [items];
  return items.flatMap((item, index) =>
    permutations(items.toSpliced(index, 1)).map((rest) => [item, ...rest]),
  );
}

function isRefused(order: Order): boolean {
  const layers = layersFor([], testClock());
  try {
    composeToolCallers(order.map((name) => layers[name]));
    return false;
  } catch (error) {
    if (isAlliumError(error, 'ERR_LAYER_ORDER')) return true;
    throw error;
  }
}

async function harmOf(order: Order, twins: Twins = {}): Promise<string | null> {
  for (const [harm, happens] of Object.entries(HARMS)) if (await happens(order, twins)) return harm;
  return null;
}

/** Keeps whatever was ok. */
function naiveCache(): ToolLayer {
  const kept = new Map<string, unknown>();
  return {
    name: 'idempotency',
    async caller(call, next) {
      const key = `${call.toolName}:${JSON.stringify(call.toolArgs.key)}`;
      if (kept.has(key)) return ok(call, kept.get(key));
      const result = await next(call);
      if (result.ok) kept.set(key, result.result);
      return result;
    },
  };
}

/** Takes any answer for a yes. */
const naiveConsent: ToolLayer = {
  name: 'consent',
  caller(call, next) {
    const answer: unknown = 'denied';
    return answer ? next(call) : refuse(call, 'consent_denied', 'No.');
  },
};

describe('the order of the seven', () => {
  const all = permutations(NAMES);
  /**
   * Neighbours in the list differ at their end only, so that one of seven still has every layer
   * before and behind every other.
   */
  const orders = all.filter((_order, index) => index % howMany(21, 1) === 0);
  const harms = new Map<string, string>();

  it('is refused exactly where running it does harm, for all orders', {
    timeout: 300_000,
  }, async () => {
    const wrong: string[] = [];
    for (const order of orders) {
      const harm = await harmOf(order);
      if (harm !== null) harms.set(order.join(' '), harm);
      if ((harm !== null) !== isRefused(order))
        wrong.push(`${order.join(' ')}: ${harm ?? 'does no harm, but is refused'}`);
    }

    expect(all).toHaveLength(5_040);
    expect(wrong).toEqual([]);
    expect(orders.length - harms.size).toBe(orders.filter((order) => !isRefused(order)).length);
    expect(all.filter((order) => !isRefused(order))).toHaveLength(180);
  });

  it('can do each kind of harm that an order can do: an oracle that never objects proves nothing', () => {
    expect(new Set(harms.values())).toEqual(
      new Set(['a canary leaks', 'a call is unrecorded', "a person's time is counted"]),
    );
  });

  it.each<[string, Twins]>([
    ['a preview is kept as an answer', { idempotency: naiveCache() }],
    ['something runs unapproved', { consent: naiveConsent }],
  ])('finds that %s with a layer that lets it happen', async (harm, twins) => {
    expect(await harmOf(NAMES, twins)).toBe(harm);
  });
});
