/**
 * Parts of the published JSON Schemas that receipts and events share. They say what is on the wire,
 * in its spelling.
 */

import type { JsonSchema } from '../contract/call.ts';

export const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** No `format`: a validator in strict mode refuses those it does not know. */
const ISO_TIME =
  '^(?:[+-]\\d{2})?\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}Z$';
const HASH = '^(?:sha256|hmac-sha256:[A-Za-z0-9_-]{1,64}):[0-9a-f]{64}$';

export const text = (description: string): JsonSchema => ({ type: 'string', description });
export const textOrNull = (description: string): JsonSchema => ({
  type: ['string', 'null'],
  description,
});
export const flag = (description: string): JsonSchema => ({ type: 'boolean', description });
export const count = (description: string): JsonSchema => ({
  type: 'integer',
  minimum: 0,
  description,
});
export const milliseconds = (description: string): JsonSchema => ({
  type: 'number',
  minimum: 0,
  description,
});
export const time = (description: string): JsonSchema => ({
  type: 'string',
  pattern: ISO_TIME,
  description,
});
export const hash = (description: string): JsonSchema => ({
  type: 'string',
  pattern: HASH,
  description,
});
export const hashOrNull = (description: string): JsonSchema => ({
  type: ['string', 'null'],
  pattern: HASH,
  description,
});
export const oneOf = (values: readonly (string | null)[], description: string): JsonSchema => ({
  enum: values,
  description,
});
export const only = (value: string | number | boolean | null, description: string): JsonSchema => ({
  const: value,
  description,
});
export const open = (
  properties: Readonly<Record<string, JsonSchema>>,
  description: string,
): JsonSchema => ({
  type: 'object',
  description,
  properties,
});

/**
 * Only this package writes such an object, so that a member more is a mistake. All are required but
 * those named.
 */
export const closed = (
  properties: Readonly<Record<string, JsonSchema>>,
  description: string,
  optional: readonly string[] = [],
): JsonSchema => ({
  type: 'object',
  description,
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
});

export const EXECUTORS = ['local', 'host_bridge', 'mcp_server', 'provider_native'] as const;

const LINE = open(
  {
    name: text('The layer.'),
    status: text(
      'How the layer says it went: a status of the call, or a word of its own such as `approved` or `hit`.',
    ),
    started_at: text('When the layer was entered.'),
    ended_at: text('When the layer was left.'),
    error: text('What the layer itself failed with.'),
    rule: text('The rule by which the layer decided.'),
  },
  'The line of one layer. Layers add details of their own, and may add whole lines.',
);

/**
 * Free-form: any layer writes into it, and a scrub may change every text, times too. So only the
 * kinds of the conventional keys are said.
 */
export const AUDIT_SCHEMA: JsonSchema = open(
  {
    summary: text('One line for people.'),
    reason: text("The model's own words for why it made the call."),
    reason_missing: flag('Whether the model gave no reason.'),
    description: text('What the tool does.'),
    kind: text(
      'What kind of tool it is: `read`, `edit`, `delete`, `move`, `search`, `execute`, `think`, `fetch`, `switch_mode`, `other`.',
    ),
    hints: open(
      {
        read_only: flag('Whether the tool changes nothing.'),
        destructive: flag('Whether the tool may destroy something.'),
        idempotent: flag('Whether a second call with the same arguments changes nothing more.'),
        open_world: flag('Whether the tool reaches beyond a closed set of things.'),
      },
      'What the tool says about itself. Hints, never proof.',
    ),
    consent: open(
      {
        decision: text('`approved`, `auto`, `denied` or `expired`.'),
        decided_by: text('Who decided: a person, a rule, a program.'),
        decided_at: text('When it was decided.'),
        reason: text('Why it was decided so.'),
      },
      'Who allowed or refused the call, and when.',
    ),
    scope: open(
      {
        stage: text('The name of the scope.'),
        allowed_tools: {
          type: 'array',
          items: { type: 'string' },
          description: 'The tools it allows.',
        },
        side_effect_level: text('The most it lets a tool do.'),
      },
      'The scope that the call ran in.',
    ),
    layers: { type: 'array', items: LINE, description: 'What each layer did, innermost first.' },
    handoff: {
      type: 'object',
      description: 'Work that was handed over; see the schema `handoff`.',
    },
    rewrites: {
      type: 'array',
      items: open(
        {
          layer: text('The layer that changed them.'),
          paths: { type: 'array', items: { type: 'string' }, description: 'What it changed.' },
        },
        'What one layer changed.',
      ),
      description: 'Which layer changed which arguments after the call was approved.',
    },
    receipt_uri: text('Where the receipt of the call is: `file://…#seq=<n>`.'),
    metadata: { type: 'object', description: 'What else layers noted.' },
  },
  'What the layers said about the call. Free-form, with these conventional keys.',
);
