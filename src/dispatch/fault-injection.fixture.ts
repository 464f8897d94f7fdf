/**
 * A call that needs five parties to say yes, any of which can be made to fail in every way there
 * is.
 */

import type { Random } from '../../conformance/benches/fuzz/random.ts';
import { consent, redaction } from '../../middleware/index.ts';
import {
  type ApprovalPrompt,
  defineTool,
  governTools,
  isAlliumError,
  type JsonObject,
  type ToolLayer,
  type ToolResult,
} from '../index.ts';
import { memoryApprovals, memoryGrants, type PermissionChecker } from '../policy/index.ts';

/** Who is asked on the way to the tool. */
export type Party =
  | 'decider'
  | 'redactor'
  | 'proposals'
  | 'checker'
  | 'prompt'
  | 'add'
  | 'get'
  | 'replace'
  | 'use'
  | 'keep';

/**
 * How the approval comes about, and who is asked on that way, each at most so often before the tool
 * runs.
 */
export const ROUTES: Readonly<
  Record<'prompt' | 'resume' | 'grant' | 'kept', Readonly<Partial<Record<Party, number>>>>
> = {
  prompt: { decider: 1, redactor: 1, proposals: 1, checker: 2, prompt: 1 },
  resume: { decider: 2, redactor: 2, proposals: 2, checker: 4, add: 1, get: 1, replace: 1 },
  grant: { decider: 1, redactor: 1, proposals: 1, checker: 2, use: 1 },
  kept: { keep: 1 },
};
export type Route = keyof typeof ROUTES;

export interface Fault {
  readonly name: string;
  /** What is answered in the place of the good answer. */
  readonly answer: (good: unknown, abort: () => void) => unknown;
  /** Parties to whom this is no fault. */
  readonly means?: readonly Party[];
}

const explode = (): never => {
  throw new Error('injected');
};
/** Whatever these answer with is not looked at: they have to fail to be at fault. */
const UNHEARD: readonly Party[] = ['add', 'keep'];
const value = (name: string, given: unknown, means: readonly Party[] = []): Fault => ({
  ...{ name, answer: () => given },
  means: [...UNHEARD, ...means],
});

/** Wrong at the first look, and right ever after. */
function changing(good: unknown): unknown {
  if (typeof good !== 'object' || good === null) return { toString: () => String(good) };
  const looks = new Map<PropertyKey, number>();
  return new Proxy(good, {
    get(target, key) {
      if (key === 'then') return undefined;
      looks.set(key, (looks.get(key) ?? 0) + 1);
      return looks.get(key) === 1 ? Symbol('wrong') : (Reflect.get(target, key) as unknown);
    },
  });
}

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

/** A good answer with another word in the place of its verdict. */
const misworded = (word: unknown) => (good: unknown) => {
  if (typeof good === 'string' || typeof good === 'boolean') return word;
  return typeof good === 'object' && good !== null && 'decision' in good
    ? { ...good, decision: word }
    : word;
};

export const FAULTS: readonly Fault[] = [
  { name: 'throws', answer: explode },
  { name: 'rejects', answer: () => Promise.reject(new Error('injected')) },
  { name: 'rejects with nothing', answer: () => Promise.reject(undefined) },
  {
    name: 'never answers',
    answer: (_good, abort) => (queueMicrotask(abort), new Promise(() => {})),
  },
  { name: 'answers with a thenable that throws', answer: () => ({ then: explode }) },
  {
    name: 'answers with a thenable that rejects',
    answer: () => ({ then: (_: unknown, reject: (why: unknown) => void) => reject(1) }),
  },
  {
    name: 'answers with what throws when it is waited for',
    answer: () => Object.defineProperty({}, 'then', { get: explode }),
  },
  // A prompt that reaches nobody, and a tool that proposes nothing more, are no faults, and end
  // differently.
  value('answers with nothing', undefined, ['proposals']),
  value('answers with a number', 1),
  value('answers with a list', [1]),
  value('answers with a function', () => 'allow'),
  value('answers with a symbol', Symbol('allow')),
  value('answers with true', true, ['decider', 'replace']),
  value('answers with "true"', 'true'),
  value('answers with "yes"', 'yes'),
  value('answers with junk', { allowed: true, approved: true, ok: true, kind: 'allow' }),
  value('answers with a revoked proxy', revoked()),
  ...['ALLOW', 'allowed', 'approve', 'ok', '', null, 1, ['allow']].map(
    (word): Fault => ({
      name: `says ${JSON.stringify(word)}`,
      answer: misworded(word),
      means: [...UNHEARD, 'prompt', 'use', 'proposals', 'redactor'],
    }),
  ),
  { name: 'answers with what changes', answer: changing, means: [...UNHEARD, 'replace'] },
];

export interface Injected {
  readonly party: Party;
  readonly fault: Fault;
  /** From the how manieth time on. */
  readonly from: number;
}

