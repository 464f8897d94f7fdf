/** The JSON Schema of receipts, for programs that read them without this package. */

import type { JsonSchema } from '../core/contract/call.ts';
import { snapshotObject } from '../core/json/json.ts';
import {
  AUDIT_SCHEMA,
  closed,
  count,
  DIALECT,
  EXECUTORS,
  hash,
  hashOrNull,
  milliseconds,
  oneOf,
  only,
  text,
  textOrNull,
  time,
} from '../core/wire/wire-schema.ts';

const VERSION = only(1, 'The version of this format.');

const FIELDS: Readonly<Record<string, JsonSchema>> = {
  schema_version: VERSION,
  record: only('receipt', 'What kind of line this is.'),
  session_id: text('The session of the call.'),
  run_id: textOrNull('The run of the agent.'),
  tool_call_id: text('The id of the call. It joins the receipt with events and spans.'),
  tool_name: text('The tool that was asked for.'),
  iteration: count("Which turn of the agent's loop it was, from 1; 0 where nobody said."),
  turn_index: { type: ['integer', 'null'], minimum: 0, description: 'The same, from 0.' },
  emit_order: count('The position among the calls that the model made at once, from 0.'),
  reason: textOrNull("The model's own words for why, or else the summary."),
  kind: textOrNull('What kind of tool it is.'),
  executor: oneOf([...EXECUTORS, null], 'What runs the tool.'),
  status: text('How the call ended.'),
  error_category: textOrNull('What failed: the status of a refusal, or something finer.'),
  executed: oneOf(['no', 'yes', 'unknown'], 'Whether the tool ran.'),
  blocked_by: textOrNull('The layer that turned the call away.'),
  duration_ms: milliseconds('How long the call took, in milliseconds.'),
  requested_hash: hash('The hash of the arguments as they came in.'),
  approved_hash: hashOrNull('The hash of the arguments as somebody approved them.'),
  executed_hash: hashOrNull('The hash of the arguments that the tool was entered with.'),
  args_hash: hash('The same as `requested_hash`; spans carry it under this name.'),
  result_hash: hashOrNull('The hash of the structured result.'),
  model: textOrNull('The model that made the call.'),
  provider: textOrNull('The provider of the model.'),
  server: text("The host's name for the MCP server of the tool. Absent for tools that have none."),
  rule: text(
    'The rule that let the call pass, held it up or turned it away. Absent where no rule did.',
  ),
  audit: { ...AUDIT_SCHEMA, type: ['object', 'null'] },
  emitted_at: time('When the receipt was made.'),
};

const nothing = (why: string): JsonSchema => ({ type: 'null', description: why });
const YET = 'Not known yet.';

/**
 * Fields that are left out where there is nothing to say. Receipts from before they were added have
 * none of them.
 */
const OPTIONAL = ['server', 'rule'];

const { rule: _rule, ...KNOWN_BEFORE } = FIELDS;

/** What is not known before the layers inside have seen the call. */
const INTENT: Readonly<Record<string, JsonSchema>> = {
  ...KNOWN_BEFORE,
  record: only('intent', 'What kind of line this is.'),
  reason: nothing(YET),
  status: nothing(YET),
  error_category: nothing(YET),
  executed: only('no', 'The tool has not run yet.'),
  blocked_by: nothing(YET),
  duration_ms: only(0, YET),
  approved_hash: nothing(YET),
  executed_hash: nothing(YET),
  result_hash: nothing(YET),
};

const DIGEST = '^sha256:[0-9a-f]{64}$';
const digest = (description: string): JsonSchema => ({
  type: 'string',
  pattern: DIGEST,
  description,
});

const CHAIN: Readonly<Record<string, JsonSchema>> = {
  seq: count(
    'The number of the receipt in its chain, from 1. A checkpoint has that of the receipt before it.',
  ),
  prev_hash: digest('The hash of the line before; zeros in the first line of a chain.'),
  hash: digest('The SHA-256 of the line\'s own bytes up to `,"hash"`.'),
};

const CHECKPOINT: Readonly<Record<string, JsonSchema>> = {
  schema_version: VERSION,
  record: only('checkpoint', 'What kind of line this is.'),
  chain: text('The file that it belongs to.'),
  segment: { type: 'integer', minimum: 1, description: 'Which of the files of a chain.' },
  count: count('How many receipts there are before it.'),
  head: digest('The hash of the line before.'),
  key_id: {
    type: 'string',
    pattern: '^[0-9a-f]{16}$',
    description: 'The key that it is signed with.',
  },
  time: time('When it was signed.'),
  cut_bytes: count('How many bytes of a torn line were cut off right before.'),
  aside_bytes: count(
    'How many bytes were moved out of the file, because they stood behind its end.',
  ),
  found: count(
    'How many of the receipts right before were found unsigned: the writer that signs here did not write them.',
  ),
  entry: count("In the first line of a chain: which entry of the folder's index names the chain."),
  end: only(true, 'The file ends here. Only another checkpoint may follow in it.'),
  signature: {
    type: 'string',
    pattern: '^[A-Za-z0-9+/]{86}==$',
    description: 'Ed25519, over the bytes of the line before `,"signature"`.',
  },
};

/**
 * A receipt has all of its place in a chain or nothing of it: sinks and events get receipts that
 * have none.
 */
const placed = (fields: Readonly<Record<string, JsonSchema>>, description: string): JsonSchema => ({
  ...closed({ ...fields, ...CHAIN }, description, [...Object.keys(CHAIN), ...OPTIONAL]),
  dependentRequired: {
    seq: ['prev_hash', 'hash'],
    prev_hash: ['seq', 'hash'],
    hash: ['seq', 'prev_hash'],
  },
});

/** A receipt as it rides on an event: never an intent, and with no place in a chain. */
export const BARE_RECEIPT: JsonSchema = closed(
  FIELDS,
  'The receipt of the call, where `auditLog` gives it to listeners.',
  OPTIONAL,
);

/**
 * What a line of a receipt file holds, and what a sink of `auditLog` gets, in JSON Schema 2020-12.
 * It says what a line looks like; whether a file was changed is for `verifyReceipts` to say.
 */
export const RECEIPT_SCHEMA: JsonSchema = snapshotObject({
  $schema: DIALECT,
  $id: 'urn:allium:schema:receipt',
  title: 'allium receipt',
  description: 'A line of a receipt file: a receipt, an intent or a checkpoint.',
  oneOf: [{ $ref: '#/$defs/receipt' }, { $ref: '#/$defs/intent' }, { $ref: '#/$defs/checkpoint' }],
  $defs: {
    receipt: placed(FIELDS, 'What became of one call, by hash and never by value.'),
    intent: placed(INTENT, 'A call that is about to run.'),
    checkpoint: closed(
      { ...CHECKPOINT, ...CHAIN },
      'A signed word on how many receipts there are.',
      ['cut_bytes', 'aside_bytes', 'found', 'entry', 'end'],
    ),
  },
});
