/** Ways in which a layer in two steps treats a call, from the exemplary to the malicious. */

import { type ToolCall, withCall } from '../../src/core/call.ts';
import { annotate, ok, raise, refuse, type ToolResult, withResult } from '../../src/core/result.ts';
import type { Onward, Step, Stepped } from '../../src/core/steps.ts';
import { hops, malformedFor, throwables, untypedCall } from './behaviours.ts';
import type { Random } from './random.ts';

type Leave = Onward['leave'];

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
