/**
 * Reads the surfaces of a call or a result: which texts they hold, and what their shape gives away.
 * Nearly all are clean, which one reading and one look tell.
 */

import type { JsonObject, JsonValue } from '../core/json/json-value.ts';
import { type Family, familyIn, isHidden } from './names.ts';
import type { Rules } from './rules.ts';
import { isPlain, scanText, WINDOW } from './scan.ts';
import { advance, type Cursor, isHit, isList, isLong, type Path, startOf } from './walk.ts';

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
  return isOne
    ? scanText(first, detectors).length === 0
    : canCover && isPlain(texts.join('\n'), detectors);
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

export function surveyTree(value: JsonValue, cursors: readonly Cursor[], survey: Survey): void {
  if (typeof value === 'string') {
    if (value.length >= survey.minText) survey.texts?.push(value);
  } else if (typeof value === 'number') {
    if (survey.texts !== null && isLong(value)) survey.texts.push(String(value));
  } else if (typeof value === 'object' && value !== null) {
    if (!isList(value)) return surveyObject(value, cursors, survey);
    for (let index = 0; index < value.length; index += 1)
      surveyMember(value[index] ?? null, index, cursors, survey);
  }
}

function surveyObject(value: JsonObject, cursors: readonly Cursor[], survey: Survey): void {
  for (const name in value) {
    if (!Object.hasOwn(value, name)) continue;
    const member = value[name] ?? null;
    if (name.length >= survey.minText) survey.texts?.push(name);
    surveyMember(member, name, cursors, survey);
    if (!survey.names || typeof member !== 'string') continue;
    const family = familyIn(value, name);
    if (family !== null && isHidden(family, member)) survey.onNamed(member, family);
  }
}

function surveyMember(
  member: JsonValue,
  step: string | number,
  cursors: readonly Cursor[],
  survey: Survey,
): void {
  if (cursors.length === 0) return surveyTree(member, cursors, survey);
  const below = advance(cursors, step);
  if (isHit(below)) survey.onPath(member);
  else surveyTree(member, below, survey);
}
