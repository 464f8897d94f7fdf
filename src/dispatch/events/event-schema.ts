/** The JSON Schema of events, for programs that get them without this package. */

import type { JsonSchema } from '../../core/contract/call.ts';
import { snapshotObject } from '../../core/json/json.ts';
import {
  AUDIT_SCHEMA,
  closed,
  DIALECT,
  EXECUTORS,
  milliseconds,
  oneOf,
  only,
  open,
  text,
} from '../../core/wire/wire-schema.ts';
import { BARE_RECEIPT } from '../../receipts/receipt-schema.ts';

/** The type of an event and the call it is about, then what only this type has. */
const event = (
  type: string,
  fields: Readonly<Record<string, JsonSchema>>,
  description: string,
  optional: readonly string[] = [],
): JsonSchema =>
  closed(
    {
      type: only(type, 'Which of the events this is.'),
      session_id: text('The session of the call.'),
      tool_call_id: text(
        'The id of the call. It joins the events of one call, and joins them with receipts and spans.',
      ),
      tool_name: text('The tool that was asked for.'),
      ...fields,
    },
    description,
    optional,
  );

const ENDING: Readonly<Record<string, JsonSchema>> = {
  status: oneOf(
    ['in_progress', 'completed', 'failed', 'cancelled', 'paused'],
    'The stage of the call.',
  ),
  executed: oneOf(['no', 'yes', 'unknown'], 'Whether the tool ran.'),
  error: text('What went wrong, as the model is told.'),
  error_category: text('What went wrong, as a code: the status of a refusal, or something finer.'),
  executor: oneOf(EXECUTORS, 'What runs the tool.'),
  duration_ms: milliseconds('How long the tool took, in milliseconds.'),
};

const TASK: Readonly<Record<string, JsonSchema>> = {
  task_id: text('The task, which is the id of the call that runs it.'),
  status: oneOf(
    ['running', 'waiting', 'completed', 'failed', 'cancelled'],
    'The stage of the task.',
  ),
  content: text('What it came to, as the model would read it.'),
};

const PROGRESS = open(
  {
    progress: { type: 'number', description: 'How far the tool is.' },
    total: { type: 'number', description: 'How far it has to go.' },
    message: text('What it is doing.'),
  },
  'How far the tool is, as it says itself. A layer may add to it.',
);

/**
 * What a listener of `on` gets, in JSON Schema 2020-12. An audit record is open: layers write into
 * it what they like.
 */
export const EVENT_SCHEMA: JsonSchema = snapshotObject({
  $schema: DIALECT,
  $id: 'urn:allium:schema:event',
  title: 'allium event',
  description: 'What a listener hears of a call.',
  oneOf: [
    { $ref: '#/$defs/tool_call' },
    { $ref: '#/$defs/tool_call_update' },
    { $ref: '#/$defs/tool_call_progress' },
    { $ref: '#/$defs/tool_call_audit' },
    { $ref: '#/$defs/task' },
  ],
  $defs: {
    tool_call: event(
      'tool_call',
      { status: only('pending', 'The stage of the call.') },
      'A call has come in.',
    ),
    tool_call_update: event(
      'tool_call_update',
      ENDING,
      'A call has started, waits for somebody, or has ended.',
      Object.keys(ENDING).filter((name) => name !== 'status'),
    ),
    tool_call_progress: event(
      'tool_call_progress',
      { progress: PROGRESS },
      'A tool says how far it is.',
    ),
    tool_call_audit: event(
      'tool_call_audit',
      { audit: AUDIT_SCHEMA, receipt: BARE_RECEIPT },
      'What the layers said about a call.',
      ['receipt'],
    ),
    task: event(
      'task',
      TASK,
      'A tool that runs in the background has started, waits for somebody, or has ended.',
      ['content'],
    ),
  },
});
