/** One way to run the layer for all its tests. */

import { makeCall, type PartialCall, testClock } from '../../conformance/index.ts';
import {
  composeToolCallers,
  type LayerEntry,
  type Next,
  ok,
  type ToolLayer,
  type ToolResult,
} from '../../src/index.ts';
import { handoffArtifact, type HandoffArtifactOptions } from './handoff-artifact.ts';
import {
  type HandoffContext,
  type HandoffReading,
  readHandoff,
} from '../../src/handoff/read-handoff.ts';

/** The least a valid handoff says. */
export const payload = {
  source_persona: 'merge_captain',
  target_persona_or_human: { kind: 'persona', id: 'review_captain' },
  task: 'Review the change before landing',
  reason: 'Two tests changed',
};

export const answering =
  (value: unknown, status?: 'dry_run'): Next =>
  async (call) =>
    ok(call, value, status === undefined ? {} : { status });

interface Surroundings {
  readonly call?: PartialCall;
  readonly outside?: readonly ToolLayer[];
  readonly inside?: readonly ToolLayer[];
}

/** One call through the layer, with an executor that answers with a value. */
export function run(
  value: unknown,
  options: HandoffArtifactOptions = {},
  around: Surroundings = {},
): Promise<ToolResult> {
  const stack = composeToolCallers(
    [...(around.outside ?? []), handoffArtifact(options), ...(around.inside ?? [])],
    {
      clock: testClock(),
      createId: () => 'id-1',
    },
  );
  return stack(
    makeCall(around.call),
    typeof value === 'function' ? (value as Next) : answering(value),
  );
}

export const lineOf = (result: ToolResult): LayerEntry | undefined =>
  result.audit?.layers.find(({ name }) => name === 'handoffArtifact');

const context: HandoffContext = {
  id: 'handoff_1',
  createdAt: '2026-01-01T00:00:00.000Z',
  source: undefined,
  runId: undefined,
  policy: {},
};

export const least = {
  sourcePersona: 'a',
  targetPersonaOrHuman: { id: 'b' },
  task: 'c',
  reason: 'd',
};

export const read = (payload: object, more: Partial<HandoffContext> = {}): HandoffReading =>
  readHandoff(payload, { ...context, ...more });

export function valid(reading: HandoffReading) {
  if ('invalid' in reading) throw new Error(`invalid: ${reading.invalid.join(', ')}`);
  return reading;
}

export const taken = (payload: object, more: Partial<HandoffContext> = {}) =>
  valid(read({ ...least, ...payload }, more));

export const full = {
  source_persona: ' merge_captain ',
  target_persona_or_human: { kind: 'human', label: 'Ada' },
  task: 'Review\nthe change',
  reason: 'Two tests changed',
  kind: 'review',
  parent_run_id: 'run-1',
  evidence_refs: [
    { artifact_id: 'a1', path: 'src/a.ts' },
    { artifact_id: 'a1', path: 'src/a.ts' },
    {},
  ],
  files_or_entities_touched: ['a.ts', ' ', 'b.ts', 'a.ts '],
  open_questions: ['why?'],
  blocked_on: [],
  requested_capabilities: ['workspace.read'],
  allowed_side_effects: ['read_only'],
  budget_remaining: { tokens: 100, tool_calls: 3, dollars: 0.5 },
  deadline_checkback: { deadline: '2026-02-01', checkback_at: '2026-01-15' },
  confidence: 0.8,
  receipt_links: [
    { run_id: 'run-1' },
    { kind: 'log', href: 'https://example.org/log' },
    { kind: 'alone' },
  ],
  policy_override: { tools: ['read_file'], side_effect_level: 'read_only', recursion_limit: 1 },
  metadata: { ticket_id: 7 },
};
