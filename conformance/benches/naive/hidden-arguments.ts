/**
 * Hidden arguments put in before the call. What is naive about it: every layer, record and result
 * sees them, and what the model sends under their names wins.
 */

import {
  type GovernedTools,
  type GovernOptions,
  governTools,
  type JsonObject,
  type Tool,
  type ToolRequest,
  type Turn,
} from '../../../src/index.ts';
import { createSubject } from '../../scenarios/create-subject.ts';

function govern(options: GovernOptions): GovernedTools {
  const tools = [...options.tools];
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const governed = governTools({
    ...options,
    tools: tools.map((tool) => ({ ...tool, injected: [] })),
  });
  const filled = (request: ToolRequest, turn: Partial<Turn> = {}): ToolRequest => {
    const { injected = [] } = byName.get(request.name) ?? {};
    if (injected.length === 0) return request;
    const hidden = Object.fromEntries(
      injected.map(({ name, from }) => [name, valueOf(from, options, turn)]),
    );
    const sent = (
      typeof request.arguments === 'string' ? JSON.parse(request.arguments) : request.arguments
    ) as JsonObject; // So we hope.
    return { ...request, arguments: { ...hidden, ...sent } };
  };
  return {
    ...governed,
    call: (request, callOptions) => governed.call(filled(request, callOptions?.turn), callOptions),
    batch: (requests, batchOptions) =>
      governed.batch(
        requests.map((request) => filled(request, batchOptions?.turn)),
        batchOptions,
      ),
  };
}

function valueOf(
  from: Tool['injected'][number]['from'],
  { state, stores, secrets }: GovernOptions,
  turn: Partial<Turn>,
): unknown {
  const [place, key = ''] = String(from).split(':');
  const places: Readonly<Record<string, unknown>> = {
    ...turn,
    turn,
    state,
    store: stores?.[key],
    secret: secrets?.[key],
  };
  return places[place ?? ''] ?? null;
}

export default createSubject({ name: 'naive hidden arguments', govern });

export const fails: readonly string[] = [
  'hidden-arguments.a-batch-and-a-nested-call-are-stripped-too',
  'hidden-arguments.a-missing-secret-is-refused',
  'hidden-arguments.a-missing-store-is-refused',
  'hidden-arguments.a-model-cannot-satisfy-a-schema-with-them',
  'hidden-arguments.a-person-cannot-set-them',
  'hidden-arguments.a-preview-has-none',
  'hidden-arguments.a-secret-that-is-repeated-is-masked',
  'hidden-arguments.each-source-gives-its-value',
  'hidden-arguments.hidden-arguments-are-not-shown',
  'hidden-arguments.layers-never-see-them',
  'hidden-arguments.what-the-model-sends-is-taken-off',
];
