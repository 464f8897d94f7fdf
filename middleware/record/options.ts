/** The options of `record`. */

import { expected, option, type OptionTable } from '../../src/layer.ts';
import { isPlace } from '../../src/recording/index.ts';

export interface RecordOptions {
  /** Where the lines go. It is made with mode 0600 if it is not there; its folder has to be. */
  readonly file: string;
  /** Whether calls are refused while nothing can be written. @default 'block' */
  readonly onError?: 'block' | 'warn';
}

const { oneOf, required, string } = expected;

const PLACE = { ...string, text: 'a path in a folder that is there', test: isPlace };

// biome-ignore format: one row for each option
export const OPTIONS: OptionTable<RecordOptions> = {
  file: option(required(PLACE), 'where the lines go; made with mode 0600 if it is not there, and closed to others if it is; a link, a pipe, a device, another user’s file and one that others can change are refused; its folder has to be there'),
  onError: option(oneOf('block', 'warn'), "`'block'` refuses calls while nothing can be written, and writes what is missing before the next one runs; `'warn'` goes on, counts and loses", "`'block'`"),
};
