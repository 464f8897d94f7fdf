/** Does the same work once: keeps the answers of reads, and keeps effects from happening twice. */

import {
  checkOptions,
  clockOf,
  defineLayer,
  must,
  type Next,
  type OrderRule,
  should,
  type ToolCall,
  type ToolLayer,
} from '../../src/layer.ts';
import { memoryClaims } from '../../src/stores/index.ts';
import {
  type ClaimKey,
  claimKeyOf,
  type ClaimTerms,
  createSharing,
  runAlone,
  withoutKey,
} from '../../src/idempotency/index.ts';
import { type IdempotencyOptions, OPTIONS } from './options.ts';

export type { IdempotencyOptions };

/**
 * Answers a repeated call with what the first one came to. It does not make a tool safe to repeat:
 * with mode `'effect'` a run whose end is not known is never tried again under the same key. It
 * cannot tell that two keys mean one effect, and forgets keys after `ttlMs`.
 */
export function idempotency(options: IdempotencyOptions = {}): ToolLayer {
  checkOptions('idempotency', options, OPTIONS);
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
  let terms: ClaimTerms | null = store === undefined ? null : { store, mode, leaseMs, ttlMs };
  const share = createSharing(mode, (call) => {
    // The layer's own store has the clock of the first call: the stack's is not known before.
    terms ??= {
      store: memoryClaims({ maxEntries, ttlMs, clock: clockOf(call) }),
      mode,
      leaseMs,
      ttlMs,
    };
    return terms;
  });
  const rules = { mode, key, scope, source };
  const keyless = (call: ToolCall, next: Next, cause: unknown) =>
    mode === 'cache' ? runAlone(call, next, 'bypassed') : withoutKey(call, cause);
  const shareLater = (call: ToolCall, next: Next, claim: Promise<ClaimKey>) =>
    claim.then(
      (named) => share(call, next, named),
      (cause: unknown) => keyless(call, next, cause),
    );
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
      return claim instanceof Promise ? shareLater(call, next, claim) : share(call, next, claim);
    },
  });
}

const ORDER: readonly OrderRule[] = [
  should.insideOf('consent', 'outside it, an answer is given again without anybody being asked'),
  should.insideOf(
    'requiredReason',
    'outside it, the reason is one of the arguments, and no two calls are the same',
  ),
];
const EFFECT_ORDER: readonly OrderRule[] = [
  ...ORDER,
  must.outsideOf(
    'redaction',
    'inside it, an effect key made from masked values would join two effects',
  ),
];
