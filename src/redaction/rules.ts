/** Options made into what a call is cleaned with. */

import { DEEP_LABEL } from './deep-secrets.ts';
import type { Detector, Group } from './detector.ts';
import { createMarkers, type Strategy } from './markers.ts';
import { type Path, parsePath } from './paths.ts';
import {
  cardDetector,
  emailDetector,
  labelOf,
  PATTERN_LABEL,
  patternDetector,
  phoneDetector,
  type RedactionPattern,
} from './patterns.ts';
import { LABELS as SECRET_LABELS } from './families/index.ts';
import type { TextRules } from './scan.ts';
import { secretDetector } from './secrets.ts';

export const DETECTORS = ['secrets', 'secrets-deep', 'email', 'phone', 'card'] as const;
export type DetectorName = (typeof DETECTORS)[number];

export interface Rules extends TextRules {
  /** Names of members tell what their values are. */
  readonly names: boolean;
  readonly deep: boolean;
  /** The length of the shortest text in which something can be found. */
  readonly minText: number;
  /**
   * A value holds nothing that the same value written out does not show. Patterns can be tied to
   * the ends of a text.
   */
  readonly canCover: boolean;
  readonly paths: readonly Path[];
}

export interface RuleOptions {
  readonly detectors: readonly DetectorName[];
  readonly strategies: Readonly<Partial<Record<Group, Strategy>>>;
  readonly paths: readonly string[];
  readonly patterns: readonly RedactionPattern[];
  readonly key?: string;
}

const LABELS = [
  ...SECRET_LABELS,
  ...['email', 'phone', 'card', 'path', 'custom', DEEP_LABEL, PATTERN_LABEL],
];

/** As short as a value that is hidden wherever it stands. A pattern may find less. */
const MIN_TEXT = 4;

/** Throws for patterns that do not compile; everything else was checked before. */
export function compileRules({ detectors, strategies, paths, patterns, key }: RuleOptions): Rules {
  const has = (name: DetectorName) => detectors.includes(name);
  const hasSecrets = has('secrets') || has('secrets-deep');
  // Who asks for the deep rules alone means their strategy for all secrets.
  const deep = strategies['secrets-deep'];
  const shared = has('secrets') || deep === undefined ? {} : { secrets: deep };
  const own: readonly (Detector | false)[] = [
    hasSecrets && secretDetector,
    has('email') && emailDetector,
    has('phone') && phoneDetector,
    has('card') && cardDetector,
    patterns.length > 0 && patternDetector(patterns),
  ];
  return Object.freeze({
    detectors: own.filter((detector) => detector !== false),
    names: hasSecrets,
    deep: has('secrets-deep'),
    minText: patterns.length === 0 ? MIN_TEXT : 1,
    canCover: patterns.length === 0 && !has('secrets-deep'),
    paths: paths.flatMap((text) => [parsePath(text) ?? []]),
    markers: createMarkers(
      [...LABELS, ...patterns.map(labelOf)],
      { ...shared, ...strategies },
      key,
    ),
    plain: new Set<string>(),
  });
}
