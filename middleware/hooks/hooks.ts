/**
 * Scripts that have a say before a tool runs and after it has: they allow, block, or write anew
 * what goes in and what comes out.
 */

import {
  askAfter,
  askBefore,
  blockedText,
  type HookDefinition,
  type HookRun,
  type HookSource,
  hookSource,
  hooksBefore,
  hooksLine,
  hooksOn,
  passedCalls,
  recheck,
} from '../../src/hooks/index.ts';
import {
  checkOptions,
  defineLayer,
  expected,
  gateCall,
  type JsonObject,
  must,
  type OrderRule,
  should,
  type ToolLayer,
} from '../../src/layer.ts';
import { type HooksOptions, OPTIONS } from './options.ts';

export type { HookDefinition, HookRun, HooksOptions };

/**
 * Asks the hooks of `tool.pre` before the call goes on, and those of `tool.post` about what came of
 * it. The first that blocks ends it, and one that fails, or says nothing that is understood, has
 * blocked. What a tool would be entered with in the end is asked about again where something inside
 * has changed it. It does not fire other events: see `fireHooks`.
 */
export function hooks(options: HooksOptions): ToolLayer {
  const source = sourceOf('hooks', options);
  const passed = passedCalls();
  const gate = recheck(source, passed);
  return defineLayer({
    name: 'hooks',
    rewrites: true,
    order: ORDER,
    async caller(call, next) {
      const before = await askBefore(call, source);
      if ('ended' in before) return before.ended;
      const { sent, runs } = before;
      if (runs.length === 0) return askAfter(call, await next(sent), source, before);
      const letGo = passed.add(sent, runs);
      const result = await next(gateCall(sent, gate, 'hooks'));
      letGo();
      return askAfter(call, result, source, before);
    },
    async tooLate(call) {
      const { blocked, runs } = await hooksBefore(call, source);
      if (blocked === null) return runs.length === 0 ? null : hooksLine('too_late', runs);
      return { ...hooksLine('too_late', runs), wouldHaveBeen: 'policy_blocked' };
    },
    close: () => source.use.close(),
  });
}

const ORDER: readonly OrderRule[] = [
  must.insideOf('auditLog', 'outside it, calls that a hook blocked would leave no receipt'),
  should.outsideOf(
    'consent',
    'inside it, people are asked about calls that a hook blocks, and approve arguments that a hook changes',
  ),
  should.outsideOf(
    'idempotency',
    'inside it, a call that is answered from the store is shown to no hook',
  ),
  should.outsideOf('retry', 'inside it, the hooks are asked again for every attempt'),
  should.outsideOf('dryRun', 'inside it, calls are previewed that a hook would block'),
  must.outsideOf('timeout', 'inside it, the time of the scripts counts as the tool being slow'),
];

const ONE_OF_TWO = expected.required({ text: 'given, or dir in its place', test: Array.isArray });

/** Throws for options that cannot be meant. */
function sourceOf(owner: string, options: HooksOptions): HookSource {
  checkOptions(owner, options, OPTIONS);
  // A layer that was made to guard and was given nothing to guard with is a mistake.
  if (options.dir === undefined) checkOptions(owner, options, { ...OPTIONS, hooks: ONE_OF_TWO });
  const {
    hooks = [],
    dir = null,
    pool = null,
    grants = {},
    effects = [],
    deadlineMs = 5_000,
  } = options;
  return hookSource({
    hooks: Object.freeze([...hooks]),
    dir,
    pool,
    grants,
    effects: Object.freeze([...effects]),
    deadlineMs,
  });
}

/** For one event. */
export interface FireOptions extends HooksOptions {
  /** Once it has aborted, the hooks count as blocking. */
  readonly signal?: AbortSignal;
}

/** What came of one event. */
export interface HookOutcome {
  readonly action: 'allow' | 'block';
  /** Why, where a hook blocked. */
  readonly reason: string | null;
  /** As the last hook left it. */
  readonly payload: JsonObject;
  readonly runs: readonly HookRun[];
}

/**
 * Asks the hooks of one event, under the rules of the layer: lower priority first, the first block
 * ends it, a failure blocks, and what a hook hands over stands over the payload. Without a pool it
 * makes one for this event alone, which costs as much as a cold start.
 */
export async function fireHooks(
  event: string,
  payload: JsonObject,
  { signal, ...options }: FireOptions,
): Promise<HookOutcome> {
  const source = sourceOf('fireHooks', options);
  try {
    const {
      blocked,
      runs,
      payload: left,
    } = await hooksOn(event, payload, source, signal ?? new AbortController().signal);
    return {
      action: blocked === null ? 'allow' : 'block',
      reason: blocked === null ? null : blockedText(blocked),
      payload: left,
      runs,
    };
  } finally {
    await source.use.close();
  }
}
