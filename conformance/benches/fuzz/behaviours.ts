/** Ways in which layers and executors treat a call, from the exemplary to the malicious. */

import { annotate, fail, ok, raise, refuse, withResult } from '../../../src/core/onion/results.ts';
import { withCall } from '../../../src/core/onion/own-call.ts';
import type { ToolCall } from '../../../src/core/contract/call.ts';
import { composeToolCallers } from '../../../src/core/onion/compose.ts';
import type { Next, ToolCaller } from '../../../src/core/contract/layer.ts';
import type { ToolResult } from '../../../src/core/contract/result.ts';
import { hostileThrowables, malformedResults } from '../../hostile-values.ts';
import { makeCall } from '../../test-kit.ts';
import type { Random } from './random.ts';

/** What a behaviour is given. */
export interface Scene {
  readonly random: Random;
  readonly call: ToolCall;
  /** A `next` that may be accepted, and is counted. */
  readonly next: Next;
  /** A `next` for after the layer has returned, which must be refused. */
  readonly lateNext: Next;
}

export type Behaviour = (scene: Scene) => ToolResult | Promise<ToolResult>;

/** Some microtasks long. No timers: a million calls have to fit into minutes. */
export async function hops(count: number): Promise<void> {
  for (let hop = 0; hop < count; hop += 1) await Promise.resolve();
}

// Made once: throwing a value does not use it up, and some of them take long to make.
export const throwables = hostileThrowables.map(([, make]) => make());
const malformed = malformedResults.map(([, make]) => make);

// The types say what honest layers return and pass on; these do not.
const untyped = (value: unknown): ToolResult => value as ToolResult;
export const untypedCall = (value: unknown): ToolCall => value as ToolCall;

/** Anything but a result of this call. */
export const malformedFor = (call: ToolCall, random: Random): ToolResult =>
  untyped(random.pick(malformed)(call));

const hostileResult = ({ random, call }: Scene): ToolResult => malformedFor(call, random);

function throwHostile({ random }: Scene): never {
  throw random.pick(throwables);
}

const nameless: ToolCaller = (call, next) => next(call);
const joined = composeToolCallers([
  {
    name: 'joined outer',
    caller: async (call, next) => annotate(await next(call), { joined: true }, { status: 'seen' }),
  },
  { name: 'joined inner', caller: nameless, scrub: (text) => text.replaceAll('secret', '***') },
]);

/** The names of layers that behaviours bring in themselves. */
export const JOINED_NAMES: readonly string[] = joined.layers.map(({ name }) => name);

const honest: readonly Behaviour[] = [
  ({ call, next }) => next(call),
  async ({ call, next }) => await next(call),
  ({ call, next, random }) =>
    next(withCall(call, { toolArgs: { ...call.toolArgs, changed: random.below(9) } })),
  async ({ call, next }) =>
    annotate(await next(call), { summary: 'a secret', seen: 1 }, { status: 'seen', count: 2 }),
  async ({ call, next, random }) => {
    await hops(random.below(4));
    const result = await next(call);
    await hops(random.below(4));
    return result;
  },
  async ({ call, next }) => withResult(await next(call), { metadata: { touched: true } }),
  ({ call, next }) => joined(call, next),
  async ({ call, next }) =>
    joined(withCall(call, { toolArgs: { joined: true } }), (passed) => next(passed)),
];

const deciding: readonly Behaviour[] = [
  ({ call }) => ok(call, 'answered here'),
  ({ call }) => refuse(call, 'policy_blocked', 'Not this one.'),
  async ({ call }) =>
    annotate(
      refuse(call, 'rate_limited', 'Later.', { retryAfterMs: 5 }),
      { metadata: { cap: 1 } },
      { status: 'full' },
    ),
  ({ call }) => raise(refuse(call, 'scope_violation', 'Out of scope.')),
  async ({ call, next }) =>
    raise(refuse((await next(call)).ok ? call : withCall(call, {}), 'policy_blocked', 'Too late.')),
  async ({ call, next }) => ((await next(call)).ok ? ok(call, 'other words') : ok(call, 'made up')),
  async ({ call, next, random }) => {
    let result = await next(call);
    for (let again = random.below(3); again > 0 && !result.ok; again -= 1)
      result = await next(call);
    return result;
  },
  async ({ call, next, random }) => {
    let result = ok(call, 'not asked');
    for (let times = random.below(4); times > 0; times -= 1) result = await next(call);
    return result;
  },
];

