/** How much a text may ask of what reads it closely. */

/**
 * What a step costs, in microseconds of an ordinary machine. A place that is told by three
 * characters to be none of a word; a word that is told by its next characters to lead nowhere, as
 * nearly all are; and one whose next characters are read with an expression.
 */
export const A_STOP = 0.07;
export const A_GLANCE = 0.2;
export const A_WORD = 0.12;
/**
 * Reading a name or a line; weighing the letters of a value; and a finding, with all that becomes
 * of it.
 */
export const A_LOOK = 0.5;
export const A_JUDGEMENT = 2;
export const A_FINDING = 4;

/**
 * As much as a short text may ask for, and what every further character adds: about twice what it
 * takes to read one.
 */
const AT_ONCE = 3_000;
const PER_CHARACTER = 0.025;

/** What is left, and up to where the characters of the whole text were counted. */
export interface Effort {
  left: number;
  at: number;
  /**
   * Where in the whole text the stretch begins that is being read; `-Infinity` for one that was
   * decoded, which earns nothing.
   */
  origin: number;
}

export const startEffort = (): Effort => ({ left: AT_ONCE, at: 0, origin: 0 });

/**
 * Takes the cost of a step at this place; `false` once there is nothing left. No ordinary text is
 * so full of words that lead to secrets that this is spent. What is not used does not add up, and a
 * character that two stretches share is counted once.
 */
export function spend(effort: Effort, at: number, cost: number): boolean {
  const place = effort.origin + at;
  if (place > effort.at) {
    effort.left = Math.min(AT_ONCE, effort.left + (place - effort.at) * PER_CHARACTER);
    effort.at = place;
  }
  effort.left -= cost;
  return effort.left > 0;
}

/** Characters up to here were hidden unread, and earn nothing. */
export function passOver(effort: Effort, to: number): void {
  effort.at = Math.max(effort.at, effort.origin + to);
}
