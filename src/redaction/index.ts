/**
 * What hides secrets and personal data: the table of families, the scan, the walk over JSON, and
 * the markers.
 */

export { ABORTED } from './ask-redactor.ts';
export type { RedactionAnswer, RedactionInput, Redactor } from './ask-redactor.ts';
export { cleanCall } from './clean-call.ts';
export type { CleanedCall, Incoming } from './clean-call.ts';
export { cleanResult, withoutHandoff } from './clean-result.ts';
export type { CleanedResult } from './clean-result.ts';
export type { Group as RedactionGroup } from './detector.ts';
export { FAMILIES, LABELS } from './families/index.ts';
export type { TokenFamily } from './tokens.ts';
export { STRATEGIES } from './markers.ts';
export type { Strategy as RedactionStrategy } from './markers.ts';
export { parsePath } from './paths.ts';
export type { Path as RedactionPath } from './paths.ts';
export { isPattern } from './patterns.ts';
export type { RedactionPattern } from './patterns.ts';
export { compileRules, DETECTORS } from './rules.ts';
export type {
  DetectorName as RedactionDetector,
  RuleOptions,
  Rules as RedactionRules,
} from './rules.ts';
export { finish, textCleaner } from './scan.ts';
export type { Work } from './scan.ts';