const leaving: readonly Behaviour[] = [
  ({ call, next }) => {
    const own = new AbortController();
    void next(withCall(call, { signal: own.signal }));
    own.abort();
    return annotate(refuse(call, 'timeout', 'Too slow.'), { left: true }, { status: 'left' });
  },
  async ({ call, next, random }) => {
    const own = new AbortController();
    const pending = next(withCall(call, { signal: own.signal }));
    await hops(random.below(6));
    own.abort();
    return random.oneIn(2) ? await pending : refuse(call, 'timeout', 'Too slow.');
  },
  ({ call, next }) => {
    void next(call);
    return ok(call, 'forgot to wait');
  },
  async ({ call, next, random }) => {
    const first = next(call);
    const second = next(call);
    return random.oneIn(2) ? await first : await second;
  },
  async ({ call, next, lateNext, random }) => {
    const result = await next(call);
    void hops(2 + random.below(20)).then(() => lateNext(call));
    return result;
  },
  ({ call, lateNext }) => {
    void hops(3).then(() => lateNext(call));
    return ok(call, 'started nothing yet');
  },
];

const broken: readonly Behaviour[] = [
  throwHostile,
  async (scene) => throwHostile(scene),
  async (scene) => {
    await scene.next(scene.call);
    return throwHostile(scene);
  },
  (scene) => {
    void scene.next(scene.call);
    return throwHostile(scene);
  },
  hostileResult,
  async (scene) => {
    await scene.next(scene.call);
    return hostileResult(scene);
  },
  ({ call, next, random }) =>
    next({ ...call, callId: 'forged', toolArgs: { spread: random.below(9) } }),
  ({ next, random }) => next(untypedCall(random.pick(throwables))),
  ({ next }) => next(makeCall({ callId: 'another' })),
  async ({ call, next, random }) =>
    annotate(await next(call), random.pick(throwables) as object, { status: 'odd' }),
  ({ call }) => ok({ ...call, callId: 'forged' }, 1),
];

/**
 * How often a group is taken. Honest layers are many, so that calls get to the bottom of deep
 * stacks.
 */
const GROUPS: readonly (readonly Behaviour[])[] = [
  honest,
  honest,
  honest,
  honest,
  honest,
  deciding,
  leaving,
  broken,
];

/** A behaviour at random. */
export const pickBehaviour = (random: Random): Behaviour => random.pick(random.pick(GROUPS));

const executors: readonly ((call: ToolCall, random: Random) => ToolResult | Promise<ToolResult>)[] =
  [
    (call) => ok(call, call.toolArgs),
    async (call) => ok(call, call.toolArgs, { content: [{ type: 'text', text: 'done' }] }),
    async (call, random) => {
      await hops(random.below(12));
      return call.signal.aborted
        ? fail(call, 'cancelled', call.signal.reason, 'Stopped.')
        : ok(call, 'slow');
    },
    async (call) =>
      annotate(ok(call, 'said'), { handoff: { from: 'executor' } }, { status: 'not a layer' }),
    (call) => fail(call, 'executor_error', new Error('reported'), 'The tool says no.'),
    (call) => raise(refuse(call, 'policy_blocked', 'Raised by the executor.')),
    (call, random) => untyped(random.pick(malformed)(call)),
    (_, random) => {
      throw random.pick(throwables);
    },
    async (_, random) => {
      await hops(random.below(6));
      throw random.pick(throwables);
    },
  ];

/** One executor for a stack; what it does differs from call to call. */
export const execute = (call: ToolCall, random: Random): ToolResult | Promise<ToolResult> =>
  random.oneIn(2) ? ok(call, call.toolArgs) : random.pick(executors)(call, random);
