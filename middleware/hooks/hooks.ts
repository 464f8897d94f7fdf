/** Scripts that have a say before a tool runs and after it has: they allow, block, or write anew what goes in and what comes out. */

import { defineLayer, gateCall, type OrderRule, type ToolLayer } from '../../src/index.ts';
import { askAfter, askBefore, chainBefore, recheck } from './around-call.ts';
import type { HookDefinition } from './hook.ts';
import { lineOf } from './outcomes.ts';
import { passedCalls } from './passed-calls.ts';
import { sourceOf } from './read-options.ts';
import type { BuiltinGrants, HookEffect, ScriptPool } from '../../src/artifacts/index.ts';

export { fireHooks, type FireOptions, type HookOutcome } from './fire-hooks.ts';
export type { HookDefinition } from './hook.ts';
export type { HookRun } from './run-hooks.ts';

export interface HooksOptions {
  /** The hooks, as `loadArtifacts` gives them or written out. @default those of `dir` */
  readonly hooks?: readonly HookDefinition[];
  /** A project whose hook files are loaded with the first call. @default none */
  readonly dir?: string;
  /** Where the scripts run. One that is given is not closed. @default a pool of the layer's own, made with the first script */
  readonly pool?: ScriptPool;
  /** The most that the built-ins of the scripts may reach. @default what each file asks for */
  readonly grants?: BuiltinGrants;
  /** Built-ins that act and that hooks get only where they are named: `exec.run`, `fs.write`. @default none */
  readonly effects?: readonly HookEffect[];
  /** How long one script may take, in milliseconds. @default 5000 */
  readonly deadlineMs?: number;
}

/**
 * Asks the hooks of `tool.pre` before the call goes on, and those of `tool.post` about what came of it. The first that blocks ends
 * it, and one that fails, or says nothing that is understood, has blocked. What a tool would be entered with in the end is asked
 * about again where something inside has changed it. It does not fire other events: see `fireHooks`.
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
      const { blocked, runs } = await chainBefore(call, source);
      if (blocked === null) return runs.length === 0 ? null : lineOf('too_late', runs);
      return { ...lineOf('too_late', runs), wouldHaveBeen: 'policy_blocked' };
    },
    close: () => source.use.close(),
  });
}

const ORDER: readonly OrderRule[] = [
  {
    insideOf: 'auditLog',
    level: 'must',
    because: 'outside it, calls that a hook blocked would leave no receipt',
  },
  {
    outsideOf: 'consent',
    level: 'should',
    because:
      'inside it, people are asked about calls that a hook blocks, and approve arguments that a hook changes',
  },
  {
    outsideOf: 'idempotency',
    level: 'should',
    because: 'inside it, a call that is answered from the store is shown to no hook',
  },
  {
    outsideOf: 'retry',
    level: 'should',
    because: 'inside it, the hooks are asked again for every attempt',
  },
  {
    outsideOf: 'dryRun',
    level: 'should',
    because: 'inside it, calls are previewed that a hook would block',
  },
  {
    outsideOf: 'timeout',
    level: 'must',
    because: 'inside it, the time of the scripts counts as the tool being slow',
  },
];
