/**
 * The audit record: what the layers say about a call. It exists once per call and grows from the
 * inside out. Every text in it is cleaned before a sink sees it; what cannot be cleaned is
 * withheld.
 */

import type { AuditPatch, AuditRecord, LayerEntry } from '../contract/audit-record.ts';
import type { Pass } from './pass.ts';
import type { Scrub } from '../contract/layer.ts';
import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { type ToolAnnotations, hintsOf } from '../contract/annotations.ts';
import { AlliumError } from '../contract/errors.ts';
import { statusRow } from '../contract/status.ts';
import { openCopy, isObject, snapshotObject } from '../json/json.ts';
import { stateOf } from './own-call.ts';
import type { ToolCall } from '../contract/call.ts';

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

/** Few: records have a dozen members at most, and every layer writes one or two of them. */
function mayWrite(state: Pass, key: string, depth: number): boolean {
  for (let writer = state.writers; writer !== null; writer = writer.before) {
    if (writer.key !== key) continue;
    if (writer.depth < depth) return false;
    writer.depth = depth;
    return true;
  }
  state.writers = { key, depth, before: state.writers };
  return true;
}

export const WITHHELD = '[withheld: a scrub failed]';

/** Runs one text through every cleaner. */
export function scrubText(text: string, scrubs: readonly Scrub[]): string {
  let clean = text;
  for (const scrub of scrubs) {
    try {
      clean = scrub(clean);
    } catch {
      return WITHHELD;
    }
    if (typeof clean !== 'string') return WITHHELD;
  }
  return clean;
}

/**
 * Runs every string of a JSON-like value through every cleaner, member names included. Answers the
 * same value where all are clean.
 */
export function scrub<T>(value: T, scrubs: readonly Scrub[]): T {
  if (scrubs.length === 0) return value;
  return scrubbed(value, scrubs) as T;
}

/** The same for an object of which some members keep their names. */
export function scrubMembers<T extends object>(
  value: T,
  scrubs: readonly Scrub[],
  fixed: ReadonlySet<string> = NONE,
): T {
  // Any object can be read by its own names.
  const items = value as Readonly<Record<string, unknown>>;
  // Made with the first member that is not clean. Looked at once: cleaning again what was found
  // unclean would double with every level.
  let members: [string, unknown][] | null = null;
  let before = 0;
  for (const name in items) {
    if (!Object.hasOwn(items, name)) continue;
    const cleanName = fixed.has(name) ? name : scrubText(name, scrubs);
    const clean = scrubbed(items[name], scrubs);
    if (members === null && (cleanName !== name || clean !== items[name]))
      members = Object.entries(items).slice(0, before);
    members?.push([cleanName, clean]);
    before += 1;
  }
  // The members a type names keep their names.
  return members === null ? value : (Object.fromEntries(members) as T);
}

const NONE: ReadonlySet<string> = new Set();

function scrubbed(value: unknown, scrubs: readonly Scrub[]): unknown {
  if (typeof value === 'string') return scrubText(value, scrubs);
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? scrubbedList(value, scrubs) : scrubMembers(value, scrubs);
}

function scrubbedList(list: readonly unknown[], scrubs: readonly Scrub[]): readonly unknown[] {
  let cleaned: unknown[] | null = null;
  for (let index = 0; index < list.length; index += 1) {
    const item = list[index];
    const clean = scrubbed(item, scrubs);
    if (cleaned === null && clean !== item) cleaned = list.slice(0, index);
    cleaned?.push(clean);
  }
  return cleaned ?? list;
}

/**
 * A copy of a value with every string, member names included, run through each `scrub` of the stack
 * the call is in. For layers that send parts of a call elsewhere. It knows text only: a redactor
 * that masks by path has to have done so before.
 */
export const scrubFor = <T>(call: ToolCall, value: T): T => scrub(value, stateOf(call).scrubs);
