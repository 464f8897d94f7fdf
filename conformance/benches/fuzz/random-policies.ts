/** Random policies, and questions and calls that meet them often enough to tell. */

import type { JsonObject, JsonPrimitive, JsonValue } from '../../../src/core/json/json-value.ts';
import {
  SIDE_EFFECT_LEVELS,
  type ToolAnnotations,
} from '../../../src/core/contract/annotations.ts';
import type { ToolCall } from '../../../src/core/contract/call.ts';
import type { ArgConstraint, ArgConstraints } from '../../../src/policy/index.ts';
import type { CapabilityPolicy, PolicyQuestion } from '../../../src/policy/capability-policy.ts';
import { makeCall } from '../../test-kit.ts';
import type { Random } from './random.ts';

const TOOLS = ['read', 'write', '__proto__', 'constructor', 'Read'];
const CAPABILITIES = ['fs', 'net', '__proto__', 'toString'];
const OPERATIONS = ['read', 'write', 'constructor'];
const ROOTS = [
  '/',
  '/a',
  '/a/b',
  '/a/bc',
  '/a/b/c',
  '/a//b/',
  '/a/./x/../b',
  '/../a',
  '/d',
  'relative',
  '/a/b/../../d',
];
const PATHS = [
  ...ROOTS,
  '/a/b/c/f',
  '/a/bc/f',
  '/a/../d/f',
  '/a/b/../../../etc',
  '',
  '/a/b\0/f',
  '/A',
  '/a/b/..',
  '//a/b',
];
const ARGUMENTS = [
  'path',
  '/path',
  'size',
  'options',
  '/options/depth',
  '/list/0',
  '__proto__',
  'constructor',
  '/a~1b',
  'a/b',
  '/',
];
const VALUES: readonly JsonValue[] = [
  '/a/b/f',
  '/a/../d',
  'main',
  'mainly',
  '',
  0,
  -0,
  1,
  5,
  true,
  null,
  ['/a'],
  { depth: 2 },
  '😀😀',
];

const SCALARS = VALUES.filter(
  (value) => typeof value !== 'object' || value === null,
) as readonly JsonPrimitive[]; // Just filtered.
const FOLDERS = ROOTS.filter((root) => root.startsWith('/'));

const someOf = <T>(random: Random, items: readonly T[]): readonly T[] =>
  items.filter(() => random.oneIn(2));
const maybe = <K extends string, T>(
  random: Random,
  key: K,
  make: () => T,
): { readonly [P in K]?: T } =>
  // A computed key makes the type too wide; it is the one key asked for.
  (random.oneIn(3) ? { [key]: make() } : {}) as { readonly [P in K]?: T };
const mapOf = <T>(
  random: Random,
  keys: readonly string[],
  make: () => T,
): Readonly<Record<string, T>> =>
  Object.fromEntries(someOf(random, keys).map((key) => [key, make()]));

/** Every member may be absent, empty, or say something; also what a check would have refused. */
export function randomPolicy(random: Random): CapabilityPolicy {
  return {
    ...maybe(random, 'argConstraints', () => randomConstraints(random)),
    ...maybe(random, 'recursionLimit', () => random.below(3)),
    ...maybe(random, 'sideEffectLevel', () => random.pick(SIDE_EFFECT_LEVELS)),
    ...maybe(random, 'workspaceRoots', () =>
      someOf(random, ROOTS.slice(random.below(ROOTS.length))),
    ),
    ...maybe(random, 'capabilities', () =>
      mapOf(random, CAPABILITIES, () => someOf(random, OPERATIONS)),
    ),
    ...maybe(random, 'tools', () =>
      [random.pick(TOOLS), ...someOf(random, TOOLS)].slice(random.below(2)).reverse(),
    ),
  };
}

function randomConstraints(random: Random): ArgConstraints {
  const entry = () => {
    const first = randomConstraint(random);
    const all = random.oneIn(3) ? [first, randomConstraint(random)] : first;
    return random.oneIn(8)
      ? {}
      : {
          [random.pick(ARGUMENTS)]: all,
          ...(random.oneIn(3) ? { [random.pick(ARGUMENTS)]: first } : {}),
        };
  };
  return Object.fromEntries(
    [random.pick(TOOLS), random.pick(TOOLS)].map((tool) => [tool, entry()]),
  );
}

const FORMS: readonly ((random: Random) => ArgConstraint)[] = [
  (random) => ({ oneOf: SCALARS.slice(random.below(SCALARS.length)).reverse(), absent: 'allowed' }),
  () => ({ oneOf: ['main', 1, 0, 'main'] }),
  (random) => ({ prefix: random.pick(['/a', 'main', 'm']), absent: 'allowed' }),
  (random) => ({ within: someOf(random, FOLDERS), absent: 'allowed' }),
  (random) => ({ minimum: random.below(3), maximum: 1 + random.below(5), absent: 'allowed' }),
  (random) => ({ maximum: random.below(5) }),
  (random) => ({ maxLength: random.below(7), absent: 'allowed' }),
  () => ({ absent: 'required' }),
  // What cannot be read lets nothing pass.
  () => ({ pattern: '.*' }) as ArgConstraint,
];

const randomConstraint = (random: Random): ArgConstraint => random.pick(FORMS)(random);

const randomArgs = (random: Random): JsonObject =>
  Object.fromEntries(
    [...someOf(random, ['path', 'size', '__proto__', 'a/b', '']), 'options', 'list'].map((name) => [
      name,
      random.pick(VALUES),
    ]),
  );

export function randomQuestion(random: Random): PolicyQuestion {
  return {
    ...maybe(random, 'toolName', () => random.pick(TOOLS)),
    ...maybe(random, 'sideEffectLevel', () => random.pick(SIDE_EFFECT_LEVELS)),
    // Without an operation, "some operation" is asked for, and two policies may have different
    // ones.
    ...(random.oneIn(2)
      ? { capability: random.pick(CAPABILITIES), operation: random.pick(OPERATIONS) }
      : {}),
    ...maybe(random, 'path', () => random.pick(PATHS)),
    ...maybe(random, 'depth', () => random.below(4)),
    ...(random.oneIn(2) ? { toolName: random.pick(TOOLS), args: randomArgs(random) } : {}),
  };
}

export function randomCall(random: Random): ToolCall {
  const annotations: ToolAnnotations = {
    ...maybe(random, 'sideEffectLevel', () => random.pick(SIDE_EFFECT_LEVELS.slice(0, 3))),
    ...maybe(random, 'readOnly', () => true),
    ...maybe(random, 'capabilities', () =>
      mapOf(random, CAPABILITIES.slice(0, 2), () => someOf(random, OPERATIONS)),
    ),
    ...maybe(random, 'safety', () => ({
      ...maybe(random, 'filesystem', () => random.oneIn(3)),
      ...maybe(random, 'allowedRoots', () => someOf(random, ROOTS)),
    })),
  };
  return makeCall(
    { toolName: random.pick(TOOLS), toolArgs: randomArgs(random), annotations },
    { nesting: random.below(3) },
  );
}
