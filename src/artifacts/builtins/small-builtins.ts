/** Built-ins of a few lines: `cache`, `log`, `time`, `env`, and the three answers of a hook. */

import { isoTime, systemClock } from '../../core/clock.ts';
import { cutUtf8 } from '../../core/cut-utf8.ts';
import type { HostTree } from '../sandbox/host-function.ts';
import type { BuiltinGrants, BuiltinUse } from './builtin-use.ts';
import type { DefineBuiltin } from './define-builtin.ts';

const MAX_KEY_BYTES = 1024;
const MAX_LOG_BYTES = 8192;
const MAX_TTL_MS = 86_400_000;

/** `get(key, default=None)`, `set(key, value, ttl_ms=0)` (0: until it is pushed out), `has(key)`, `delete(key)`. */
export function cacheBuiltins({ cache }: BuiltinUse, define: DefineBuiltin): HostTree {
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
export function logBuiltins(use: BuiltinUse, define: DefineBuiltin): HostTree {
  const write = (level: 'info' | 'warn') =>
    define(`log.${level}`, ['text'], (given) => {
      use.log(level, cutUtf8(given.text('text'), MAX_LOG_BYTES));
      return null;
    });
  return { info: write('info'), warn: write('warn') };
}

/** `now()` → `{iso, epoch_ms}`, by the host's clock. */
export function timeBuiltins({ clock = systemClock }: BuiltinUse, define: DefineBuiltin): HostTree {
  return {
    now: define('time.now', [], () => {
      const ms = Math.floor(clock.now());
      return { iso: isoTime(ms), epoch_ms: ms };
    }),
  };
}

/** `get(name, default=None)`. A variable that is not granted is an error, one that is not set is the default. */
export function envBuiltins(grants: BuiltinGrants, define: DefineBuiltin): HostTree {
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

/** `allow()`, `block(reason)`, `modify(payload)`: dicts that say what a hook decided, to be returned. */
export function decisionBuiltins(
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
