/** Asks the hooks of one event, one after the other, until one of them blocks. */

import type { ToolCall } from '../core/contract/call.ts';
import { isAlliumError } from '../core/contract/errors.ts';
import type { JsonObject, JsonValue } from '../core/json/json-value.ts';
import { clockOf } from '../core/onion/own-call.ts';
import type { ToolResult } from '../core/contract/result.ts';
import { systemClock } from '../core/time/clock.ts';
import type { HookSource, ScriptUse } from './hook-source.ts';
import type { Hook } from './hook.ts';
import {
  isTrue,
  type Merge,
  mergeAny,
  mergePost,
  mergePre,
  postPayload,
  prePayload,
  readVerdict,
  replacedResult,
  type Verdict,
} from './payloads.ts';

/** What the record says of one hook: never a value, and never the words of a script. */
export interface HookRun {
  readonly hook: string;
  readonly event: string;
  readonly decision: 'allow' | 'block' | 'modify' | 'skipped' | 'failed';
  readonly durationMs: number;
  /** Why it failed: the kind of the error, and where in its file. */
  readonly because?: string;
  readonly line?: number;
  /** Built-ins it used, and how that went. */
  readonly uses?: readonly JsonObject[];
}

/** The hook that ended a chain, and its words. */
export interface Blocked {
  readonly hook: string;
  readonly reason: string;
  /** For the host, where the hook did not block by itself but failed. */
  readonly cause: unknown;
}

/** What the hooks of one event came to. */
export interface HookChain {
  readonly runs: readonly HookRun[];
  readonly blocked: Blocked | null;
  /** As the last hook left it. */
  readonly payload: JsonObject;
}

interface ChainParts {
  readonly use: ScriptUse;
  readonly merge: Merge;
  readonly signal: AbortSignal;
  /** What the hooks are asked about, where that is a call. */
  readonly call?: ToolCall;
  /** Milliseconds that never run backwards. */
  readonly now: () => number;
}

/** The words that a block is told with, whichever event it was for. */
export const blockedText = ({ hook, reason }: Blocked): string =>
  `blocked by hook "${hook}": ${reason}`;

/** Asks the hooks of `tool.pre` about a call. Hooks that cannot be loaded have blocked. */
export const hooksBefore = (call: ToolCall, source: HookSource): Promise<HookChain> =>
  hooksAround(call, source, 'tool.pre', prePayload(call), mergePre);

/** Asks the hooks of `tool.post`. `replaced` is the result as they left it. */
export async function hooksAfter(
  call: ToolCall,
  result: ToolResult,
  source: HookSource,
): Promise<HookChain & { readonly replaced: ToolResult }> {
  const shown = postPayload(result);
  const chain = await hooksAround(call, source, 'tool.post', shown, mergePost);
  const isBlocked = chain.blocked !== null;
  return { ...chain, replaced: isBlocked ? result : replacedResult(result, shown, chain.payload) };
}

async function hooksAround(
  call: ToolCall,
  source: HookSource,
  event: string,
  payload: JsonObject,
  merge: Merge,
): Promise<HookChain> {
  let hooks: readonly Hook[];
  try {
    hooks = await source.hooksFor(event);
  } catch (cause) {
    return {
      runs: [],
      payload,
      blocked: { hook: '*', reason: 'the hooks could not be loaded', cause },
    };
  }
  const clock = clockOf(call);
  return runHooks(hooks, event, payload, {
    use: source.use,
    merge,
    call,
    signal: call.signal,
    now: () => clock.monotonic(),
  });
}

/** Asks the hooks of an event of the host. Rejects where they cannot be loaded. */
export const hooksOn = async (
  event: string,
  payload: JsonObject,
  source: HookSource,
  signal: AbortSignal,
): Promise<HookChain> =>
  runHooks(await source.hooksFor(event), event, payload, {
    use: source.use,
    merge: mergeAny,
    signal,
    now: () => systemClock.monotonic(),
  });

