/**
 * The JSON Schema of a handoff on the wire, for programs that read receipts and events without this
 * package.
 */

import { SIDE_EFFECT_LEVELS } from '../core/contract/annotations.ts';
import type { JsonSchema } from '../core/contract/call.ts';
import { HANDOFF_LIMITS } from './handoff-record.ts';

const { name: NAME, entry: ENTRY, text: TEXT, entries } = HANDOFF_LIMITS;

const ISO_TIME =
  '^(?:[+-]\\d{2})?\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}Z$';

const upTo = (maxLength: number, description: string): JsonSchema => ({
  type: 'string',
  minLength: 1,
  maxLength,
  description,
});
const text = (description: string): JsonSchema => ({ type: 'string', minLength: 1, description });
const amount = (description: string): JsonSchema => ({ type: 'number', minimum: 0, description });
const listOf = (items: JsonSchema, description: string): JsonSchema => ({
  type: 'array',
  items,
  maxItems: entries,
  description,
});
const texts = (description: string): JsonSchema =>
  listOf({ type: 'string', minLength: 1, maxLength: ENTRY }, description);
const names = (description: string): JsonSchema => ({
  type: 'array',
  items: { type: 'string', minLength: 1 },
  description,
});
const closed = (
  properties: Record<string, JsonSchema>,
  description: string,
  required: readonly string[] = [],
): JsonSchema => ({
  type: 'object',
  description,
  properties,
  required,
  additionalProperties: false,
});

const TARGET = closed(
  {
    kind: { enum: ['persona', 'human'], description: 'Whether it is a persona or a person.' },
    id: upTo(NAME, 'The id of whoever takes over.'),
    label: upTo(NAME, 'The name of whoever takes over.'),
  },
  'Who takes over; has an `id`, a `label` or both.',
  ['kind'],
);

const POLICY = closed(
  {
    tools: names('The tools that may be called.'),
    capabilities: {
      type: 'object',
      additionalProperties: { type: 'array', items: { type: 'string', minLength: 1 } },
      description: 'The operations that are allowed, by capability.',
    },
    side_effect_level: { enum: [...SIDE_EFFECT_LEVELS], description: 'The most a tool may do.' },
    workspace_roots: names('Absolute folders that files have to lie in.'),
    recursion_limit: { type: 'integer', minimum: 0, description: 'How deep calls may nest.' },
    arg_constraints: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        additionalProperties: { type: 'array', items: { type: 'object' } },
      },
      description:
        'What arguments have to be, by tool and argument; of a list every constraint has to hold.',
    },
  },
  'What whoever takes over may reach at most.',
);

const EVIDENCE = closed(
  {
    artifact_id: upTo(NAME, 'The id of an artifact.'),
    kind: upTo(NAME, 'What kind of evidence it is.'),
    label: upTo(NAME, 'What to call it.'),
    path: upTo(ENTRY, 'The path of a file.'),
    uri: upTo(ENTRY, 'Where it is.'),
  },
  'Something that whoever takes over can look at.',
);

const RECEIPT_LINK = closed(
  {
    kind: upTo(NAME, 'What kind of link it is.'),
    label: upTo(NAME, 'What to call it.'),
    run_id: upTo(NAME, 'The run that it is about.'),
    artifact_id: upTo(NAME, 'The id of an artifact.'),
    path: upTo(ENTRY, 'The path of a file.'),
    href: upTo(ENTRY, 'Where it is.'),
  },
  'Where a receipt of the work so far is.',
  ['kind'],
);

const PROPERTIES: Record<string, JsonSchema> = {
  _type: { const: 'handoff_artifact', description: 'What this is.' },
  id: text('The id of the handoff.'),
  parent_run_id: text('The run that it comes from.'),
  kind: upTo(NAME, 'What kind of handoff it is.'),
  source_persona: upTo(NAME, 'Who hands over.'),
  target_persona_or_human: {
    ...TARGET,
    // In strict mode a validator wants to find there what is required there.
    anyOf: [
      { required: ['id'], properties: { id: {} } },
      { required: ['label'], properties: { label: {} } },
    ],
  },
  task: upTo(TEXT, 'What is to be done.'),
  reason: upTo(TEXT, 'Why it is handed over.'),
  evidence_refs: listOf(EVIDENCE, 'What can be looked at.'),
  files_or_entities_touched: texts('What the work so far has touched.'),
  open_questions: texts('What is not known yet.'),
  blocked_on: texts('What the work waits for.'),
  requested_capabilities: texts('What whoever takes over asks to be able to do.'),
  allowed_side_effects: texts('What whoever takes over may change.'),
  budget_remaining: closed(
    {
      tokens: amount('Tokens of a model.'),
      tool_calls: amount('Calls of tools.'),
      dollars: amount('Money, in dollars.'),
    },
    'What is left to be spent.',
  ),
  deadline_checkback: closed(
    {
      deadline: upTo(NAME, 'When it has to be done.'),
      checkback_at: upTo(NAME, 'When somebody will ask.'),
    },
    'Until when.',
  ),
  confidence: {
    type: 'number',
    minimum: 0,
    maximum: 1,
    description: 'How sure the source is, from 0 to 1.',
  },
  receipt_links: listOf(RECEIPT_LINK, 'Where receipts of the work so far are.'),
  policy_override: POLICY,
  created_at: { type: 'string', pattern: ISO_TIME, description: 'When the handoff was recorded.' },
  metadata: { type: 'object', description: 'What else the tool said.' },
};

const OPTIONAL = [
  'parent_run_id',
  'kind',
  'budget_remaining',
  'deadline_checkback',
  'confidence',
  'policy_override',
];

/**
 * What `audit.handoff` looks like in receipts and events, in JSON Schema 2020-12. A scrub of the
 * stack may make texts longer than they were; a reader that must not fail on those checks without
 * the lengths.
 */
export const HANDOFF_SCHEMA: JsonSchema = Object.freeze({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:allium:schema:handoff',
  title: 'allium handoff',
  ...closed(
    PROPERTIES,
    'Work that one persona leaves to another one or to a person.',
    Object.keys(PROPERTIES).filter((property) => !OPTIONAL.includes(property)),
  ),
});
