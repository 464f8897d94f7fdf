/** The options of `idempotency`. */

import { expected, option, type OptionTable } from '../../src/layer.ts';
import type { ClaimStore } from '../../src/stores/index.ts';
import type { NameCall } from '../../src/idempotency/index.ts';

export interface IdempotencyOptions {
  /** What makes two calls the same work. @default tool name and arguments */
  readonly key?: NameCall;
  /** How long what came of a key is remembered. @default 600000 */
  readonly ttlMs?: number;
  /** Where claims are kept; `null` turns the layer off. @default a `memoryClaims()` of its own */
  readonly store?: ClaimStore | null;
  /** How many answers the layer's own store keeps. @default 256 */
  readonly maxEntries?: number;
  /** `'cache'` saves work, `'effect'` keeps work from being repeated. @default 'cache' */
  readonly mode?: 'cache' | 'effect';
  /** Whose keys are the same. @default 'session' */
  readonly scope?: 'session' | 'global' | NameCall;
  /** Where the tools come from, such as the name of an MCP server. @default not told apart */
  readonly source?: string;
  /** How long a process that holds a key counts as alive unheard. @default 30000 */
  readonly leaseMs?: number;
}

const { either, integer, made, oneOf, string } = expected;

const METHODS = ['claim', 'complete', 'release', 'get', 'renew'] as const;
const NULL = { text: 'null', test: (value: unknown) => value === null, schema: { type: 'null' } };
const STORE = {
  ...either('null or a store', NULL, made('a store', ...METHODS)),
  text: `null or a store with ${METHODS.join(', ')}`,
};

const SCOPES = oneOf('session', 'global');
const SCOPE = {
  ...either('"session", "global" or a function', SCOPES, expected.function),
  text: `${SCOPES.text} or a function`,
};

// biome-ignore format: one row for each option
export const OPTIONS: OptionTable<IdempotencyOptions> = {
  key: option(expected.function, 'names the work of a call; sync or async, must answer a non-empty string', 'tool name and arguments'),
  ttlMs: option(integer(1), 'how long what came of a key is remembered', '600000'),
  store: option(STORE, 'where claims are kept, see stores; `null` turns the layer off', 'a `memoryClaims()` of its own'),
  maxEntries: option(integer(1), "how many answers the layer's own store keeps", '256'),
  mode: option(oneOf('cache', 'effect'), "`'cache'` or `'effect'`", "`'cache'`"),
  scope: option(SCOPE, "whose keys are the same: `'session'`, `'global'`, or what a function of the call names", "`'session'`"),
  source: option(string, 'where the tools come from, such as the name of an MCP server; keys of one source are never those of another', 'not told apart'),
  leaseMs: option(integer(1), 'how long a process that claimed a key counts as alive without a word from it', '30000'),
};
