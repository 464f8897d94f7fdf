/** A stack, drawn for people. */

import { layersIn } from './compose.ts';
import type { ToolCaller, ToolLayer } from '../contract/layer.ts';
import { describeFinding, orderFindings } from '../contract/order.ts';

/**
 * Draws the onion, outermost first, with what each layer is known to do, and the advice of the
 * order rules. Broken rules are printed, not thrown: this is for looking at a stack that does not
 * compose, too.
 */
export function explainStack(members: readonly (ToolLayer | ToolCaller)[]): string {
  const layers = layersIn(members);
  const width = Math.max(0, ...layers.map(({ name }) => name.length));
  const digits = String(layers.length).length;
  const rows = layers.map((layer, index) => [
    String(index + 1).padStart(digits),
    layer.name.padEnd(width),
    traitsOf(layer),
  ]);
  const lines = [...rows, [' '.repeat(digits), 'executor']].map((row) =>
    `  ${row.join('  ')}`.trimEnd(),
  );
  return ['call ↓  result ↑', ...lines, '', ...adviceFor(layers)].join('\n');
}

function adviceFor(layers: readonly ToolLayer[]): readonly string[] {
  const findings = orderFindings(layers);
  if (findings.length === 0) return ['The order breaks no rule.'];
  return findings.map(
    (finding) => `${finding.level === 'must' ? '✗' : '!'} ${describeFinding(finding)}`,
  );
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
