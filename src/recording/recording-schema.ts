/** The JSON Schema of one line of a recording. */

import { STATUSES } from '../layer.ts';

/** No line is longer. */
export const MAX_LINE_BYTES = 32 * 1024 * 1024;

const text = { type: 'string' };
const name = { type: 'string', minLength: 1 };
const textOrNull = { type: ['string', 'null'] };
const count = { type: 'integer', minimum: 0 };
const amount = { type: 'number', minimum: 0 };
const object = { type: 'object' };
const closed = (required: object, optional: object = {}) => ({
  type: 'object',
  properties: { ...required, ...optional },
  required: Object.keys(required),
  additionalProperties: false,
});

const block = (type: string, required: object, optional: object = {}) =>
  closed({ type: { const: type }, ...required }, { ...optional, annotations: object });
const media = { data: text, mimeType: text };
const RESOURCE = closed({ uri: text }, { mimeType: text, text, blob: text });
const BLOCK = {
  type: 'object',
  discriminator: { propertyName: 'type' },
  required: ['type'],
  oneOf: [
    block('text', { text }),
    block('image', media),
    block('audio', media),
    block('resource', { resource: RESOURCE }),
    block('resource_link', { uri: text, name: text }, { description: text, mimeType: text }),
  ],
};

/**
 * A status of the table stands on results of one kind only; those that layers invent may stand on
 * both.
 */
const wrongStatuses = (ok: boolean) =>
  Object.entries(STATUSES).flatMap(([status, row]) => (row.ok === ok ? [] : [status]));
const agrees = (ok: boolean) => ({ properties: { status: { not: { enum: wrongStatuses(ok) } } } });

const ANSWER = {
  ...closed(
    {
      ...{
        ok: { type: 'boolean' },
        status: name,
        result: {},
        error: textOrNull,
        error_category: textOrNull,
      },
      error_class: { enum: ['retryable', 'repairable', 'fatal', null] },
      executor: { enum: ['local', 'host_bridge', 'mcp_server', 'provider_native', null] },
      executed: { enum: ['no', 'yes', 'unknown'] },
      execution_duration_ms: amount,
      output_files: {
        type: 'array',
        items: closed({ uri: text, bytes: count, sha256: text, media_type: text }),
      },
    },
    {
      ...{
        content: { type: 'array', minItems: 1, items: BLOCK },
        rendered_result: text,
        metadata: object,
      },
      interruption: closed(
        {
          ...{
            kind: { enum: ['approval_required', 'auth_required'] },
            id: text,
            fingerprint: text,
            shown: object,
          },
          options: { type: 'array', items: text },
        },
        { expires_at: text },
      ),
    },
  ),
  dependentRequired: { content: ['rendered_result'], rendered_result: ['content'] },
  if: { properties: { ok: { const: true } } },
  then: agrees(true),
  else: agrees(false),
};

const TURN = closed(
  { iteration: { type: 'number' }, session_id: text },
  {
    ...{ turn_id: text, run_id: text, model: text, provider: text },
    ...{
      emit_order: { type: 'number' },
      resumes: { type: 'number' },
      prefetch_next_turn: { type: 'boolean' },
    },
  },
);

const version = { schema_version: { const: 1 } };

/** A call with its answer. `answer` is `null` where it was too large to be written. */
export const CALL_SCHEMA = closed(
  {
    ...{
      ...version,
      record: { const: 'call' },
      writer: text,
      seq: count,
      tool_call_id: text,
      tool_name: name,
    },
    ...{ arguments: object, turn: TURN, started_at: text, duration_ms: amount },
    answer: { ...ANSWER, type: ['object', 'null'] },
  },
  { nested: { const: true } },
);

/** Stands behind a line that was cut off. */
export const TORN_SCHEMA = closed({ ...version, record: { const: 'torn' } });