/** One or two faults on a route, at least one of which the call cannot get around. */
export function drawFaults(random: Random): {
  readonly route: Route;
  readonly injected: readonly Injected[];
} {
  const route = random.pick(Object.keys(ROUTES) as Route[]); // Its keys are the routes.
  const parties = Object.entries(ROUTES[route]) as [Party, number][]; // As it is written above.
  const injected = Array.from({ length: 1 + random.below(2) }, (): Injected => {
    const [party, times] = random.pick(parties);
    const fault = random.pick(FAULTS.filter(({ means = [] }) => !means.includes(party)));
    return { party, fault, from: 1 + random.below(times) };
  });
  return { route, injected };
}

export interface Played {
  /** How often the tool ran while something was at fault. */
  readonly ran: number;
  readonly result: ToolResult | null;
  /** The code of what was thrown in place of a result; `untyped` where it has none. */
  readonly thrown: string | null;
  /** Endings the host heard of, and the passes there were. */
  readonly endings: number;
  readonly passes: number;
}

export type PermissionsLike = (checkers: readonly PermissionChecker[]) => ToolLayer;

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };
const TURN = { sessionId: 's' };
const REQUEST = { name: 'pay', arguments: { amount: 5 } };

/** Plays one call. Without faults it runs its tool, once. */
export async function play(
  route: Route,
  injected: readonly Injected[],
  layer: PermissionsLike,
): Promise<Played> {
  const controller = new AbortController();
  const counts = new Map<Party, number>();
  let [ran, endings, passes, isSetUp] = [0, 0, 0, route === 'grant' || route === 'kept'];
  const answer = <T>(party: Party, good: () => T): T => {
    if (isSetUp && party !== 'keep') return good();
    const count = (counts.get(party) ?? 0) + 1;
    counts.set(party, count);
    const found = injected.find((one) => one.party === party && count >= one.from);
    // A fault is whatever it is: that it is no T is the point.
    return found === undefined
      ? good()
      : (found.fault.answer(good(), () => controller.abort()) as T);
  };

  const tool = defineTool({
    ...{ name: 'pay', description: '', inputSchema: { type: 'object' } },
    proposedRequests: () =>
      answer('proposals', (): readonly JsonObject[] => [
        { kind: 'payment', amount: 5, currency: 'EUR' },
      ]),
    execute: () => void (ran += 1),
  });
  const checker: PermissionChecker = ({ kind }) =>
    answer('checker', () => ({
      decision: kind === 'payment' ? ('require_approval' as const) : ('allow' as const),
    }));
  const prompt: ApprovalPrompt = () =>
    isSetUp
      ? { decision: 'allow_always', decidedBy: 'ada' }
      : route === 'prompt'
        ? answer('prompt', () => ({ decision: 'allow_once' as const, decidedBy: 'ada' }))
        : null;
  const [approvals, grants] = [memoryApprovals(), memoryGrants()];
  const governed = governTools({
    tools: [tool],
    layers: [
      consent(() => answer('decider', () => true)),
      redaction(({ phase, args }) => (phase === 'in' ? answer('redactor', () => ({ args })) : {})),
      layer([checker]),
    ],
    ...{ prompts: [prompt], logger: SILENT },
    approvals: {
      ...approvals,
      add: (approval) => answer('add', () => approvals.add(approval)),
      get: (id) => answer('get', () => approvals.get(id)),
      // The note of how it ended is made after the tool has run.
      replace: (approval) =>
        approval.ended === null
          ? answer('replace', () => approvals.replace(approval))
          : approvals.replace(approval),
    },
    grants: {
      ...grants,
      add: (grant) => answer('keep', () => void (injected.length === 0 && grants.add(grant))),
      use: (query) => answer('use', () => grants.use(query)),
    },
  });
  governed.on('tool_call_update', ({ status }) => (endings += status === 'in_progress' ? 0 : 1));

  if (isSetUp) {
    await governed.call(REQUEST, { turn: TURN, signal: controller.signal });
    [ran, endings, isSetUp] = [0, 0, false];
  }
  const { signal } = route === 'kept' ? new AbortController() : controller;
  try {
    passes = 1;
    const first = await governed.call(REQUEST, { turn: TURN, signal });
    if (route !== 'resume' || first.interruption === undefined)
      return { ran, result: first, thrown: null, endings, passes };
    const resuming = governed.resume(
      first.interruption.id,
      { decision: 'allow_once', decidedBy: 'ada' },
      { signal },
    );
    const result = await resuming.then((value) => ((passes = 2), value));
    return { ran, result, thrown: null, endings, passes };
  } catch (thrown) {
    return {
      ran,
      result: null,
      thrown: isAlliumError(thrown) ? thrown.code : 'untyped',
      endings,
      passes,
    };
  }
}
