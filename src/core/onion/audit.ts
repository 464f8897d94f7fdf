/**
 * The audit record: what the layers say about a call. It exists once per call and grows from the
 * inside out.
 */

import type { AuditPatch, AuditRecord, LayerEntry } from '../contract/audit-record.ts';
import type { Pass } from './pass.ts';
import type { Scrub } from '../contract/layer.ts';
import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { type ToolAnnotations, hintsOf } from '../contract/annotations.ts';
import { AlliumError } from '../contract/errors.ts';
import { statusRow } from '../contract/status.ts';
import { openCopy, isObject, snapshotObject } from '../json/json.ts';
import { scrubMembers, scrubText } from './scrub.ts';

/**
 * The record as the framework writes it; a call whose layers have had nothing to say has none yet.
 */
function recordOf(state: Pass): Writable {
  state.audit ??= openAudit(state.annotations);
  return state.audit as Writable;
}

type Writable = { -readonly [K in keyof AuditRecord]: AuditRecord[K] } & { layers: LayerEntry[] };

/** Opens the record of a call, filled with what the tool says about itself. */
export function openAudit(annotations: ToolAnnotations): AuditRecord {
  return annotations.kind === undefined
    ? { hints: hintsOf(annotations), layers: [] }
    : { kind: annotations.kind, hints: hintsOf(annotations), layers: [] };
}

/**
 * Shallow merge with one exception: `layers` grows. A key written by an outer layer is not
 * overwritten from inside.
 */
export function mergeAudit(state: Pass, patch: AuditPatch, depth: number): void {
  const record = recordOf(state);
  if (isTexts(patch)) {
    for (const name in patch) {
      const text: unknown = patch[name];
      if (typeof text === 'string' && mayWrite(state, name, depth))
        record[name] = scrubText(text, state.scrubs);
    }
    return;
  }
  const clean = cleanPatch(state, patch);
  for (const key in clean) {
    const value = clean[key] ?? null;
    // Assigning `__proto__` would change what the record is instead of what it says.
    if (key === '__proto__') continue;
    if (key === 'layers') record.layers.push(...linesIn(value));
    else if (mayWrite(state, key, depth)) record[key] = value;
  }
}

/**
 * Whether a patch has nothing but texts under names that stay as they are, which need no copy. Most
 * patches are such, or empty.
 */
function isTexts(patch: AuditPatch): boolean {
  for (const name in patch) {
    if (!FIXED_MEMBERS.has(name) || name === 'layers' || typeof patch[name] !== 'string')
      return false;
  }
  return Object.getPrototypeOf(patch) === Object.prototype;
}

/**
 * Adds a finished line, with what its layer said on it. Lines are scrubbed on the way in, so that
 * no reader can come too early; one that only says the name of a layer, a status of the table and
 * two times holds nothing to clean. They are not frozen one by one: that alone would cost a fifth
 * of what a layer costs.
 */
export function pushEntry(state: Pass, entry: LayerEntry, said: Partial<LayerEntry> | null): void {
  const { scrubs } = state;
  const isClean = said === null && (scrubs.length === 0 || statusRow(entry.status) !== undefined);
  recordOf(state).layers.push(isClean ? entry : cleanEntry(entry, said, scrubs));
}

/** The two times are the framework's own. */
function cleanEntry(
  { name, status, startedAt, endedAt }: LayerEntry,
  said: Partial<LayerEntry> | null,
  scrubs: readonly Scrub[],
): LayerEntry {
  if (said === null)
    return { name: scrubText(name, scrubs), status: scrubText(status, scrubs), startedAt, endedAt };
  const line: Record<string, JsonValue | undefined> = {};
  const details = cleanMembers(said, scrubs);
  // One by one: to spread what is frozen, and add to it, costs more than all the rest of a line.
  for (const key in details) if (key !== '__proto__') line[key] = details[key];
  line.name = scrubText(name, scrubs);
  line.status = details.status ?? scrubText(status, scrubs);
  line.startedAt = startedAt;
  line.endedAt = endedAt;
  return line as LayerEntry; // All four are there, and every other member is a detail.
}

/**
 * Takes in the cleaners of a stack that joins a call under way; what was written before them is
 * cleaned too.
 */
export function joinScrubs(state: Pass, scrubs: readonly Scrub[]): void {
  const added = scrubs.filter((cleaner) => !state.scrubs.includes(cleaner));
  if (added.length === 0) return;
  state.scrubs = [...state.scrubs, ...added];
  const record = state.audit as Writable | undefined;
  if (record === undefined) return;
  const { layers, ...rest } = record;
  for (const key of Object.keys(rest)) Reflect.deleteProperty(record, key);
  Object.assign(record, cleanMembers(rest, added));
  layers.splice(0, layers.length, ...layers.map((line) => cleanMembers(line, added)));
}

/** After this nothing is added: the record is what the host keeps. */
export function closeAudit(state: Pass): void {
  if (state.audit === undefined || Object.isFrozen(state.audit)) return;
  Object.freeze(state.audit.layers);
  Object.freeze(state.audit);
}

/** A record that belongs to no call under way: the same merge on plain values. */
export function mergeRecords(record: AuditRecord | undefined, patch: AuditPatch): AuditRecord {
  const clean = snapshotObject(patch) as AuditPatch;
  const layers = Object.freeze([...(record?.layers ?? []), ...linesIn(clean.layers ?? [])]);
  return Object.freeze({ ...record, ...clean, layers });
}

const cleanPatch = (state: Pass, patch: AuditPatch): JsonObject => {
  const copied = openCopy(patch);
  return state.scrubs.length === 0 ? copied : cleanMembers(copied, state.scrubs);
};

/**
 * Members everybody looks for. A cleaner may empty them, but not rename them: the record must stay
 * readable.
 */
const FIXED_MEMBERS: ReadonlySet<string> = new Set([
  ...['name', 'status', 'startedAt', 'endedAt', 'error'],
  ...[
    'summary',
    'reason',
    'reasonMissing',
    'description',
    'kind',
    'hints',
    'consent',
    'scope',
    'layers',
    'handoff',
    'rewrites',
  ],
  ...['receiptUri', 'metadata'],
]);

const cleanMembers = <T extends object>(value: T, scrubs: readonly Scrub[]): T =>
  scrubMembers(value, scrubs, FIXED_MEMBERS);

function linesIn(value: unknown): readonly LayerEntry[] {
  // A layer writes what it likes about its own steps; objects are all that is asked.
  if (Array.isArray(value) && value.every(isObject))
    return value as unknown as readonly LayerEntry[];
  throw new AlliumError('ERR_INVALID_OPTION', 'annotate: "layers" must be a list of lines', {
    option: 'layers',
    expected: 'a list of lines',
  });
}

function mayWrite(state: Pass, key: string, depth: number): boolean {
  state.writers ??= new Map();
  const writer = state.writers.get(key);
  if (writer !== undefined && writer < depth) return false;
  state.writers.set(key, depth);
  return true;
}
