/**
 * Reads the surfaces of a call or a result: which texts they hold, and what their shape gives away.
 * Nearly all are clean, which one reading and one look tell.
 */

import type { JsonObject, JsonValue } from '../core/json/json-value.ts';
import { type Family, familyIn, isHidden } from './names.ts';
import type { Path, Segment } from './paths.ts';
import type { Rules } from './rules.ts';
import { isPlain, scanText, WINDOW } from './scan.ts';

/** One place of a call or a result at which something could be read. */
export interface Surface {
  readonly value: JsonValue;
  /** Path rules that hold here. */
  readonly paths: readonly Path[];
  /**
   * Every text of it stands on another surface too: it is looked into only if something was found
   * there.
   */
  readonly isCovered?: boolean;
}

/** What is met on the way. */
export interface Survey {
  /** Takes every text, in order, to be looked into; `null` where only the shape counts. */
  texts: string[] | null;
  /** Called for a value that a path rule hides whole. */
  onPath(value: JsonValue): void;
  /** Called for a text whose member's name tells what it is. */
  onNamed(value: string, family: Family): void;
  /** Whether names of members tell anything here. */
  readonly names: boolean;
  /** Texts that are shorter hold nothing that could be found. */
  readonly minText: number;
}

/**
 * Whether there is nothing to hide on these surfaces, as on nearly all; `false` where one look does
 * not tell. Looks at all texts together, a line apart, unless patterns can be tied to their ends.
 */
export function isClean(surfaces: readonly Surface[], rules: Rules): boolean {
  const { detectors, names, minText, canCover, deep } = rules;
  if (deep) return false;
  const texts: string[] = [];
  isTold = false;
  surveyAll(surfaces, texts, { texts, names, minText, onPath: tell, onNamed: tell });
  if (isTold || !isShort(texts)) return false;
  const [first] = texts;
  if (first === undefined) return true;
  // The text of a result stands on several surfaces.
  let isOne = true;
  for (const text of texts) isOne &&= text === first;
  if (isOne) return scanText(first, detectors).length === 0;
  return canCover && isPlain(texts.join('\n'), detectors);
}

/** Whether the walk of `isClean` met what is hidden by its path or its name. */
let isTold = false;
const tell = (): void => void (isTold = true);

/** Whether texts are so short that all can be looked at in one go. */
export function isShort(texts: readonly string[]): boolean {
  let length = 0;
  for (const text of texts) length += text.length;
  return length <= WINDOW;
}

/** Of a surface that is covered, only the shape counts. */
export function surveyAll(surfaces: readonly Surface[], texts: string[], survey: Survey): void {
  for (const { value, paths, isCovered = false } of surfaces) {
    survey.texts = isCovered ? null : texts;
    if (value !== null) surveyTree(value, startOf(paths), survey);
  }
}

/** In a surface, `cursors` are where its paths have come to. */
export function surveyTree(value: JsonValue, cursors: readonly Cursor[], survey: Survey): void {
  if (cursors.length > 0 && isHit(cursors)) {
    survey.onPath(value);
  } else if (typeof value === 'string') {
    if (value.length >= survey.minText) survey.texts?.push(value);
  } else if (typeof value === 'number') {
    if (survey.texts !== null && isLong(value)) survey.texts.push(String(value));
  } else if (typeof value === 'object' && value !== null) {
    if (!isList(value)) return surveyObject(value, cursors, survey);
    for (let index = 0; index < value.length; index += 1)
      surveyTree(value[index] ?? null, advance(cursors, index), survey);
  }
}

function surveyObject(value: JsonObject, cursors: readonly Cursor[], survey: Survey): void {
  for (const name in value) {
    // In a loop over names the compiler knows the answer to this, but not that of `Object.hasOwn`.
    if (!Object.prototype.hasOwnProperty.call(value, name)) continue;
    const member = value[name] ?? null;
    if (name.length >= survey.minText) survey.texts?.push(name);
    surveyTree(member, advance(cursors, name), survey);
    if (!survey.names || typeof member !== 'string') continue;
    const family = familyIn(value, name);
    if (family !== null && isHidden(family, member)) survey.onNamed(member, family);
  }
}

/** Numbers from here on are looked at as text: a card number is one. */
const LONG_NUMBER = 1e6;

export const isLong = (value: number): boolean =>
  value >= LONG_NUMBER && Number.isSafeInteger(value);
export const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value);

/** How far the walk has come along one path. */
export interface Cursor {
  readonly path: Path;
  readonly at: number;
}

export const startOf = (paths: readonly Path[]): readonly Cursor[] =>
  paths.length === 0 ? NO_CURSORS : paths.map((path) => ({ path, at: 0 }));
const NO_CURSORS: readonly Cursor[] = Object.freeze([]);

/** Where the paths stand one member further down. */
export function advance(cursors: readonly Cursor[], step: string | number): readonly Cursor[] {
  if (cursors.length === 0) return cursors;
  const next: Cursor[] = [];
  for (const cursor of cursors) {
    const { path } = cursor;
    // `**` stands for any number of members, also for none, and several in a row for no more than
    // one.
    let here = cursor.at;
    for (; path[here] === '**'; here += 1)
      next.push(here === cursor.at ? cursor : { path, at: here });
    const segment = path[here];
    if (segment !== undefined && fits(segment, step)) next.push({ path, at: here + 1 });
  }
  return next;
}

function fits(segment: Segment, step: string | number): boolean {
  if (typeof segment === 'string') return segment !== '[*]' || typeof step === 'number';
  if ('index' in segment) return segment.index === step;
  return typeof step === 'string' && segment.name === step.toLowerCase();
}

/** Whether a path ends here. */
export const isHit = (cursors: readonly Cursor[]): boolean =>
  cursors.some(
    ({ path, at }) =>
      at > 0 && (at >= path.length || (path[at] === '**' && at === path.length - 1)),
  );
