/** The JSON Schema of the span record, for programs that get it without this package. */

import { MAX_CHILDREN, MAX_CONTENT, MAX_NAME } from './ended-call.ts';
import { APPROVAL_ANSWERS } from '../approvals/question.ts';
import type { JsonSchema } from '../core/contract/call.ts';

type Properties = Readonly<Record<string, JsonSchema>>;

const ISO_TIME =
  '^(?:[+-]\\d{2})?\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}Z$';
const PREFIX = 'tool_call.';

const text = (description: string): JsonSchema => ({ type: 'string', description });
const name = (description: string): JsonSchema => ({
  type: 'string',
  maxLength: MAX_NAME,
  description,
});
const prefixed = (description: string): JsonSchema => ({
  type: 'string',
  pattern: '^tool_call\\.',
  maxLength: PREFIX.length + MAX_NAME,
  description,
});
const number = (description: string): JsonSchema => ({ type: 'number', description });
const milliseconds = (description: string): JsonSchema => ({
  type: 'number',
  minimum: 0,
  description,
});
const time = (description: string): JsonSchema => ({
  type: 'string',
  pattern: ISO_TIME,
  description,
});
const oneOf = (values: readonly string[], description: string): JsonSchema => ({
  enum: values,
  description,
});
const closed = (
  properties: Properties,
  optional: readonly string[],
  description: string,
): JsonSchema => ({
  type: 'object',
  description,
  properties,
  required: Object.keys(properties).filter((property) => !optional.includes(property)),
  additionalProperties: false,
});

/** Exporters take no other values. */
const ATTRIBUTE: JsonSchema = {
  anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }],
};

const attributes = (
  properties: Properties,
  description: string,
  required: readonly string[] = [],
): JsonSchema => ({
  type: 'object',
  description,
  properties,
  required,
  additionalProperties: ATTRIBUTE,
});

const ALWAYS: Properties = {
  'gen_ai.operation.name': { const: 'execute_tool', description: 'What the span is about.' },
  'gen_ai.tool.name': name('The tool.'),
  'gen_ai.tool.call.id': name('The call.'),
  'gen_ai.conversation.id': name('The session.'),
  'allium.iteration': number("Which turn of the agent's loop it was."),
  'allium.status': name('How the call ended.'),
  'allium.ok': { type: 'boolean', description: 'Whether it ended well.' },
  'allium.executed': oneOf(['no', 'yes', 'unknown'], 'Whether the tool ran.'),
  'allium.args_hash': text('The hash of the arguments, as in the receipt.'),
};

const SOMETIMES: Properties = {
  'gen_ai.tool.description': text('What the tool does.'),
  'gen_ai.tool.type': oneOf(
    ['function', 'extension'],
    '`function` for local tools, `extension` for all others.',
  ),
  'allium.executor': oneOf(
    ['local', 'host_bridge', 'mcp_server', 'provider_native'],
    'What runs the tool.',
  ),
  'mcp.method.name': { const: 'tools/call', description: 'Where an MCP server runs the tool.' },
  'allium.resumes': number('How often the call was interrupted and taken up again.'),
  'error.type': text('What failed: a category, or else the status.'),
  'allium.blocked_by': name('The layer that turned the call away.'),
  'allium.consent.decision': name('`approved`, `auto`, `denied` or `expired`.'),
  'allium.receipt.uri': text('Where the receipt is.'),
  'allium.layers.omitted': number('How many layers have no child span.'),
};

const COUNTS: Properties = {
  count: number('How many there were.'),
  cap: number('How many there may be.'),
  limit_ms: number('How long it may take.'),
  retry_after_ms: number('When to try again.'),
  attempts: number('How often it was tried.'),
};

const EVENT = closed(
  {
    name: oneOf(['dispatched', 'result_returned', 'scope_violation'], 'What happened.'),
    time_ms: number('When, in milliseconds since 1970.'),
    attributes: attributes({ 'error.type': text('What was violated.') }, 'More about it.'),
  },
  ['attributes'],
  'A moment within a call.',
);

const CHILD = closed(
  {
    name: prefixed('`tool_call.<layer>`.'),
    status: name('How the layer says it went.'),
    started_at: time('When the layer was entered.'),
    ended_at: time('When the layer was left.'),
    duration_ms: milliseconds('How long it took, with everything inside it.'),
    attributes: closed(COUNTS, Object.keys(COUNTS), 'Numbers that the layer gave.'),
  },
  ['attributes'],
  'One layer at work.',
);

const WAIT = closed(
  {
    started_at: time('When somebody was asked.'),
    ended_at: time('When they had decided, or when it was too late.'),
    duration_ms: milliseconds('How long that took.'),
    attributes: attributes(
      {
        'allium.approval.id': name('The approval.'),
        'allium.approval.gate': name('Who asked.'),
        'allium.approval.decision': oneOf([...APPROVAL_ANSWERS, 'expired'], 'The answer.'),
      },
      'What is known about it.',
      ['allium.approval.id', 'allium.approval.gate', 'allium.approval.decision'],
    ),
  },
  [],
  'Somebody decided about the call before this pass over it.',
);

const RECORD: Properties = {
  name: prefixed('`tool_call.<tool>`.'),
  kind: { const: 'tool_call', description: 'What the span is about.' },
  span_id: name('The id of the call. It joins the record with events and receipts.'),
  trace_id: text('The option `traceId`, or else the session.'),
  parent_span_id: { type: ['string', 'null'], description: 'The option `parentSpanId`.' },
  start_time_ms: number('When the call came in, in milliseconds since 1970.'),
  end_time_ms: number('When it was answered, in milliseconds since 1970.'),
  start_time_iso: time('When the call came in.'),
  end_time_iso: time('When it was answered.'),
  duration_ms: milliseconds('How long it took.'),
  status: name('How the call ended.'),
  attributes: attributes(
    { ...ALWAYS, ...SOMETIMES },
    'What is known about the call, under the names that exporters use, and what the host attached.',
    Object.keys(ALWAYS),
  ),
  events: {
    type: 'array',
    items: EVENT,
    minItems: 2,
    maxItems: 3,
    description: 'Moments within the call.',
  },
  child_spans: {
    type: 'array',
    items: CHILD,
    maxItems: MAX_CHILDREN,
    description: 'The layers inside telemetry, innermost first.',
  },
  approval_wait: WAIT,
  arguments: {
    description: 'With `captureContent` only: the arguments, or their JSON text cut off.',
  },
  result: {
    description:
      'With `captureContent` only: the result of a call that ended well, or its JSON text cut off.',
  },
  error: {
    type: 'string',
    maxLength: MAX_CONTENT,
    description: 'With `captureContent` only: what the model is told of a call that failed.',
  },
};

/**
 * What a callable sink of `telemetry` gets, and `'stderr'` writes as `span`, in JSON Schema
 * 2020-12. Later versions may add fields.
 */
export const SPAN_SCHEMA: JsonSchema = Object.freeze({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:allium:schema:span',
  title: 'allium span record',
  ...closed(
    RECORD,
    ['approval_wait', 'arguments', 'result', 'error'],
    'One call, with a child for every layer.',
  ),
});
