/**
 * So many calls for a run or a session, in all and of each tool, and so many questions to people.
 */

import {
  annotate,
  checkOptions,
  clockOf,
  defineLayer,
  type EntryPatch,
  expected,
  matchesTool,
  must,
  type OrderRule,
  refuse,
  should,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
} from '../../src/layer.ts';
import {
  admittedCalls,
  checkedTaken,
  counterKey,
  type LimitScope,
  limitQuestions,
  scopeOf,
  untold,
} from '../../src/limits/index.ts';
import { type CounterStore, memoryCounters, type TakeRequest } from '../../src/stores/index.ts';
import { type CallLimitOptions, OPTIONS } from './options.ts';

export type { CallLimitOptions };

/**
 * Checks and takes in one step; a refused call takes nothing, and what was taken is not given back.
 * A call that is taken up again after an interruption takes nothing if it was counted before. It
 * knows no time: see `rateLimit` for windows.
 */
export function callLimit(options: CallLimitOptions): ToolLayer {
  checkOptions('callLimit', options, OPTIONS);
  const {
    maxCalls,
    perTool = {},
    per = 'run',
    maxPrompts,
    store = memoryCounters(),
    message = 'call limit exceeded',
  } = options;
  if (maxCalls === undefined && maxPrompts === undefined && options.perTool === undefined)
    checkOptions('callLimit', options, { ...OPTIONS, maxCalls: ONE_OF_THREE });
  const caps = Object.entries(perTool);
  const admitted = admittedCalls();
  const take = (call: ToolCall) => {
    const cap = caps.find(([pattern]) => matchesTool([pattern], call.toolName))?.[1];
    return takeAll(store, limitsOf(call, per, maxCalls, cap), {
      now: clockOf(call).monotonic(),
      owner: call.turn.sessionId,
    });
  };
  const limitPrompts = maxPrompts === undefined ? null : limitQuestions(maxPrompts, per);

  return defineLayer({
    name: 'callLimit',
    order: maxPrompts === undefined ? ORDER : [...ORDER, ...PROMPT_ORDER],
    async caller(call, next) {
      let line: EntryPatch;
      if (admitted.has(call)) {
        line = { status: 'ok', resumed: true };
      } else {
        const taken = await take(call).catch((cause: unknown) => untold(call, cause));
        if (!('line' in taken)) return taken;
        if (taken.over !== null) return refused(call, taken.over, message, per);
        admitted.add(call);
        line = { status: 'ok', ...taken.line };
      }
      if (limitPrompts === null) return annotate(await next(call), {}, line);
      const { call: limited, line: asked } = limitPrompts(call);
      return annotate(await next(limited), {}, { ...line, ...asked() });
    },
    // It happened, so it counts; a limit that is used up takes no more.
    async tooLate(call) {
      const { line, over } = await take(call);
      return over === null
        ? { wouldHaveBeen: 'ok', ...line }
        : { wouldHaveBeen: 'limit_exceeded', ...figuresOf(over) };
    },
  });
}

const ONE_OF_THREE = expected.required({
  text: 'given, or perTool or maxPrompts in its place',
  test: () => true,
});

const ORDER: readonly OrderRule[] = [
  must.insideOf('auditLog', 'outside it, calls over the limit would leave no receipt'),
  should.outsideOf('retry', 'inside it, every attempt takes from the limit'),
];

const PROMPT_ORDER: readonly OrderRule[] = [
  must.outsideOf('consent', 'inside it, people are asked before anybody counts the questions'),
];

interface Limit {
  readonly key: string;
  readonly max: number;
  readonly of: 'tool' | 'all';
}

/**
 * The tool's own first: a count of all that is used up ends the run, so that what its tool took
 * then is missed by nobody.
 */
function limitsOf(
  call: ToolCall,
  per: LimitScope,
  maxCalls: number | undefined,
  cap: number | undefined,
): readonly Limit[] {
  const limits: Limit[] = [];
  const limit = (of: Limit['of'], max: number, ...parts: readonly unknown[]) =>
    limits.push({ key: counterKey(['callLimit', ...parts, ...scopeOf(call, per)]), max, of });
  if (cap !== undefined) limit('tool', cap, maxCalls ?? null, cap, call.toolName);
  if (maxCalls !== undefined) limit('all', maxCalls, maxCalls);
  return limits;
}

interface Over {
  readonly limit: Limit;
  readonly count: number;
}

type Asking = Pick<TakeRequest, 'now' | 'owner'>;

async function takeAll(
  store: CounterStore,
  limits: readonly Limit[],
  by: Asking,
): Promise<{ line: EntryPatch; over: Over | null }> {
  let line: EntryPatch = {};
  for (const limit of limits) {
    const { max } = limit;
    const taken = await store.take(limit.key, { max, windowMs: null, ...by });
    const { admitted, count } = checkedTaken(taken);
    if (!admitted) return { line, over: { limit, count } };
    line = {
      ...line,
      ...(limit.of === 'all' ? { count, cap: max } : { toolCount: count, toolCap: max }),
    };
  }
  return { line, over: null };
}

function refused(
  call: ToolCall,
  { limit, count }: Over,
  message: string,
  per: LimitScope,
): ToolResult {
  const advice =
    limit.of === 'all'
      ? `No more calls in this ${per}. Finish with what you have.`
      : `Do not call ${call.toolName} again in this ${per}; other tools may still be used.`;
  const text = `${message} (cap: ${limit.max}, count: ${count}). ${advice}`;
  return annotate(
    refuse(call, 'limit_exceeded', text),
    {},
    { status: 'blocked', ...figuresOf({ limit, count }) },
  );
}

const figuresOf = ({ limit, count }: Over): EntryPatch =>
  limit.of === 'all' ? { count, cap: limit.max } : { toolCount: count, toolCap: limit.max };
