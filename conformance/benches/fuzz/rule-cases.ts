/**
 * Random rules and calls, each rule in two languages: as `rulesPolicy` reads it and as Cedar does.
 */

import type { PermissionRule, RuleDecision } from '../../../src/policy/index.ts';
import type { Random } from './random.ts';

/** One rule twice. */
export interface RulePair {
  readonly rule: PermissionRule & { readonly id: string };
  /** What Cedar puts behind `when`. */
  readonly cedar: string;
}

/** What a call is about, without anything Cedar cannot say: no fractions and no null. */
export interface RuleCall {
  readonly tool: string;
  readonly kind: 'tool.call' | 'filesystem.read' | 'filesystem.write' | 'network.connect';
  readonly request: Readonly<Record<string, string | number>>;
  readonly args: Readonly<Record<string, CallValue>>;
}

type CallValue =
  | string
  | number
  | boolean
  | readonly (string | number)[]
  | { readonly [key: string]: string | number };

/** A condition in both languages. */
interface Condition {
  readonly cel: string;
  readonly cedar: string;
}

const TOOLS = ['fs_read', 'fs_write', 'fs', 'net_get', 'constructor', 'a*b', 'fs_'];
const TOOL_PATTERNS = [
  '*',
  'fs_*',
  '*_read',
  'fs',
  'net_get',
  'c*r',
  '*s*',
  'constructor',
  'nobody',
  '**',
  'f*s*_*',
];
const KINDS: readonly RuleCall['kind'][] = [
  'tool.call',
  'filesystem.read',
  'filesystem.write',
  'network.connect',
];
const KIND_PATTERNS = [
  '*',
  'filesystem.*',
  'tool.call',
  'network.connect',
  '*.write',
  'filesystem.read',
  'payment',
];
const TEXTS = [
  '',
  'a',
  '/work/a',
  '/work/',
  '/etc/passwd',
  'A',
  'é',
  'a"b',
  'a\\b',
  'a*b',
  '*',
  'true',
  '1',
  'constructor',
  'ünï',
  '🙂',
  'a\nb',
];
const NUMBERS = [-3, -1, 0, 1, 2, 3, 7];
/** Members with the kind of value they mostly have. */
const TEXT_KEYS = ['path', 'mode', 'toString'];
const NUMBER_KEYS = ['count', 'constructor'];
const KEYS = [...TEXT_KEYS, ...NUMBER_KEYS, 'force', 'tags', 'options'];

/** A set of one to eight rules. Their names are their places. */
export const randomRules = (random: Random): readonly RulePair[] =>
  Array.from({ length: 1 + random.below(8) }, (_, index) =>
    randomRule(random, `rule_${index + 1}`),
  );

function randomRule(random: Random, id: string): RulePair {
  const decision = random.pick<RuleDecision>(['allow', 'allow', 'deny', 'ask']);
  const tool = random.oneIn(3) ? undefined : somePatterns(random, TOOL_PATTERNS);
  const kind = random.oneIn(2) ? undefined : somePatterns(random, KIND_PATTERNS);
  const when = random.oneIn(5) ? undefined : randomCondition(random, 3);
  const parts = [likeAny('context.tool', tool), likeAny('context.kind', kind), when?.cedar];
  return {
    rule: {
      id,
      decision,
      ...(tool === undefined ? {} : { tool }),
      ...(kind === undefined ? {} : { kind }),
      ...(when === undefined ? {} : { when: when.cel }),
    },
    cedar: parts.filter((part) => part !== undefined).join(' && ') || 'true',
  };
}

const somePatterns = (random: Random, patterns: readonly string[]): string | readonly string[] =>
  random.oneIn(2)
    ? random.pick(patterns)
    : Array.from({ length: 1 + random.below(3) }, () => random.pick(patterns));

function likeAny(
  subject: string,
  patterns: string | readonly string[] | undefined,
): string | undefined {
  if (patterns === undefined) return undefined;
  const list = typeof patterns === 'string' ? [patterns] : patterns;
  return `(${list.map((pattern) => `${subject} like ${JSON.stringify(pattern)}`).join(' || ')})`;
}

function randomCondition(random: Random, depth: number): Condition {
  if (depth === 0 || random.oneIn(3)) return random.pick(ATOMS)(random);
  const [a, b] = [randomCondition(random, depth - 1), randomCondition(random, depth - 1)];
  switch (random.below(5)) {
    case 0:
      return { cel: `!(${a.cel})`, cedar: `!(${a.cedar})` };
    case 1:
      return { cel: `((${a.cel}) || (${b.cel}))`, cedar: `((${a.cedar}) || (${b.cedar}))` };
    case 2: {
      const test = randomCondition(random, depth - 1);
      return {
        cel: `((${test.cel}) ? (${a.cel}) : (${b.cel}))`,
        cedar: `(if (${test.cedar}) then (${a.cedar}) else (${b.cedar}))`,
      };
    }
    default:
      return { cel: `((${a.cel}) && (${b.cel}))`, cedar: `((${a.cedar}) && (${b.cedar}))` };
  }
}

const quote = (text: string): string => JSON.stringify(text);
const member = (key: string): Condition => ({
  cel: `args[${quote(key)}]`,
  cedar: `context.args[${quote(key)}]`,
});
/** A text inside a Cedar pattern, where a star stands for itself only behind a backslash. */
const literal = (text: string): string => quote(text).slice(1, -1).replaceAll('*', '\\*');
const both = (a: Condition, text: string): Condition => ({
  cel: `${a.cel} ${text}`,
  cedar: `${a.cedar} ${text}`,
});