/** Never rejects: a hook that cannot be heard has blocked. */
async function runHooks(
  hooks: readonly Hook[],
  event: string,
  payload: JsonObject,
  parts: ChainParts,
): Promise<HookChain> {
  const runs: HookRun[] = [];
  let current = payload;
  for (const hook of hooks) {
    const startedAt = parts.now();
    const uses: JsonObject[] = [];
    const said = await ask(hook, event, current, { ...parts, uses });
    const durationMs = Math.round(parts.now() - startedAt);
    const line = { hook: hook.name, event, decision: said.decision, durationMs };
    runs.push({
      ...line,
      ...('failed' in said ? said.failed : {}),
      ...(uses.length === 0 ? {} : { uses }),
    });
    if ('blocked' in said) return { runs, blocked: said.blocked, payload: current };
    current = said.payload ?? current;
  }
  return { runs, blocked: null, payload: current };
}

type Said =
  | { readonly decision: 'allow' | 'modify' | 'skipped'; readonly payload?: JsonObject }
  | { readonly decision: 'block'; readonly blocked: Blocked }
  | {
      readonly decision: 'failed';
      readonly blocked: Blocked;
      readonly failed: Pick<HookRun, 'because' | 'line'>;
    };

type AskParts = ChainParts & { readonly uses: JsonObject[] };

async function ask(hook: Hook, event: string, payload: JsonObject, parts: AskParts): Promise<Said> {
  const { use, signal, uses, merge, call } = parts;
  try {
    if (hook.when !== null && !isTrue(await use.evaluate(hook.when, { event, payload }, signal)))
      return { decision: 'skipped' };
    const said = await use.handle(hook, [event, payload], {
      signal,
      call,
      record: (used) => uses.push(used),
    });
    return follow(hook, readVerdict(said), said, payload, merge);
  } catch (thrown) {
    return failedBy(hook, thrown);
  }
}

function follow(
  hook: Hook,
  verdict: Verdict | null,
  said: JsonValue,
  payload: JsonObject,
  merge: Merge,
): Said {
  if (verdict === null)
    return failed(hook, 'no_verdict', `it answered with ${kindOf(said)}, which is no verdict`);
  if (verdict.action === 'allow') return { decision: 'allow' };
  if (verdict.action === 'block')
    return { decision: 'block', blocked: { hook: hook.name, reason: verdict.reason, cause: null } };
  const merged = merge(payload, verdict.payload);
  return 'payload' in merged
    ? { decision: 'modify', payload: merged.payload }
    : failed(hook, 'bad_payload', `it ${merged.problem}`);
}

const failed = ({ name }: Hook, because: string, why: string, cause: unknown = null): Said => ({
  decision: 'failed',
  failed: { because },
  blocked: { hook: name, reason: `${why}, so it counts as a no`, cause },
});

/** The words of an error may repeat what a script saw; the kind and the place say enough. */
function failedBy(hook: Hook, thrown: unknown): Said {
  const { kind, line } = placeOf(thrown);
  const said = failed(
    hook,
    kind,
    `it failed (${kind}${line === null ? '' : ` in line ${line}`})`,
    thrown,
  );
  return line === null || !('failed' in said) ? said : { ...said, failed: { because: kind, line } };
}

function placeOf(thrown: unknown): { readonly kind: string; readonly line: number | null } {
  if (!isAlliumError(thrown)) return { kind: 'error', line: null };
  const { reason, line, kind } = thrown.details as {
    readonly reason?: string;
    readonly kind?: string;
    readonly line?: number;
  };
  return { kind: kind ?? reason ?? thrown.code, line: typeof line === 'number' ? line : null };
}

function kindOf(value: JsonValue): string {
  if (value === null) return 'None';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a dict without a known action';
  return typeof value === 'string' ? 'a string' : `a ${typeof value}`;
}
