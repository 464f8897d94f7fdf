/**
 * The built-ins of one call: what its script finds beside the language. Here are those of a few
 * lines, too: `cache`, `log`, `time`, `env`, the three answers of a hook, `task`, `delegate`,
 * `meta`.
 */

import { checkOptions, type Expectation, expected } from '../../core/contract/options.ts';
import { isoTime, systemClock } from '../../core/time/clock.ts';
import { cutUtf8 } from '../../core/json/cut-utf8.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import type { HostFunction, HostTree } from '../sandbox/host-function.ts';
import type { BuiltinGrants, BuiltinUse } from './builtin-use.ts';
import { type DefineBuiltin, definer } from './define-builtin.ts';
import { execBuiltins } from './exec.ts';
import { fileBuiltins } from './files.ts';
import { httpBuiltins } from './http.ts';

const text: Expectation = expected.string;
const EXPECTED: Readonly<Record<keyof BuiltinGrants, Expectation>> = Object.freeze({
  workspace: text,
  folder: text,
  protect: expected.listOf(text),
  allowedDomains: expected.listOf(text),
  allowedPorts: expected.listOf(expected.integer(1)),
  env: expected.listOf(text),
  shell: expected.boolean,
  meta: expected.boolean,
  allowPrivateNetwork: { text: 'false: there is no such grant', test: (value) => value === false },
  maxOutputBytes: expected.integer(1),
  allowLoopback: expected.listOf(text),
  lookup: expected.function,
  environment: expected.object,
});

/**
 * Every name that a tool's or a hook's script finds. All are always there: one that was not granted
 * says so when it is called.
 */
export const BUILTIN_NAMES = Object.freeze([
  ...(['exec', 'fs', 'http', 'task', 'cache', 'log', 'time', 'env', 'meta'] as const),
  ...(['delegate', 'block', 'allow', 'modify'] as const),
]);

/** Throws `ERR_INVALID_OPTION` for grants that cannot be meant. */
export function builtinsFor(
  grants: BuiltinGrants,
  use: BuiltinUse,
): Readonly<Record<(typeof BUILTIN_NAMES)[number], HostTree>> {
  checkOptions('builtins', grants, EXPECTED);
  const define = definer(use);
  return Object.freeze({
    exec: execBuiltins(grants, use, define),
    fs: fileBuiltins(grants, define),
    http: httpBuiltins(grants, use, define),
    task: taskBuiltins(use, define),
    cache: cacheBuiltins(use, define),
    log: logBuiltins(use, define),
    time: timeBuiltins(use, define),
    env: envBuiltins(grants, define),
    meta: metaBuiltins(grants, use, define),
    delegate: delegateBuiltin(use, define),
    ...decisionBuiltins(define),
  });
}

const MAX_KEY_BYTES = 1024;
const MAX_LOG_BYTES = 8192;
const MAX_TTL_MS = 86_400_000;

/**
 * `get(key, default=None)`, `set(key, value, ttl_ms=0)` (0: until it is pushed out), `has(key)`,
 * `delete(key)`.
 */
function cacheBuiltins({ cache }: BuiltinUse, define: DefineBuiltin): HostTree {
  return {
    get: define(
      'cache.get',
      ['key', 'default'],
      (given) => cache.get(given.text('key')) ?? given.any('default'),
    ),
    set: define('cache.set', ['key', 'value', 'ttl_ms'], (given, call) => {
      const key = given.text('key');
      const ttlMs = given.integer('ttl_ms', { min: 0, max: MAX_TTL_MS, otherwise: 0 });
      if (Buffer.byteLength(key) > MAX_KEY_BYTES)
        throw call.error(`"key" must be at most ${MAX_KEY_BYTES} bytes long`);
      return cache.set(key, given.any('value'), ttlMs === 0 ? undefined : ttlMs);
    }),
    has: define('cache.has', ['key'], (given) => cache.has(given.text('key'))),
    delete: define('cache.delete', ['key'], (given) => cache.delete(given.text('key'))),
  };
}

/** `info(text)`, `warn(text)`. */
function logBuiltins(use: BuiltinUse, define: DefineBuiltin): HostTree {
  const write = (level: 'info' | 'warn') =>
    define(`log.${level}`, ['text'], (given) => {
      use.log(level, cutUtf8(given.text('text'), MAX_LOG_BYTES));
      return null;
    });
  return { info: write('info'), warn: write('warn') };
}

/** `now()` → `{iso, epoch_ms}`, by the host's clock. */
function timeBuiltins({ clock = systemClock }: BuiltinUse, define: DefineBuiltin): HostTree {
  return {
    now: define('time.now', [], () => {
      const ms = Math.floor(clock.now());
      return { iso: isoTime(ms), epoch_ms: ms };
    }),
  };
}

/**
 * `get(name, default=None)`. A variable that is not granted is an error, one that is not set is the
 * default.
 */
function envBuiltins(grants: BuiltinGrants, define: DefineBuiltin): HostTree {
  const { env = [], environment = process.env } = grants;
  return {
    get: define('env.get', ['name', 'default'], async (given, call) => {
      const name = given.text('name');
      if (!env.includes(name))
        throw call.error(`the variable is not granted; granted: ${env.join(', ') || 'none'}`);
      await call.ask({ kind: 'custom.env.get', name });
      return (
        (Object.hasOwn(environment, name) ? environment[name] : undefined) ?? given.any('default')
      );
    }),
  };
}

/**
 * `allow()`, `block(reason)`, `modify(payload)`: dicts that say what a hook decided, to be
 * returned.
 */
function decisionBuiltins(
  define: DefineBuiltin,
): Readonly<Record<'allow' | 'block' | 'modify', HostTree>> {
  return {
    allow: define('allow', [], () => ({ action: 'allow' })),
    block: define('block', ['reason'], (given) => ({
      action: 'block',
      reason: given.text('reason'),
    })),
    modify: define('modify', ['payload'], (given) => ({
      action: 'modify',
      payload: given.object('payload'),
    })),
  };
}

const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_TIMEOUT_MS = 3_600_000;

/** `poll(task_id)`, `await(task_id, timeout_ms=30000)`. */
function taskBuiltins({ tasks }: BuiltinUse, define: DefineBuiltin): HostTree {
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
 * `delegate(tool, args={})` → `{ok, status, result, text, error}`. The call passes the whole stack,
 * and is asked about there as any other; that it failed is no error of the script.
 */
function delegateBuiltin({ call: make }: BuiltinUse, define: DefineBuiltin): HostFunction {
  return define('delegate', ['tool', 'args'], async (given, call) => {
    const request = { name: given.text('tool'), arguments: given.object('args', {}) };
    if (make === undefined) throw call.error('no other tool can be called from here');
    const { ok, status, result, renderedResult, error } = await make(request);
    return { ok, status, result, text: renderedResult, error };
  });
}

/** `tool_register(definition)`, `hook_register(definition)`. */
function metaBuiltins(
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
