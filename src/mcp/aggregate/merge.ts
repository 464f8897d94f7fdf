/** What several servers say about themselves, said once. */

import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { cutUtf8 } from '../../core/json/cut-utf8.ts';
import { oneLine } from '../../core/contract/errors.ts';
import { isObject } from '../../core/json/json.ts';
import type { Account } from './handshake.ts';

export interface Named {
  readonly name: string;
  readonly prefix: string;
  readonly account: Account;
}

/** The kinds of lists that change, and that a client is told about when they do. */
export const CHANGING = ['tools', 'prompts', 'resources'] as const;
export type Changing = (typeof CHANGING)[number];

/**
 * Every capability that any has; of what two say differently, the first counts. Lists change
 * whenever a server comes or goes, so that is always declared. `isPartial` says that some are still
 * missing: what they may bring has to be announced before they come, or the client would never ask
 * for it.
 */
export function mergeCapabilities(accounts: readonly Account[], isPartial: boolean): JsonObject {
  const merged = accounts.reduce<JsonObject>(
    (sum, { capabilities }) => union(sum, capabilities, MERGED_DEPTH),
    {},
  );
  const lists = CHANGING.filter((kind) => isPartial || isObject(merged[kind]));
  return {
    ...merged,
    ...Object.fromEntries(
      lists.map((kind) => [kind, union({ listChanged: true }, objectIn(merged[kind]), 1)]),
    ),
  };
}

const objectIn = (value: JsonValue | undefined): JsonObject => (isObject(value) ? value : {});

/**
 * `tasks.requests.tools.call` is the deepest there is. Further down the other side decides how deep
 * it goes.
 */
const MERGED_DEPTH = 4;

function union(first: JsonObject, second: JsonObject, depth: number): JsonObject {
  const names = new Set([...Object.keys(first), ...Object.keys(second)]);
  return Object.fromEntries(
    [...names].map((name) => [name, either(own(first, name), own(second, name), depth)]),
  );
}

const own = (holder: JsonObject, name: string): JsonValue | undefined =>
  Object.hasOwn(holder, name) ? holder[name] : undefined;

function either(
  first: JsonValue | undefined,
  second: JsonValue | undefined,
  depth: number,
): JsonValue {
  if (isObject(first) && isObject(second) && depth > 1) return union(first, second, depth - 1);
  if (typeof first === 'boolean' && typeof second === 'boolean') return first || second;
  return first ?? second ?? {};
}

/** What a model reads before every turn is not for one server to fill. */
const MAX_INSTRUCTION_BYTES = 64 * 1024;

/** Under the name of each, with what its tools begin with: its own text speaks of them without. */
export function mergeInstructions(servers: readonly Named[]): string {
  return servers
    .filter(({ account }) => account.instructions.trim() !== '')
    .map(({ name, prefix, account }) => {
      const text = cutUtf8(account.instructions, MAX_INSTRUCTION_BYTES);
      return `# ${oneLine(name)}\n\nNames of tools and prompts of this server begin with \`${prefix}_\`.\n\n${text}`;
    })
    .join('\n\n');
}

/** Revisions are dates, so the lowest is the oldest. */
export const lowestVersion = (accounts: readonly Account[]): string =>
  accounts.flatMap(({ versions }) => versions).sort()[0] ?? '';

/** What all of them speak, in the order of the first. */
export const commonVersions = ([first, ...rest]: readonly Account[]): readonly string[] =>
  (first?.versions ?? []).filter((version) =>
    rest.every(({ versions }) => versions.includes(version)),
  );
