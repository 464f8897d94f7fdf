/** The options of `handoffArtifact`. */

import { expected, option, type OptionTable } from '../../src/layer.ts';
import {
  type DetectHandoff,
  HANDOFF_LIMITS,
  type HandoffSink,
  personaName,
} from '../../src/handoff/index.ts';

export interface HandoffArtifactOptions {
  /** Is told of every valid handoff, cleaned; the call does not wait for it. @default none */
  readonly sink?: HandoffSink;
  /** Looks for the handoff before the keys do. @default none */
  readonly detect?: DetectHandoff;
  /** Further members of a result to look under, after `__handoff` and `handoff`. @default none */
  readonly keys?: readonly string[];
  /** Who hands over where a handoff does not say so. @default none: the field is required */
  readonly source?: string;
  /** Raises for a handoff that is not valid, instead of noting it. @default false */
  readonly strict?: boolean;
}

const { boolean, listOf, string } = expected;

const PERSONA = {
  ...string,
  text: `a name of 1 to ${HANDOFF_LIMITS.name} characters`,
  test: (value: unknown) => typeof value === 'string' && typeof personaName(value) === 'string',
};

// biome-ignore format: one row for each option
export const OPTIONS: OptionTable<HandoffArtifactOptions> = {
  sink: option(expected.function, 'is told of every valid handoff, as `sink(record, call)`; the call does not wait for it', 'none'),
  detect: option(expected.function, 'looks for the handoff before the keys do, as `detect(call, result)`; nothing, a promise or a failure leaves it to the keys', 'none'),
  keys: option(listOf(string), 'further members of a result to look under', 'none'),
  source: option(PERSONA, 'who hands over where a handoff does not say so', 'the field is required'),
  strict: option(boolean, 'raises for a handoff that is not valid, instead of noting it', '`false`'),
};
