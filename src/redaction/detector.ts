/** What finds something to hide in a text, and what it says about it. */

import { A_FINDING, type Effort, spend } from './reading.ts';

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
