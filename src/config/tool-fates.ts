/** What becomes of calls to a tool, as far as the layers of a file decide by the tool alone. */

import type { ToolSpec } from '../index.ts';
import { isObject } from '../core/json/json.ts';
import { matchesTool } from '../layer.ts';
import { advertisable, type CapabilityPolicy } from '../policy/index.ts';
import type { BuiltLayer } from './build-layers.ts';
import { POLICY_FACTORIES } from './policy-factories.ts';
import {
  annotationVerdict,
  type CheckedRule,
  checkedRules,
  defaultVerdict,
  type RuleDecision,
  type Verdict,
} from '../consent/rules.ts';

/**
 * What happens to a call of a tool. Limits, pins of tools that change later and the tool itself may
 * still end it otherwise.
 */
export interface ToolFate {
  readonly outcome: 'allowed' | 'asked' | 'refused' | 'hidden';
  /** The layer that decides; absent where none does. */
  readonly by?: string;
  /** Its rule, as receipts name it. */
  readonly rule?: string;
  /**
   * What may decide otherwise: rules that look at the arguments, and layers that only code knows.
   */
  readonly unless?: readonly string[];
}

/** That a layer changes what the model is shown of a tool, or hides it. */
interface LayerChange {
  readonly layer: string;
  readonly hides: boolean;
}

/** What one layer says; without an outcome it has nothing to say of the tool by itself. */
interface View {
  readonly outcome?: Exclude<ToolFate['outcome'], 'hidden'>;
  readonly by: string;
  readonly rule?: string | undefined;
  readonly unless?: readonly string[];
}

/** The strictest word counts: a refusal before a question, and a question before an approval. */
export function fateOf(
  tool: ToolSpec,
  built: readonly BuiltLayer[],
  entries: readonly unknown[],
  changes: readonly LayerChange[],
): ToolFate {
  const hiding = changes.find(({ hides }) => hides);
  if (hiding !== undefined) return { outcome: 'hidden', by: hiding.layer };
  const views = [
    ...changes
      .filter(({ layer }) => layer === 'definitionPin')
      .map(({ layer }): View => ({ outcome: 'refused', by: layer, rule: QUARANTINED })),
    ...built.flatMap(({ layer: { name }, entry }) =>
      isMeant(entries[entry], tool.name) ? viewOf(name, entries[entry], tool) : [],
    ),
  ];
  const found = ORDER.map((outcome) => views.find((view) => view.outcome === outcome)).find(
    (view) => view !== undefined,
  );
  const unless = found?.outcome === 'refused' ? [] : views.flatMap((view) => view.unless ?? []);
  return {
    outcome: found?.outcome ?? 'allowed',
    ...(found === undefined ? {} : { by: found.by }),
    ...(found?.rule === undefined ? {} : { rule: found.rule }),
    ...(unless.length === 0 ? {} : { unless }),
  };
}

const ORDER = ['refused', 'asked', 'allowed'] as const;
const QUARANTINED = 'definitionPin (not what was accepted)';

/**
 * An entry with `only` and `except` is for some tools. Both were checked when the layer was made.
 */
function isMeant(entry: unknown, toolName: string): boolean {
  const { only, except } = isObject(entry) ? entry : {};
  const isIn = (names: unknown) =>
    Array.isArray(names) && matchesTool(names as readonly string[], toolName);
  return (only === undefined || isIn(only)) && !(except !== undefined && isIn(except));
}

function viewOf(name: string, entry: unknown, tool: ToolSpec): readonly View[] {
  const options = isObject(entry) ? entry[name] : undefined;
  if (isObject(entry) && Object.hasOwn(entry, 'use'))
    return [{ by: name, unless: [`${name} (a layer of your own)`] }];
  if (name === 'consent') return [consentView(options, tool)];
  if (name === 'scopedExecutor') return scopeView(options, tool);
  if (name === 'permissions') return [permissionsView(options, tool)];
  return name === 'hooks' ? [{ by: name, unless: ['hooks (what a hook says)'] }] : [];
}

const OUTCOMES = { denied: 'refused', ask: 'asked', auto: 'allowed', approved: 'allowed' } as const;

function consentView(options: unknown, tool: ToolSpec): View {
  const { verdict, unless } = foreseeConsent(options, tool);
  return {
    by: 'consent',
    unless,
    ...(verdict === null ? {} : { outcome: OUTCOMES[verdict.decision], rule: verdict.rule }),
  };
}

