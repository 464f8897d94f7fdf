/**
 * Whether a value is an approval, to the last field: what a file holds may have been written by
 * anybody, or by half.
 */

import { APPROVAL_ANSWERS } from '../../core/contract/approval.ts';
import { AlliumError } from '../../core/contract/errors.ts';
import { isObject, snapshot } from '../../core/json/json.ts';
import { type Approval, APPROVAL_ROUTES } from './approval.ts';
import { isCount, isText } from '../../system/record-fields.ts';
import { isForAlways, isYes } from '../read-answer.ts';

const FIELDS =
  'id revision kind toolName callId turn arguments gate fingerprint definition policy shown options requestedAt expiresAt earlier trace receiptUri reply taken ended'.split(
    ' ',
  );
const OPTIONAL_FIELDS = ['route', 'code'];
const DECISIONS: readonly unknown[] = [...APPROVAL_ANSWERS, 'expired'];

/** Whether a value is an approval; every member is looked at. */
export function isApproval(value: unknown): value is Approval {
  if (!isObject(value) || !FIELDS.every((field) => Object.hasOwn(value, field))) return false;
  if (
    !Object.keys(value).every((field) => FIELDS.includes(field) || OPTIONAL_FIELDS.includes(field))
  )
    return false;
  const texts = [
    value.id,
    value.toolName,
    value.callId,
    value.gate,
    value.fingerprint,
    value.definition,
  ].every(isText);
  const kinds = value.kind === 'approval_required' || value.kind === 'auth_required';
  const notes =
    [value.trace, value.receiptUri].every((note) => note === null || isText(note)) &&
    typeof value.policy === 'string';
  const isWhole = texts && kinds && notes && isCount(value.revision);
  return isWhole && hasCall(value) && hasTimes(value) && hasAnswers(value) && hasRoute(value);
}

/** A code that is still there after an answer could answer a second time. */
function hasRoute({ route, code, reply, taken }: Record<string, unknown>): boolean {
  if (route !== undefined && !(APPROVAL_ROUTES as readonly unknown[]).includes(route)) return false;
  if (code === undefined) return true;
  const isPending = reply === null && taken === null;
  return (
    isPending &&
    isObject(code) &&
    Object.keys(code).length === 2 &&
    isText(code.hash) &&
    isCount(code.tries)
  );
}

/**
 * Only as it is written here: a time that can be written in two ways can also be compared in two.
 */
function isTime(value: unknown): value is string {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isFinite(ms) && new Date(ms).toISOString() === value;
}

/** Only a resumed call is without its arguments: otherwise half a file would run with none. */
function hasCall({
  turn,
  arguments: args,
  shown,
  options,
  taken,
}: Record<string, unknown>): boolean {
  if (!isObject(turn) || !isText(turn.sessionId) || typeof turn.iteration !== 'number')
    return false;
  const isComplete =
    taken === null ? isObject(args) && isObject(shown) : args === null && shown === null;
  return (
    isComplete &&
    Array.isArray(options) &&
    options.every((option) => (APPROVAL_ANSWERS as readonly unknown[]).includes(option))
  );
}

function hasTimes({ requestedAt, expiresAt, taken, ended }: Record<string, unknown>): boolean {
  if (!isTime(requestedAt) || !(expiresAt === null || isTime(expiresAt))) return false;
  if (taken !== null && !(isObject(taken) && isTime(taken.at) && isObject(taken.owner)))
    return false;
  return (
    ended === null ||
    (isObject(ended) &&
      taken !== null &&
      isTime(ended.at) &&
      isText(ended.status) &&
      isText(ended.executed))
  );
}

const REPLY_FIELDS = [
  'decision',
  'decidedBy',
  'decidedAt',
  'reason',
  'args',
  'supplied',
  'anyArguments',
];
const EARLIER_FIELDS = [
  ...REPLY_FIELDS,
  'id',
  'gate',
  'fingerprint',
  'definition',
  'policy',
  'requestedAt',
  'receiptUri',
];

/**
 * An unknown field may be a misspelt `args`: the call would run with the arguments that the person
 * meant to change.
 */
function isAnswer(
  value: unknown,
  fields: readonly string[],
  decisions: readonly unknown[],
): value is Record<string, unknown> {
  if (!isObject(value) || Object.keys(value).some((field) => !fields.includes(field))) return false;
  const { decision, decidedBy, decidedAt, reason, args, supplied, anyArguments } = value;
  if (!decisions.includes(decision) || !isText(decidedBy) || !isTime(decidedAt)) return false;
  if (
    !(reason === undefined || typeof reason === 'string') ||
    !(args === undefined || isObject(args))
  )
    return false;
  if (
    anyArguments !== undefined &&
    !(anyArguments === true && isForAlways(String(decision)) && args === undefined)
  )
    return false;
  if (supplied === undefined) return true;
  return (
    isObject(supplied) &&
    Object.hasOwn(supplied, 'value') &&
    args === undefined &&
    anyArguments === undefined &&
    isYes(String(decision))
  );
}

const isEarlier = (value: unknown): boolean =>
  isAnswer(value, EARLIER_FIELDS, DECISIONS) &&
  [value.id, value.gate, value.fingerprint, value.definition].every(isText) &&
  typeof value.policy === 'string' &&
  (value.receiptUri === undefined || isText(value.receiptUri)) &&
  isTime(value.requestedAt);

function hasAnswers({ earlier, reply }: Record<string, unknown>): boolean {
  return (
    Array.isArray(earlier) &&
    earlier.every(isEarlier) &&
    (reply === null || isAnswer(reply, REPLY_FIELDS, APPROVAL_ANSWERS))
  );
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
