/** What is measured of which stack, in the order of the report. */

import { alliumStack } from './stack-allium.ts';
import { bareStack, idleStack } from './stack-idle.ts';
import { langChainNode, langChainStack } from './stack-langchain.ts';
import { ownLangChainNode } from './stack-langchain-own.ts';
import { floorStack, limitStack } from './stack-limit.ts';
import { answerTo, type Governed, type Rules, rulesFor, shortAnswerTo } from './stack-scenario.ts';

export const LIMIT = 'limit';
export const ALLIUM = 'allium';
export const FLOOR = 'JSON + SHA-256 + ajv';
export const OWN_LANGCHAIN = 'LangChain ToolNode, own parts';

export interface StackCase {
  readonly group: string;
  readonly how: 'hot' | 'serial' | 'paced';
  /** Whether an OpenTelemetry SDK takes the spans. Without one, nobody makes any. */
  readonly isTraced: boolean;
  readonly stacks: Readonly<Record<string, () => Governed | Promise<Governed>>>;
}

const sides = (rules: Rules): StackCase['stacks'] => ({
  [LIMIT]: () => limitStack(rules),
  [ALLIUM]: () => alliumStack(rules),
  [FLOOR]: () => floorStack(rules),
});

const SHORT = sides(rulesFor(shortAnswerTo));
const LONG = sides(rulesFor(answerTo));

/** The captain stack against the limit, with what it may cost. */
export const LIMIT_CASES: readonly (StackCase & { readonly maxRatio: number })[] = [
  { group: 'hot: 64 at a time, 60 B', how: 'hot', isTraced: false, stacks: SHORT, maxRatio: 2.5 },
  { group: 'hot: 64 at a time, 4 KB', how: 'hot', isTraced: false, stacks: LONG, maxRatio: 1.8 },
  {
    group: 'one after another, 60 B',
    how: 'serial',
    isTraced: false,
    stacks: SHORT,
    maxRatio: 4,
  },
  {
    group: 'paced: one in 4 ms, 60 B',
    how: 'paced',
    isTraced: false,
    stacks: SHORT,
    maxRatio: 2.6,
  },
];

/** All stacks, with spans. */
export const PEERS: StackCase = {
  group: 'captain stack, 200 B in, 4 KB out',
  how: 'serial',
  isTraced: true,
  stacks: {
    [LIMIT]: () => limitStack(),
    [ALLIUM]: () => alliumStack(),
    'LangChain wrapToolCall': langChainStack,
    'LangChain ToolNode': langChainNode,
    [OWN_LANGCHAIN]: ownLangChainNode,
  },
};

export const BARE = 'awaited function, ajv, frozen copy';
export const NO_LAYERS = 'governTools, no layers';
export const IDLE_LAYERS = 'governTools, eleven idle layers';

/** The stack before any layer does something. */
export const IDLE: StackCase = {
  group: 'idle: 64 at a time, 60 B',
  how: 'hot',
  isTraced: false,
  stacks: {
    [BARE]: bareStack,
    [NO_LAYERS]: () => idleStack(0),
    [IDLE_LAYERS]: () => idleStack(11),
  },
};

export const CASES: readonly StackCase[] = [...LIMIT_CASES, IDLE, PEERS];
