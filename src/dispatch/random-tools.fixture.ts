/** Arguments and tool definitions that repeat with their seed, and one change to them at a time. */

import type { JsonObject, JsonValue } from '../core/json/json-value.ts';
import { createRandom, type Random } from '../../conformance/benches/fuzz/random.ts';
import { isObject } from '../core/json/json.ts';

const WORDS = ['', 'a', 'rm -rf', 'naïve', '0', 'null', '日本', 'x'.repeat(40)] as const;

/** Any JSON value, a few levels deep. */
export function randomValue(random: Random, depth = 0): JsonValue {
  const kind = random.below(depth > 2 ? 4 : 6);
  if (kind === 0) return random.pick(WORDS);
  if (kind === 1) return random.below(1000) / 8;
  if (kind === 2) return random.oneIn(2);
  if (kind === 3) return null;
  const items = Array.from({ length: 1 + random.below(3) }, () => randomValue(random, depth + 1));
  return kind === 4 ? items : Object.fromEntries(items.map((item, index) => [`k${index}`, item]));
}

export const randomArgs = (random: Random): JsonObject =>
  Object.fromEntries(
    Array.from({ length: 1 + random.below(4) }, (_, index) => [`arg${index}`, randomValue(random)]),
  );

/**
 * A definition with every field that can be written down. No call of it has any of the properties.
 */
export function randomDefinition(random: Random): JsonObject {
  const properties = Object.fromEntries(
    Array.from({ length: 1 + random.below(3) }, (_, index) => [
      `p${index}`,
      randomProperty(random),
    ]),
  );
  return {
    name: 'work',
    description: `Works. ${random.pick(WORDS)}`,
    inputSchema: { type: 'object', title: random.pick(WORDS), properties },
    outputSchema: { type: 'object', properties: { q: randomProperty(random) } },
    annotations: {
      kind: random.pick(['read', 'edit', 'execute']),
      readOnly: random.oneIn(2),
      idempotent: random.oneIn(2),
    },
    executor: 'local',
    timeoutMs: 1000 + random.below(1000),
    retry: { maxAttempts: 1 + random.below(4), backoffMs: random.below(100) },
    idempotency: random.pick(['none', 'safe', 'keyed']),
    metadata: randomArgs(random),
    injected: [{ name: 'session', from: 'sessionId' }],
  };
}

const randomProperty = (random: Random): JsonObject => ({
  type: random.pick(['string', 'number', 'boolean']),
  description: random.pick(WORDS),
  ...(random.oneIn(2) ? { deprecated: random.oneIn(2) } : { maxLength: random.below(100) }),
});

/** What an MCP server may say of a tool: more than a stack is told. */
export function randomListed(random: Random): JsonObject {
  const { inputSchema = {} } = randomDefinition(random);
  return {
    ...{ name: 'work', title: 'Works', description: 'Works.', inputSchema },
    annotations: {
      title: 'Works',
      readOnlyHint: random.oneIn(2),
      destructiveHint: random.oneIn(2),
    },
    ...{ icons: [{ src: 'data:,' }], _meta: { version: 1 } },
  };
}

/** A definition, and the same with one leaf that is another. */
export interface ChangedDefinition {
  readonly first: JsonObject;
  readonly other: JsonObject;
  readonly path: string;
}

/** The same for the same seed. The name stays: a tool of another name is another tool. */
export function randomChange(
  seed: number,
  define: (random: Random) => JsonObject,
): ChangedDefinition {
  const random = createRandom(seed);
  const first = define(random);
  const path = random.pick(leavesOf(first).filter((leaf) => leaf !== 'name'));
  return { first, other: withOtherLeaf(first, path), path };
}

/** Words that are not free: another one has to be one of these. */
const WORD_LISTS: readonly (readonly string[])[] = [
  ['string', 'number', 'boolean'],
  ['read', 'edit', 'execute'],
  ['local', 'mcp_server', 'host_bridge', 'provider_native'],
  ['none', 'safe', 'keyed'],
  ['sessionId', 'runId', 'turn'],
];

/** Another value of the same sort. */
function otherLeaf(value: JsonValue, path: string): JsonValue {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1;
  if (typeof value !== 'string') return 0;
  const isFixed = /(^|\.)(type|kind|executor|idempotency|from)$/.test(path);
  const words = isFixed ? WORD_LISTS.find((list) => list.includes(value)) : undefined;
  return words?.find((word) => word !== value) ?? `${value}x`;
}

/** The paths to everything that holds nothing else, without the schemas' own word for objects. */
export function leavesOf(value: JsonValue, path = ''): readonly string[] {
  if (typeof value !== 'object' || value === null) return value === 'object' ? [] : [path];
  return Object.entries(value).flatMap(([key, item]) =>
    leavesOf(item, path === '' ? key : `${path}.${key}`),
  );
}

/** A copy in which one leaf is another. */
export function withOtherLeaf(value: JsonObject, path: string): JsonObject {
  const copy = structuredClone(value) as Record<string, unknown>; // A copy may be written to.
  const steps = path.split('.');
  const last = steps.pop() ?? '';
  // Every step but the last leads to an object or a list: the path was read off this value.
  const holder = steps.reduce((inner, step) => inner[step] as Record<string, unknown>, copy);
  holder[last] = otherLeaf(holder[last] as JsonValue, path);
  if (!isObject(copy)) throw new Error('not an object');
  return copy as JsonObject; // It was JSON, and got JSON.
}
