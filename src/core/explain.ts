/** A stack, drawn for people. */

import type { ComposedCaller } from './compose.ts';
import { composeToolCallers } from './compose.ts';
import type { ToolCaller, ToolLayer } from './layer.ts';
import { describeFinding, orderFindings } from './order.ts';

/**
 * Draws the onion, outermost first, with what each layer is known to do, and the advice of the order rules. Broken
 * rules are printed, not thrown: this is for looking at a stack that does not compose, too.
 */
export function explainStack(members: readonly (ToolLayer | ToolCaller)[]): string {
  const layers = flatten(members);
  const width = Math.max(0, ...layers.map(({ name }) => name.length));
  const rings = layers.map((layer, index) => `${'│ '.repeat(index)}┌ ${layer.name.padEnd(width)}  ${traitsOf(layer)}`.trimEnd());
  const drawing = ['call ↓  result ↑', ...rings, `${'│ '.repeat(layers.length)}● executor`];
  const findings = orderFindings(layers);
  const advice =
    findings.length === 0
      ? ['The order breaks no rule.']
      : findings.map((finding) => `${finding.level === 'must' ? '✗' : '!'} ${describeFinding(finding)}`);
  return [...drawing, '', ...advice].join('\n');
}

/** Composes each member alone, so that a bad order is not thrown before it can be drawn. */
function flatten(members: readonly (ToolLayer | ToolCaller)[]): readonly ToolLayer[] {
  if (!Array.isArray(members)) return composeToolCallers(members).layers;
  return members.flatMap((member: ToolLayer | ToolCaller | ComposedCaller) => composeToolCallers([member]).layers);
}

function traitsOf({ observes, rewrites, schemaTransform, scrub }: ToolLayer): string {
  const traits = [
    observes === true && 'observes',
    rewrites === true && 'rewrites arguments',
    schemaTransform !== undefined && 'changes what the model is shown',
    scrub !== undefined && 'cleans the record',
  ];
  return traits.filter((trait) => trait !== false).join(', ');
}
