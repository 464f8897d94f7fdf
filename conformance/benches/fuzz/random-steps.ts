/** Ways in which a layer in two steps treats a call, from the exemplary to the malicious. */

import { annotate, ok, raise, refuse, withResult } from '../../../src/core/onion/results.ts';
import { withCall } from '../../../src/core/onion/own-call.ts';
import type { ToolCall } from '../../../src/core/contract/call.ts';
import type { ToolResult } from '../../../src/core/contract/result.ts';
import type { ToolCaller } from '../../../src/core/contract/layer.ts';
import { hops, malformedFor, throwables, untypedCall } from './behaviours.ts';
import type { Random } from './random.ts';

/** Goes on with `call`, and answers with what `leave` makes of the result. */
export interface Onward {
  readonly call: ToolCall;
  readonly leave: (result: ToolResult) => ToolResult | Promise<ToolResult>;
}
type Leave = Onward['leave'];
type Stepped = ToolResult | Onward;

/** The way in: answers the call, or says how to go on. */
export type Step = (call: ToolCall) => Stepped | Promise<Stepped>;

/** A caller that goes in, waits for `next` once, and comes out. */
export const inSteps =
  (step: Step): ToolCaller =>
  async (call, next) => {
    const stepped = await step(call);
    return isOnward(stepped) ? stepped.leave(await next(stepped.call)) : stepped;
  };

const isOnward = (stepped: Stepped): stepped is Onward =>
  typeof stepped === 'object' && stepped !== null && 'leave' in stepped;

/** What a way in does besides saying where to go on: now or later, and with which call. */
const entries: readonly ((
  call: ToolCall,
  random: Random,
  leave: Leave,
) => Stepped | Promise<Stepped>)[] = [
  (call, _random, leave) => ({ call, leave }),
  (call, random, leave) => ({
    call: withCall(call, { toolArgs: { ...call.toolArgs, changed: random.below(9) } }),
    leave,
  }),
  async (call, random, leave) => {
    await hops(random.below(4));
    return { call, leave };
  },
  (call) => ok(call, 'answered here'),
  async (call) => refuse(call, 'policy_blocked', 'Not this one.'),
  (call) => raise(refuse(call, 'scope_violation', 'Out of scope.')),
  (_call, random) => {
    throw random.pick(throwables);
  },
  async (_call, random) => {
    throw random.pick(throwables);
  },
  (_call, random, leave) => ({ call: untypedCall(random.pick(throwables)), leave }),
  (call, random) => malformedFor(call, random),
  async (call, random) => malformedFor(call, random),
];

const exits: readonly ((result: ToolResult, random: Random) => ToolResult | Promise<ToolResult>)[] =
  [
    (result) => result,
    (result) => annotate(result, { summary: 'a secret', seen: 1 }, { status: 'seen', count: 2 }),
    async (result, random) => {
      await hops(random.below(4));
      return withResult(result, { metadata: { touched: true } });
    },
    (_result, random) => {
      throw random.pick(throwables);
    },
    async (_result, random) => {
      throw random.pick(throwables);
    },
    (result) => ({ ...result }),
  ];

/** `counted` is told when the step goes on, `left` when the second step runs. */
export function randomStep(
  random: Random,
  counted: (call: ToolCall) => void,
  left: (call: ToolCall) => void,
): Step {
  return (call) => {
    const leave: Leave = (result) => {
      left(call);
      return (
        random.oneIn(2) ? (exits[random.below(3)] ?? random.pick(exits)) : random.pick(exits)
      )(result, random);
    };
    const enter = random.oneIn(2)
      ? (entries[random.below(3)] ?? random.pick(entries))
      : random.pick(entries);
    counted(call);
    return enter(call, random, leave);
  };
}
