/** What becomes of calls to a tool, as far as the layers of a file decide by the tool alone. */

import { foreseeConsent } from './foresee-consent.ts';
import { advertisable, type CapabilityPolicy, matchesTool, type ToolSpec } from '../index.ts';
import { isObject } from '../core/json.ts';
import type { BuiltLayer } from './build-layers.ts';
import type { ToolChange } from './describe-stack.ts';
import { POLICY_FACTORIES } from './policy-factories.ts';

/** What happens to a call of a tool. Limits, pins of tools that change later and the tool itself may still end it otherwise. */
export interface ToolFate {
  readonly outcome: 'allowed' | 'asked' | 'refused' | 'hidden';
  /** The layer that decides; absent where none does. */
  readonly by?: string;
  /** Its rule, as receipts name it. */
  readonly rule?: string;
  /** What may decide otherwise: rules that look at the arguments, and layers that only code knows. */
  readonly unless?: readonly string[];
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
  changes: readonly ToolChange[],
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
    ...(found === undefined
      ? {}
      : { by: found.by, ...(found.rule === undefined ? {} : { rule: found.rule }) }),
    ...(unless.length === 0 ? {} : { unless }),
  };
}

const ORDER = ['refused', 'asked', 'allowed'] as const;
const QUARANTINED = 'definitionPin (not what was accepted)';

/** An entry with `only` and `except` is for some tools. Both were checked when the layer was made. */
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
