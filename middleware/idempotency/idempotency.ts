/** Does the same work once: keeps the answers of reads, and keeps effects from happening twice. */

import {
  checkOptions,
  clockOf,
  defineLayer,
  expected,
  type OrderRule,
  type Next,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
} from '../../src/layer.ts';
import { type ClaimStore, memoryClaims } from '../../src/stores/index.ts';
import { type ClaimKey, claimKeyOf, type NameCall } from './claim-key.ts';
import { runAlone, withoutKey } from './refusals.ts';
import { createSharing } from './share-work.ts';

export interface IdempotencyOptions {
  /**
   * What makes two calls the same work; must answer a non-empty string. @default tool name and
   * arguments
   */
  readonly key?: NameCall;
  /** How long what came of a key is remembered. @default 600000 */
  readonly ttlMs?: number;
  /** Where claims are kept; `null` turns the layer off. @default a `memoryClaims()` of its own */
  readonly store?: ClaimStore | null;
  /** How many answers the layer's own store keeps. @default 256 */
  readonly maxEntries?: number;
  /**
   * `'cache'` saves work that may be repeated, `'effect'` keeps work from being repeated. @default
   * 'cache'
   */
  readonly mode?: 'cache' | 'effect';
  /**
   * Whose keys are the same: of one session, of everybody, or of whom the function names. @default
   * 'session'
   */
  readonly scope?: 'session' | 'global' | NameCall;
  /**
   * Where the tools come from, such as the name of an MCP server: keys of one source are never
   * those of another. @default not told apart
   */
  readonly source?: string;
  /**
   * How long a process that claimed a key counts as alive without a word from it. @default 30000
   */
  readonly leaseMs?: number;
}

/**
 * Answers a repeated call with what the first one came to. It does not make a tool safe to repeat:
 * with mode `'effect'` a run whose end nobody knows is never tried again under the same key. It
 * cannot tell that two keys mean one effect, and forgets keys after `ttlMs`.
 */
export function idempotency(options: IdempotencyOptions = {}): ToolLayer {
  checkOptions('idempotency', options, EXPECTED);
  const {
    key,
    mode = 'cache',
    scope = 'session',
    source,
    store,
    leaseMs = 30_000,
    ttlMs = 600_000,
    maxEntries = 256,
  } = options;
  const order = mode === 'effect' ? EFFECT_ORDER : ORDER;
  if (store === null)
    return defineLayer({ name: 'idempotency', order, caller: (call, next) => next(call) });
  let claims = store;
  const share = createSharing(mode, (call) => {
    // Its time is that of the first call: the stack's clock is not known before.
    claims ??= memoryClaims({ maxEntries, ttlMs, clock: clockOf(call) });
    return { store: claims, mode, leaseMs, ttlMs };
  });
  const rules = { mode, key, scope, source };
  const keyless = async (call: ToolCall, next: Next, cause: unknown): Promise<ToolResult> =>
    mode === 'cache' ? runAlone(call, next, 'bypassed') : withoutKey(call, cause);
  return defineLayer({
    name: 'idempotency',
    order,
    caller(call, next) {
      let claim: ClaimKey | Promise<ClaimKey>;
      try {
        claim = claimKeyOf(call, rules);
      } catch (cause) {
        return keyless(call, next, cause);
      }
      if (!(claim instanceof Promise)) return share(call, next, claim);
      return claim.then(
        (named) => share(call, next, named),
        (cause: unknown) => keyless(call, next, cause),
      );
    },
  });
}

const METHODS = ['claim', 'complete', 'release', 'get', 'renew'] as const;

const SCOPES = expected.oneOf('session', 'global');

const EXPECTED = {
  key: expected.function,
  ttlMs: expected.integer(1),
  store: {
    text: `null or a store with ${METHODS.join(', ')}`,
    test: (value: unknown) =>
      value === null ||
      (expected.object.test(value) &&
        METHODS.every((name) => typeof (value as Partial<ClaimStore>)[name] === 'function')),
  },
  maxEntries: expected.integer(1),
  mode: expected.oneOf('cache', 'effect'),
  scope: {
    text: `${SCOPES.text} or a function`,
    test: (value: unknown) => SCOPES.test(value) || expected.function.test(value),
  },
  source: expected.string,
  leaseMs: expected.integer(1),
};

const ORDER: readonly OrderRule[] = [
  {
    insideOf: 'consent',
    level: 'should',
    because: 'outside it, an answer is given again without anybody being asked',
  },
  {
    insideOf: 'requiredReason',
    level: 'should',
    because: 'outside it, the reason is one of the arguments, and no two calls are the same',
  },
];
const EFFECT_ORDER: readonly OrderRule[] = [
  ...ORDER,
  {
    outsideOf: 'redaction',
    level: 'must',
    because: 'inside it, an effect key made from masked values would join two effects',
  },
];