function textTest(random: Random, subject: Condition): Condition {
  const text = random.pick(TEXTS);
  const method = random.pick(['startsWith', 'endsWith', 'contains']);
  const [before, after] = [method === 'startsWith' ? '' : '*', method === 'endsWith' ? '' : '*'];
  return {
    cel: `${subject.cel}.${method}(${quote(text)})`,
    cedar: `${subject.cedar} like "${before}${literal(text)}${after}"`,
  };
}

const present = (key: string): Condition => ({
  cel: `${quote(key)} in args`,
  cedar: `context.args has ${quote(key)}`,
});

/** Looks first whether the member is there, so that most conditions can be decided. */
function guarded(random: Random, key: string, condition: Condition): Condition {
  if (random.oneIn(8)) return condition;
  const there = present(key);
  return {
    cel: `(${there.cel} && ${condition.cel})`,
    cedar: `(${there.cedar} && ${condition.cedar})`,
  };
}

const ATOMS: readonly ((random: Random) => Condition)[] = [
  (random) => {
    const key = random.pick(TEXT_KEYS);
    return guarded(random, key, textTest(random, member(key)));
  },
  (random) => {
    const key = random.pick(NUMBER_KEYS);
    return guarded(
      random,
      key,
      both(
        member(key),
        `${random.pick(['<', '<=', '>', '>=', '==', '!='])} ${random.pick(NUMBERS)}`,
      ),
    );
  },
  (random) => {
    const key = random.pick(KEYS);
    return guarded(
      random,
      key,
      both(member(key), `${random.pick(['==', '!='])} ${quote(random.pick(TEXTS))}`),
    );
  },
  (random) => {
    const [key, list] = [
      random.pick(KEYS),
      `[${Array.from({ length: 1 + random.below(3) }, () => quote(random.pick(TEXTS))).join(', ')}]`,
    ];
    const { cel, cedar } = member(key);
    return guarded(random, key, { cel: `${cel} in ${list}`, cedar: `${list}.contains(${cedar})` });
  },
  (random) => {
    const [tags, text] = [member('tags'), quote(random.pick(TEXTS))];
    return guarded(random, 'tags', {
      cel: `${text} in ${tags.cel}`,
      cedar: `${tags.cedar}.contains(${text})`,
    });
  },
  (random) => {
    const [key, text] = [random.pick(TEXT_KEYS), quote(random.pick(TEXTS))];
    return guarded(random, 'options', {
      cel: `args.options[${quote(key)}] == ${text}`,
      cedar: `context.args.options[${quote(key)}] == ${text}`,
    });
  },
  (random) => guarded(random, 'force', member('force')),
  (random) => {
    const key = random.pick(KEYS);
    return { cel: `has(args.${key})`, cedar: `context.args has ${key}` };
  },
  (random) => {
    const [a, b] = [random.pick(KEYS), random.pick(KEYS)];
    const same = {
      cel: `${member(a).cel} == ${member(b).cel}`,
      cedar: `${member(a).cedar} == ${member(b).cedar}`,
    };
    return guarded(random, a, guarded(random, b, same));
  },
  (random) => textTest(random, { cel: 'tool', cedar: 'context.tool' }),
  (random) => {
    const path = {
      cel: `(has(request.path) && request.path`,
      cedar: `(context.request has path && context.request.path`,
    };
    const { cel, cedar } = textTest(random, path);
    return { cel: `${cel})`, cedar: `${cedar})` };
  },
  (random) =>
    random.oneIn(2)
      ? { cel: 'true', cedar: 'true' }
      : both({ cel: 'kind', cedar: 'context.kind' }, `== ${quote(random.pick(KINDS))}`),
];

/** A call whose members mostly, but not always, have the type that conditions expect. */
export function randomCall(random: Random): RuleCall {
  const kind = random.pick(KINDS);
  const args: Record<string, CallValue> = {};
  for (const key of KEYS)
    if (!random.oneIn(5)) args[key] = random.oneIn(12) ? anyValue(random) : usualValue(random, key);
  return { tool: random.pick(TOOLS), kind, request: requestFields(random, kind), args };
}

function requestFields(random: Random, kind: RuleCall['kind']): RuleCall['request'] {
  if (kind === 'tool.call') return {};
  return kind === 'network.connect'
    ? { host: random.pick(TEXTS), port: 443 }
    : { path: random.pick(TEXTS) };
}

function usualValue(random: Random, key: string): CallValue {
  if (TEXT_KEYS.includes(key)) return random.pick(TEXTS);
  if (NUMBER_KEYS.includes(key)) return random.pick(NUMBERS);
  if (key === 'force') return random.oneIn(2);
  if (key === 'tags') return someTexts(random);
  return Object.fromEntries(TEXT_KEYS.map((name) => [name, random.pick(TEXTS)]));
}

const someTexts = (random: Random): readonly string[] =>
  Array.from({ length: random.below(4) }, () => random.pick(TEXTS));

const anyValue = (random: Random): CallValue =>
  random.pick<() => CallValue>([
    () => random.pick(TEXTS),
    () => random.pick(NUMBERS),
    () => random.oneIn(2),
    () => someTexts(random),
    () => [random.pick(NUMBERS), random.pick(TEXTS)],
    () => ({ path: random.pick(NUMBERS), constructor: random.pick(TEXTS) }),
  ])();
