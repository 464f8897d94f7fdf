/**
 * What a kept approval looks like: as JSON Schema, for programs that show or answer approvals
 * without this package, and as the check of what comes from a file or a store.
 */

import type { JsonSchema } from '../../core/contract/call.ts';
import { APPROVAL_ANSWERS } from '../question.ts';
import { AlliumError } from '../../core/contract/errors.ts';
import type { JsonValue } from '../../core/json/json-value.ts';
import { snapshot, snapshotObject } from '../../core/json/json.ts';
import {
  closed,
  count,
  DIALECT,
  oneOf,
  only,
  open,
  text,
  time,
} from '../../core/wire/wire-schema.ts';
import { validateJson } from '../../tools/schema/validator.ts';
import { isForAlways, isYes } from '../read-answer.ts';
import { type Approval, APPROVAL_ROUTES } from './approval.ts';

const word = (description: string): JsonSchema => ({ ...text(description), minLength: 1 });
const orNull = (schema: JsonSchema, description: string): JsonSchema => ({
  anyOf: [schema, { type: 'null' }],
  description,
});
const object = (description: string): JsonSchema => ({ type: 'object', description });

const ANSWER = {
  decidedBy: word('Who decided.'),
  decidedAt: time('When.'),
  reason: text('Why.'),
  args: object('Other arguments to run with.'),
  supplied: closed(
    { value: { description: 'Any JSON value.' } },
    "What the call comes to, in the tool's place: it does not run.",
  ),
  anyArguments: {
    const: true,
    description: 'The answer for always holds for the tool whatever the arguments.',
  },
} as const;

/**
 * A result in the place of a call that is rejected, or beside other arguments, makes no sense; nor
 * do open arguments for one call.
 */
const SUPPLIED_ALONE: JsonSchema = {
  dependentSchemas: {
    supplied: {
      type: 'object',
      properties: { args: false, decision: { enum: APPROVAL_ANSWERS.filter(isYes) } },
    },
    anyArguments: {
      type: 'object',
      properties: {
        args: false,
        supplied: false,
        decision: { enum: APPROVAL_ANSWERS.filter(isForAlways) },
      },
    },
  },
};

const OPTIONAL = ['reason', 'args', 'supplied', 'anyArguments'];

const REPLY: JsonSchema = {
  ...closed(
    { decision: oneOf(APPROVAL_ANSWERS, 'What was decided.'), ...ANSWER },
    "Somebody's answer.",
    OPTIONAL,
  ),
  ...SUPPLIED_ALONE,
};

const ASKED = {
  gate: word('Who asked.'),
  fingerprint: word('Stands for exactly the call that was shown.'),
  definition: word("The hash of the tool's definition."),
  policy: text('The hash of the rules that made the gate ask; empty where there are none.'),
} as const;

const EARLIER_ANSWER = closed(
  {
    id: word('The approval of that question.'),
    ...ASKED,
    decision: oneOf(
      [...APPROVAL_ANSWERS, 'expired'],
      'What was decided; `expired` where nobody answered in time.',
    ),
    ...ANSWER,
    requestedAt: time('When it was asked.'),
    receiptUri: word('Where the pass that ended with the question is recorded.'),
  },
  'The answer to another question about the same call.',
  [...OPTIONAL, 'receiptUri'],
);
const EARLIER: JsonSchema = { ...EARLIER_ANSWER, ...SUPPLIED_ALONE };

const TURN: JsonSchema = {
  ...open(
    {
      iteration: { type: 'number', description: "Which turn of the agent's loop it was." },
      sessionId: word('The session of the call.'),
    },
    'Where in the work of the agent the call belongs.',
  ),
  required: ['iteration', 'sessionId'],
};

const OWNER = object('The process: its number, when it started, and on which machine.');

