/** Order mistakes are found when a stack is composed, with the reason. */

import { AlliumError } from './errors.ts';
import type { OrderRule, ToolLayer } from './layer.ts';

export interface OrderFinding {
  readonly level: OrderRule['level'];
  readonly layer: string;
  readonly other: string;
  /** Where the layer should stand, seen from the other. */
  readonly expected: 'outside' | 'inside';
  readonly because: string;
}

/** Every rule that the order breaks, for each pair of layers that stands wrongly. */
export function orderFindings(layers: readonly ToolLayer[]): readonly OrderFinding[] {
  return layers.flatMap((layer, position) =>
    (layer.order ?? []).flatMap((rule) =>
      layers
        .filter(
          (other, index) =>
            other.name === (rule.outsideOf ?? rule.insideOf) &&
            index !== position &&
            isBroken(rule, position, index),
        )
        .map((other) => findingOf(layer, other, rule)),
    ),
  );
}

/** Throws for the first broken `must`. */
export function demandOrder(layers: readonly ToolLayer[]): void {
  const broken = orderFindings(layers).find((finding) => finding.level === 'must');
  if (broken === undefined) return;
  throw new AlliumError('ERR_LAYER_ORDER', describeFinding(broken), {
    layer: broken.layer,
    expected: `${broken.expected} ${broken.other}`,
  });
}

export const describeFinding = ({ level, layer, other, expected, because }: OrderFinding): string =>
  `"${layer}" ${level} stand ${expected} "${other}": ${because}`;

const isBroken = (rule: OrderRule, own: number, other: number): boolean =>
  rule.outsideOf === undefined ? own < other : own > other;

const findingOf = (layer: ToolLayer, other: ToolLayer, rule: OrderRule): OrderFinding => ({
  level: rule.level,
  layer: layer.name,
  other: other.name,
  expected: rule.outsideOf === undefined ? 'inside' : 'outside',
  because: rule.because,
});
