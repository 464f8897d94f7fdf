/** Rules as they are written, checked and compiled. */

import type { JsonObject } from '../../core/json/json-value.ts';
import { closest } from '../../core/contract/closest.ts';
import { AlliumError } from '../../core/contract/errors.ts';
import { isObject, snapshotObject } from '../../core/json/json.ts';
import { matchesTool } from '../../core/contract/layer.ts';
import { checkOptions, type Expectation, expected } from '../../core/contract/options.ts';
import { FILESYSTEM_KINDS } from '../permission.ts';
import { createExpressions, type Expression } from './compile-expression.ts';
import { ExpressionRefused } from './guard-expression.ts';

/** What a rule says when it applies. `ask` means a person decides. */
export type RuleDecision = 'allow' | 'deny' | 'ask';

/**
 * One rule, all JSON. It applies where the tool, the kind and the condition do; what is absent
 * applies always.
 */
export interface PermissionRule {
  /**
   * Names the rule in records, answers and tests: `a-z`, `0-9` and `_`.
   * @default rule_ and its place in the list, from 1
   */
  readonly id?: string;
  readonly decision: RuleDecision;
  /**
   * Names of tools, with `*` for any run of characters.
   * @default every tool
   */
  readonly tool?: string | readonly string[];
  /**
   * Kinds of requests, with `*` for any run of characters.
   * @default every kind
   */
  readonly kind?: string | readonly string[];
  /**
   * A condition in CEL over `args`, `tool`, `kind`, `request`, `session` and `annotations`.
   * @default always
   */
  readonly when?: string;
  /**
   * For the model and the record: what would pass. Holds no value of an argument, because it is
   * written before one is known.
   * @default names the rule and what it looks at
   */
  readonly reason?: string;
}

/** A rule ready to be asked. */
export interface CompiledRule extends Pick<PermissionRule, 'decision' | 'reason'> {
  readonly id: string;
  readonly tools: readonly string[] | null;
  readonly kinds: readonly string[] | null;
  readonly when: Expression | null;
}

/** Every kind there is, but for those that start with `custom.`. */
const KINDS: readonly string[] = Object.freeze([
  ...[
    'tool.call',
    ...FILESYSTEM_KINDS,
    'process.command',
    'network.connect',
    'mcp.connect',
    'mcp.invoke',
    'payment',
  ],
]);

/** Codes an answer may carry that stand for no rule. */
const RESERVED: readonly string[] = Object.freeze([
  'rule_error',
  'no_rule',
  'checker_failed',
  'cancelled',
]);

const ID = /^[a-z][a-z0-9_]{0,63}$/;
const names: Expectation = {
  text: 'a name or a list of names, with * for any run of characters, not empty',
  test: (value) => listOf(value).length > 0 && listOf(value).every(expected.string.test),
};

const RULE_FIELDS = Object.freeze({
  id: {
    text: `a-z, 0-9 and _, up to 64 of them, and none of ${RESERVED.join(', ')}`,
    test: (value: unknown) =>
      typeof value === 'string' && ID.test(value) && !RESERVED.includes(value),
  },
  decision: expected.required(expected.oneOf('allow', 'deny', 'ask')),
  tool: names,
  kind: names,
  when: expected.string,
  reason: expected.string,
});

/**
 * Copies, checks and compiles rules. Throws `ERR_INVALID_OPTION` that names the rule, also for what
 * CEL does not take.
 */
export function readRules(
  owner: string,
  rules: readonly unknown[],
): { readonly compiled: readonly CompiledRule[]; readonly source: JsonObject[] } {
  const compile = createExpressions();
  const source = rules.map((rule, index) => ownRule(owner, rule, index));
  const compiled = source.map((rule, index) => compileRule(owner, rule, index, compile));
  const taken = new Set<string>();
  for (const { id } of compiled) {
    if (taken.has(id))
      throw invalid(`${owner} rule "${id}"`, 'id', 'a name that no other rule has', 'a second one');
    taken.add(id);
  }
  return { compiled, source };
}

/** A copy of its own: what is checked is what will be asked, whatever happens to the original. */
function ownRule(owner: string, rule: unknown, index: number): JsonObject {
  const at = `${owner} rules[${index}]`;
  if (!isObject(rule)) throw invalid(at, 'rule', 'an object', rule === null ? 'null' : typeof rule);
  const own = snapshotObject(rule);
  checkOptions(at, own, RULE_FIELDS);
  return own;
}

function compileRule(
  owner: string,
  rule: JsonObject,
  index: number,
  compile: (source: string) => Expression,
): CompiledRule {
  // Checked against RULE_FIELDS just before.
  const {
    id = `rule_${index + 1}`,
    decision,
    tool,
    kind,
    when,
    reason,
  } = rule as unknown as PermissionRule;
  const name = `${owner} rule "${id}"`;
  for (const each of listOf(kind)) checkKind(name, each);
  return Object.freeze({
    id,
    decision,
    tools: tool === undefined ? null : Object.freeze(listOf(tool)),
    kinds: kind === undefined ? null : Object.freeze(listOf(kind)),
    when: when === undefined ? null : compileWhen(name, when, compile),
    ...(reason === undefined ? {} : { reason }),
  });
}

function compileWhen(
  name: string,
  when: string,
  compile: (source: string) => Expression,
): Expression {
  try {
    return compile(when);
  } catch (thrown) {
    if (!(thrown instanceof ExpressionRefused)) throw thrown;
    throw invalid(name, 'when', 'a condition', `one that ${thrown.message}`);
  }
}

/** A misspelt kind would never apply, and what it was to deny would go through. */
function checkKind(name: string, kind: unknown): void {
  if (typeof kind !== 'string') return;
  const isCustom = kind.startsWith('custom.') && kind.length > 'custom.'.length;
  if (isCustom || KINDS.some((known) => matchesTool([kind], known))) return;
  const guess = closest(kind, KINDS);
  throw invalid(
    name,
    'kind',
    `${KINDS.join(', ')} or custom.<name>`,
    guess === undefined ? 'another' : `another; did you mean "${guess}"?`,
  );
}

function listOf<T>(value: T | readonly T[] | undefined): T[] {
  if (value === undefined) return [];
  // `isArray` does not narrow readonly lists.
  return Array.isArray(value) ? [...(value as readonly T[])] : [value as T];
}

const invalid = (owner: string, option: string, text: string, got: string): AlliumError =>
  new AlliumError('ERR_INVALID_OPTION', `${owner}: "${option}" must be ${text}, got ${got}`, {
    layer: owner,
    option,
    expected: text,
    got,
  });