const FIELDS: Readonly<Record<string, JsonSchema>> = {
  id: word('What the approval is answered under.'),
  revision: count('Grows by one with every change.'),
  kind: oneOf(
    ['approval_required', 'auth_required'],
    'What is asked for: a decision, or that somebody signs in.',
  ),
  toolName: word('The tool that was asked for.'),
  callId: word('The id of the call. It joins the approval with receipts, events and spans.'),
  turn: TURN,
  arguments: orNull(
    { type: 'object' },
    'The request as it came in; null once the call was taken up.',
  ),
  ...ASKED,
  shown: orNull({ type: 'object' }, 'What a person is shown; null once the call was taken up.'),
  options: {
    type: 'array',
    items: { enum: [...APPROVAL_ANSWERS] },
    description: 'What may be answered.',
  },
  requestedAt: time('When it was asked.'),
  expiresAt: orNull(
    time('Until when.'),
    'Until when it can be answered and taken up; null where it waits for ever.',
  ),
  earlier: {
    type: 'array',
    items: EARLIER,
    description: 'Answers to other questions about the same call.',
  },
  trace: orNull(word('A W3C `traceparent`.'), 'The span of the pass that ended with the question.'),
  receiptUri: orNull(word('A URI.'), 'Where that pass is recorded.'),
  reply: orNull(REPLY, 'The answer, once there is one.'),
  taken: orNull(
    closed({ at: time('When.'), owner: OWNER }, 'Who, and when.'),
    'The process that took the call up.',
  ),
  ended: orNull(
    closed(
      {
        at: time('When.'),
        status: word('How the call ended.'),
        executed: word('Whether the tool ran.'),
      },
      'How, and when.',
    ),
    'What came of the call after it was taken up.',
  ),
  route: oneOf(
    APPROVAL_ROUTES,
    'Who takes the call up: a client that makes it again, or the command line. Absent: the program that made it.',
  ),
  code: closed(
    {
      hash: word('The keyed hash of the code.'),
      tries: count('How often a code was compared with it.'),
    },
    'What is kept of a code that a person was told; gone once somebody has answered.',
  ),
};

/**
 * A call keeps its arguments until it is taken up, and not longer; only one that was taken up has
 * ended.
 */
const COMPLETE: JsonSchema = {
  if: { type: 'object', properties: { taken: { type: 'null' } }, required: ['taken'] },
  then: {
    type: 'object',
    properties: {
      arguments: { type: 'object' },
      shown: { type: 'object' },
      ended: { type: 'null' },
    },
  },
  else: { type: 'object', properties: { arguments: { type: 'null' }, shown: { type: 'null' } } },
  // A code that outlives the answer could answer again.
  dependentSchemas: {
    code: { type: 'object', properties: { reply: { type: 'null' }, taken: { type: 'null' } } },
  },
};

const schemaOf = (fields: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
  ...closed(fields, 'A call that waits for a decision, what was decided, and what came of it.', [
    'route',
    'code',
  ]),
  ...COMPLETE,
});

/**
 * What a file of `fileApprovals` holds, in JSON Schema 2020-12. It says what one looks like; only
 * `answerApproval` and the command line answer one safely, because two may want to at the same
 * time.
 */
export const APPROVAL_SCHEMA: JsonSchema = snapshotObject({
  $schema: DIALECT,
  $id: 'urn:allium:schema:approval',
  title: 'allium approval',
  ...schemaOf({ version: only(1, 'The version of this format.'), ...FIELDS }),
});

const KEPT: JsonSchema = snapshotObject(schemaOf(FIELDS));

/**
 * Whether JSON is an approval, to the last field: what a file holds may have been written by
 * any program, or by half. An unknown field may be a misspelt `args`: the call would run with the
 * arguments that the person meant to change.
 */
export const isApproval = (value: unknown): value is Approval =>
  // JSON, as its callers say; `validateJson` throws for no value.
  validateJson(KEPT, value as JsonValue).length === 0 && timesIn(value as Approval).every(isTime);

const timesIn = ({ requestedAt, expiresAt, earlier, reply, taken, ended }: Approval) =>
  [
    requestedAt,
    expiresAt,
    ...[reply, ...earlier].map((answer) => answer?.decidedAt),
    ...earlier.map((answer) => answer.requestedAt),
    taken?.at,
    ended?.at,
  ].filter((time) => time !== null && time !== undefined);

/** A day that the calendar lacks can be read as another one, and compared as neither. */
function isTime(value: string): boolean {
  const ms = Date.parse(value);
  return Number.isFinite(ms) && new Date(ms).toISOString() === value;
}

/** A frozen copy of what was given: a store takes only what it could read again. */
export function checkedApproval(owner: string, approval: unknown): Approval {
  const copy: unknown = snapshot(approval);
  if (isApproval(copy)) return copy;
  throw new AlliumError('ERR_INVALID_OPTION', `${owner}: what was given is no approval`, {
    layer: owner,
    option: 'approval',
  });
}

/** What `add` throws for an approval whose id another one has. */
export const idTaken = (owner: string): AlliumError =>
  new AlliumError('ERR_INVALID_OPTION', `${owner}: there is an approval of that id`, {
    layer: owner,
    option: 'id',
  });
