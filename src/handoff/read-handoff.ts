/**
 * Makes a handoff record of a payload that a tool sent, or says which fields keep it from being
 * one.
 */

import { canonicalJson } from '../core/json/canonical.ts';
import type { JsonObject } from '../core/json/json-value.ts';
import { fromWire } from '../core/wire/wire.ts';
import {
  type CapabilityPolicy,
  checkPolicy,
  intersectPolicies,
} from '../policy/capability-policy.ts';
import {
  type EvidenceRef,
  HANDOFF_LIMITS,
  type HandoffRecord,
  type ReceiptLink,
} from './handoff-record.ts';
import {
  amount,
  field,
  isObject,
  isSmall,
  lineUpTo,
  listIn,
  objectOf,
  type Read,
  share,
  smallJson,
  type Source,
  textUpTo,
  unlessEmpty,
  valueOf,
} from './read-fields.ts';

/** What is known without the payload. */
export interface HandoffContext {
  readonly id: string;
  readonly createdAt: string;
  readonly source: string | undefined;
  readonly runId: string | undefined;
  /** What the call is under; an override is cut down to it. */
  readonly policy: CapabilityPolicy;
}

/** Field names in camelCase. None of them comes from the payload. */
export type HandoffReading =
  | {
      readonly record: HandoffRecord;
      readonly leftOut: readonly string[];
      readonly tightened: boolean;
    }
  | { readonly invalid: readonly string[] };

const name = lineUpTo(HANDOFF_LIMITS.name);
/** The name of a persona on one line: `null` for a blank one, `undefined` for one that is none. */
export const personaName: Read<string> = name;
const entry = lineUpTo(HANDOFF_LIMITS.entry);
const text = textUpTo(HANDOFF_LIMITS.text);

/** Takes both spellings. Members it does not know have no effect. */
export function readHandoff(payload: unknown, context: HandoffContext): HandoffReading {
  const members = inOneSpelling(payload);
  if (members === null) return { invalid: ['handoff'] };
  const source: Source = { members, path: '', leftOut: new Set() };
  const required = {
    sourcePersona: personaIn(source, context.source),
    targetPersonaOrHuman: valueOf(
      source,
      'targetPersonaOrHuman',
      objectOf(source, 'targetPersonaOrHuman', targetIn),
    ),
    task: valueOf(source, 'task', text),
    reason: valueOf(source, 'reason', text),
  };
  const { sourcePersona, targetPersonaOrHuman, task, reason } = required;
  if (
    sourcePersona === undefined ||
    targetPersonaOrHuman === undefined ||
    task === undefined ||
    reason === undefined
  )
    return {
      invalid: Object.entries(required).flatMap(([field, value]) =>
        value === undefined ? [field] : [],
      ),
    };
  const override = overrideIn(source, context.policy);
  const record: HandoffRecord = {
    _type: 'handoff_artifact',
    id: context.id,
    ...(context.runId === undefined
      ? field(source, 'parentRunId', name)
      : { parentRunId: context.runId }),
    ...field(source, 'kind', name),
    sourcePersona,
    targetPersonaOrHuman,
    task,
    reason,
    ...detailsIn(source),
    ...(override === null ? {} : { policyOverride: override.policy }),
    createdAt: context.createdAt,
    metadata: valueOf(source, 'metadata', smallJson) ?? {},
  };
  return { record, leftOut: [...source.leftOut].sort(), tightened: override?.tightened ?? false };
}

/**
 * The payload in camelCase; `null` where it is no JSON object, or says one thing twice in two
 * spellings.
 */
function inOneSpelling(payload: unknown): JsonObject | null {
  try {
    // Under this name the wire format knows that what is in its `metadata` keeps its names.
    const { handoff } = fromWire({ handoff: payload });
    return isObject(handoff) ? handoff : null;
  } catch {
    return null;
  }
}

/**
 * A name that is there but cannot be used is not replaced: another persona would seem to have
 * handed over.
 */
function personaIn(source: Source, otherwise: string | undefined): string | undefined {
  const persona = valueOf(source, 'sourcePersona', name);
  return persona ?? (source.leftOut.has('sourcePersona') ? undefined : otherwise);
}

function targetIn(source: Source): HandoffRecord['targetPersonaOrHuman'] | null {
  const who = unlessEmpty({ ...field(source, 'id', name), ...field(source, 'label', name) });
  const kind = valueOf(source, 'kind', name) === 'human' ? 'human' : 'persona';
  return who === null ? null : { kind, ...who };
}

type Details = Omit<
  HandoffRecord,
  | '_type'
  | 'id'
  | 'sourcePersona'
  | 'targetPersonaOrHuman'
  | 'task'
  | 'reason'
  | 'createdAt'
  | 'metadata'
>;

const detailsIn = (source: Source): Details => ({
  evidenceRefs: listIn(source, 'evidenceRefs', objectOf(source, 'evidenceRefs', evidenceIn)),
  filesOrEntitiesTouched: listIn(source, 'filesOrEntitiesTouched', entry),
  openQuestions: listIn(source, 'openQuestions', entry),
  blockedOn: listIn(source, 'blockedOn', entry),
  requestedCapabilities: listIn(source, 'requestedCapabilities', entry),
  allowedSideEffects: listIn(source, 'allowedSideEffects', entry),
  ...field(source, 'budgetRemaining', objectOf(source, 'budgetRemaining', budgetIn)),
  ...field(source, 'deadlineCheckback', objectOf(source, 'deadlineCheckback', deadlineIn)),
  ...field(source, 'confidence', share),
  receiptLinks: listIn(source, 'receiptLinks', objectOf(source, 'receiptLinks', receiptIn)),
});

const evidenceIn = (source: Source): EvidenceRef | null =>
  unlessEmpty({
    ...field(source, 'artifactId', name),
    ...field(source, 'kind', name),
    ...field(source, 'label', name),
    ...field(source, 'path', entry),
    ...field(source, 'uri', entry),
  });

function receiptIn(source: Source): ReceiptLink | null {
  const link = unlessEmpty({
    ...field(source, 'label', name),
    ...field(source, 'runId', name),
    ...field(source, 'artifactId', name),
    ...field(source, 'path', entry),
    ...field(source, 'href', entry),
  });
  return link === null ? null : { kind: valueOf(source, 'kind', name) ?? 'run_receipt', ...link };
}

const budgetIn = (source: Source): NonNullable<HandoffRecord['budgetRemaining']> | null =>
  unlessEmpty({
    ...field(source, 'tokens', amount),
    ...field(source, 'toolCalls', amount),
    ...field(source, 'dollars', amount),
  });

const deadlineIn = (source: Source): NonNullable<HandoffRecord['deadlineCheckback']> | null =>
  unlessEmpty({ ...field(source, 'deadline', name), ...field(source, 'checkbackAt', name) });

/**
 * A policy that came with a result is a wish of the tool: it can take away, never
 * add.
 */
function overrideIn(
  source: Source,
  ambient: CapabilityPolicy,
): { readonly policy: CapabilityPolicy; readonly tightened: boolean } | null {
  const wanted = valueOf(source, 'policyOverride', policy);
  if (wanted === undefined) return null;
  const narrowed = intersectPolicies(ambient, wanted);
  return {
    policy: narrowed,
    tightened: canonicalJson(narrowed) !== canonicalJson(intersectPolicies(wanted, wanted)),
  };
}

const policy: Read<CapabilityPolicy> = (value) => {
  if (!isObject(value) || !isSmall(value)) return undefined;
  try {
    const wanted: unknown = value;
    checkPolicy('policyOverride', wanted);
    return wanted;
  } catch {
    return undefined;
  }
};