function scopeView(options: unknown, tool: ToolSpec): readonly View[] {
  const {
    stage = 'scoped',
    hide: _hide,
    onViolation: _onViolation,
    allowedTools,
    ...rest
  } = isObject(options) ? options : {};
  // The options were checked when the layer was made.
  const policy = (
    allowedTools === undefined ? rest : { ...rest, tools: allowedTools }
  ) as CapabilityPolicy;
  if (advertisable(policy, tool)) return [];
  return [
    { outcome: 'refused', by: 'scopedExecutor', rule: `scopedExecutor (stage ${String(stage)})` },
  ];
}

/** Most checkers look at what a call is about to do. Rules may deny a tool whatever it does. */
function permissionsView(options: unknown, { name }: ToolSpec): View {
  const { checkers, shadow = false } = isObject(options) ? options : {};
  const rules = Array.isArray(checkers)
    ? checkers.filter((checker) => isObject(checker) && isObject(checker.rulesPolicy))
    : [];
  const isDenied = rules.some(({ rulesPolicy }) =>
    POLICY_FACTORIES.get('rulesPolicy')?.(rulesPolicy as never).alwaysDenies?.(name),
  );
  if (isDenied && shadow === false)
    return { outcome: 'refused', by: 'permissions', rule: 'permissions rulesPolicy' };
  return shadow === false
    ? { by: 'permissions', unless: ['permissions (what the call is about to do)'] }
    : { by: 'permissions' };
}

/** A verdict that holds unless something that looks at the arguments says otherwise. */
interface Foreseen {
  /** `null` where only a decider knows. */
  readonly verdict: Verdict | null;
  /** Rules, or the decider, that may decide otherwise, as records name them. */
  readonly unless: readonly string[];
}

/**
 * Reads the options of `consent` as they stand in a file, where a condition may be anything: a rule
 * with `when` may apply or not. Rules that cannot be read here, because code makes them, are named
 * in `unless`.
 */
function foreseeConsent(
  options: unknown,
  { name, annotations }: Pick<ToolSpec, 'name' | 'annotations'>,
): Foreseen {
  const given = isObject(options) ? options : {};
  const isCode =
    (options !== undefined && !isObject(options)) ||
    Object.keys(given).some((key) => key.startsWith('$'));
  const isUnread = given.rules !== undefined && !Array.isArray(given.rules);
  if (isCode || isUnread) return { verdict: null, unless: ['consent (what code decides)'] };
  const rules = readRules(given.rules).filter(({ tool }) => matchesTool([tool], name));
  const sure = strictest(rules.filter(({ when }) => when === undefined));
  const perhaps = rules.filter(
    (rule) =>
      rule.when !== undefined &&
      (sure === null || RANK[rule.verdict.decision] > RANK[sure.verdict.decision]),
  );
  const unless = perhaps.map(({ verdict }) => verdict.rule ?? '');
  if (sure !== null) return { verdict: sure.verdict, unless };
  if (given.decide !== undefined)
    return { verdict: null, unless: [...unless, 'consent (what "decide" says)'] };
  const fallback = given.default ?? (given.rules === undefined ? undefined : 'ask');
  // The options were checked when the layer was made.
  return {
    verdict:
      fallback === undefined
        ? annotationVerdict(annotations)
        : defaultVerdict(fallback as RuleDecision),
    unless,
  };
}

/** A deny counts before an ask, and an ask before an allow. */
const RANK: Readonly<Record<Verdict['decision'], number>> = {
  denied: 2,
  ask: 1,
  auto: 0,
  approved: 0,
};

function strictest(rules: readonly CheckedRule[]): CheckedRule | null {
  return [...rules].sort((a, b) => RANK[b.verdict.decision] - RANK[a.verdict.decision])[0] ?? null;
}

/** A condition is a function once the layer is made; here it only counts that there is one. */
function readRules(rules: unknown): readonly CheckedRule[] {
  if (!Array.isArray(rules)) return [];
  const given: readonly unknown[] = rules;
  return checkedRules(
    'consent',
    given.map((rule) =>
      isObject(rule) && rule.when !== undefined ? { ...rule, when: () => true } : rule,
    ),
  );
}
