/** The JSON Schema of a handoff on the wire, for whoever reads receipts and events without this package. */

import { type JsonSchema, SIDE_EFFECT_LEVELS } from '../../src/index.ts';
import { HANDOFF_LIMITS } from './handoff-record.ts';

const { name: NAME, entry: ENTRY, text: TEXT, entries } = HANDOFF_LIMITS;

const upTo = (maxLength: number) => ({ type: 'string', minLength: 1, maxLength });
const listOf = (items: JsonSchema) => ({ type: 'array', items, maxItems: entries });
const closed = (properties: Record<string, JsonSchema>, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const amount = { type: 'number', minimum: 0 };
const texts = listOf(upTo(ENTRY));
const names = { type: 'array', items: { type: 'string', minLength: 1 } };

const POLICY = closed({
  tools: names,
  capabilities: { type: 'object', additionalProperties: names },
  side_effect_level: { enum: [...SIDE_EFFECT_LEVELS] },
  recursion_limit: { type: 'integer', minimum: 0 },
});

const PROPERTIES: Record<string, JsonSchema> = {
  _type: { const: 'handoff_artifact' },
  id: { type: 'string', minLength: 1 },
  parent_run_id: { type: 'string', minLength: 1 },
  kind: upTo(NAME),
  source_persona: upTo(NAME),
  target_persona_or_human: {
    ...closed({ kind: { enum: ['persona', 'human'] }, id: upTo(NAME), label: upTo(NAME) }, ['kind']),
    anyOf: [{ required: ['id'] }, { required: ['label'] }],
  },
  task: upTo(TEXT),
  reason: upTo(TEXT),
  evidence_refs: listOf(closed({ artifact_id: upTo(NAME), kind: upTo(NAME), label: upTo(NAME), path: upTo(ENTRY), uri: upTo(ENTRY) })),
  files_or_entities_touched: texts,
  open_questions: texts,
  blocked_on: texts,
  requested_capabilities: texts,
  allowed_side_effects: texts,
  budget_remaining: closed({ tokens: amount, tool_calls: amount, dollars: amount }),
  deadline_checkback: closed({ deadline: upTo(NAME), checkback_at: upTo(NAME) }),
  confidence: { type: 'number', minimum: 0, maximum: 1 },
  receipt_links: listOf(
    closed({ kind: upTo(NAME), label: upTo(NAME), run_id: upTo(NAME), artifact_id: upTo(NAME), path: upTo(ENTRY), href: upTo(ENTRY) }, [
      'kind',
    ]),
  ),
  policy_override: POLICY,
  created_at: { type: 'string', format: 'date-time' },
  metadata: { type: 'object' },
};

const OPTIONAL = ['parent_run_id', 'kind', 'budget_remaining', 'deadline_checkback', 'confidence', 'policy_override'];

/**
 * What `audit.handoff` looks like in receipts and events, in JSON Schema 2020-12. A scrub of the stack may make texts
 * longer than they were; a reader that must not fail on those checks without the lengths.
 */
export const HANDOFF_SCHEMA: JsonSchema = Object.freeze({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'allium handoff',
  ...closed(
    PROPERTIES,
    Object.keys(PROPERTIES).filter((property) => !OPTIONAL.includes(property)),
  ),
});
