/**
 * Programs that run others when they are told to by an option, a subcommand or a script. What a row names is asked, also where the
 * program is allowed. The list cannot be complete: a program that is not in it is as dangerous as its options make it.
 */

import type { ProgramRow } from './program-row.ts';
import { PROGRAMS_FOR_DEVELOPMENT } from './programs-for-development.ts';
import { PROGRAMS_FOR_FILES } from './programs-for-files.ts';
import { PROGRAMS_FOR_SYSTEMS } from './programs-for-systems.ts';
import { PROGRAMS_FOR_TEXT } from './programs-for-text.ts';
import { PROGRAMS_THAT_ALWAYS_RUN } from './programs-that-always-run.ts';

/** Every row. A program may have several. */
export const PROGRAMS_THAT_RUN: readonly ProgramRow[] = Object.freeze([
  ...PROGRAMS_FOR_FILES,
  ...PROGRAMS_FOR_TEXT,
  ...PROGRAMS_FOR_DEVELOPMENT,
  ...PROGRAMS_FOR_SYSTEMS,
  ...PROGRAMS_THAT_ALWAYS_RUN,
]);
