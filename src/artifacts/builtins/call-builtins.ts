/** Built-ins that lead to other calls: `task`, `delegate`, `meta`. */

import type { JsonObject } from '../../core/json.ts';
import type { HostFunction, HostTree } from '../sandbox/host-function.ts';
import type { BuiltinGrants, BuiltinUse } from './builtin-use.ts';
import type { DefineBuiltin } from './define-builtin.ts';

const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_TIMEOUT_MS = 3_600_000;

/** `poll(task_id)`, `await(task_id, timeout_ms=30000)`. */
export function taskBuiltins({ tasks }: BuiltinUse, define: DefineBuiltin): HostTree {
  return {
    poll: define('task.poll', ['task_id'], async (given, call) => {
      const id = given.text('task_id');
      if (tasks === undefined) throw call.error('there are no tasks here');
      await call.ask({ kind: 'custom.task.poll', task_id: id });
      return tasks.poll(id);
    }),
    await: define('task.await', ['task_id', 'timeout_ms'], async (given, call) => {
      const id = given.text('task_id');
      const timeoutMs = given.integer('timeout_ms', {
        min: 1,
        max: MAX_TIMEOUT_MS,
        otherwise: DEFAULT_TIMEOUT_MS,
      });
      if (tasks === undefined) throw call.error('there are no tasks here');
      await call.ask({ kind: 'custom.task.await', task_id: id });
      return tasks.await(id, { timeoutMs, signal: call.signal });
    }),
  };
}

/**
 * `delegate(tool, args={})` → `{ok, status, result, text, error}`. The call passes the whole stack, and is asked about there as any
 * other; that it failed is no error of the script.
 */
export function delegateBuiltin({ call: make }: BuiltinUse, define: DefineBuiltin): HostFunction {
  return define('delegate', ['tool', 'args'], async (given, call) => {
    const request = { name: given.text('tool'), arguments: given.object('args', {}) };
    if (make === undefined) throw call.error('no other tool can be called from here');
    const { ok, status, result, renderedResult, error } = await make(request);
    return { ok, status, result, text: renderedResult, error };
  });
}

/** `tool_register(definition)`, `hook_register(definition)`. */
export function metaBuiltins(
  { meta }: BuiltinGrants,
  { register }: BuiltinUse,
  define: DefineBuiltin,
): HostTree {
  const registering = (kind: 'tool' | 'hook'): HostFunction =>
    define(`meta.${kind}_register`, ['definition'], async (given, call) => {
      const definition = given.object('definition');
      if (meta !== true || register === undefined) throw call.error('not granted');
      await call.ask({ kind: `custom.meta.${kind}_register`, name: nameOf(definition) });
      return register(kind, definition);
    });
  return { tool_register: registering('tool'), hook_register: registering('hook') };
}

const nameOf = ({ name }: JsonObject): string => (typeof name === 'string' ? name : '');
