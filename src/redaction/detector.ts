/**
 * What finds something to hide in a text, what it says about it, and how much effort it may take.
 */

/**
 * The kinds of findings; each can have its own strategy. Where two overlap, the one named first
 * decides.
 */
export const GROUPS = [
  'paths',
  'redactor',
  'patterns',
  'secrets',
  'secrets-deep',
  'card',
  'phone',
  'email',
] as const;
export type Group = (typeof GROUPS)[number];

/** Something to hide. */
export interface Finding {
  /** What its marker says: `jwt`, `email`, `path`. */
  readonly label: string;
  readonly group: Group;
  /**
   * What was found, decoded: the same value counts as the same in every encoding. Never leaves the
   * layer.
   */
  readonly value: string;
}

/** Where in a text it stands. */
export interface Span extends Finding {
  readonly start: number;
  readonly end: number;
}

/** The group is that of the detector unless another is given. */
export type Emit = (start: number, end: number, label: string, group?: Group) => void;

/**
 * The places of all signs in a text that `disguises.ts` knows, in order; `null` where not all of
 * them are known.
 */
export type SignPlaces = ArrayLike<number> | null;

/** What a detector that reads every character saw on its way, for those behind it. */
export interface Sight {
  /** Where signs stood that may begin an escape. */
  readonly signs: SignPlaces;
  /** Where words stood, in order, that say that a key follows. */
  readonly hints: readonly number[];
}

export interface Detector {
  readonly group: Group;
  /**
   * Must take time in proportion to the text, whatever stands in it. `effort` is what is left for
   * it.
   */
  readonly find: (text: string, emit: Emit, effort: Effort) => Sight | undefined;
}

/** Findings on their way out. */
export interface Findings {
  readonly tell: Emit;
  /** Tells of the last one. */
  readonly end: () => void;
}

/**
 * Findings in their order. What two that overlap hide is told once; once the effort is spent, all
 * that lies between them is hidden too.
 */
export function joinedFindings(effort: Effort, emit: Emit): Findings {
  let open: {
    readonly start: number;
    end: number;
    readonly label: string;
    readonly group: Group | undefined;
  } | null = null;
  const end = () => {
    if (open !== null) emit(open.start, open.end, open.label, open.group);
    open = null;
  };
  return {
    tell(start, to, label, group) {
      const isSpent = !spend(effort, start, A_FINDING);
      if (open !== null && (isSpent || start < open.end)) {
        open.end = Math.max(open.end, to);
        return;
      }
      end();
      open = { start, end: to, label, group };
    },
    end,
  };
}

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
