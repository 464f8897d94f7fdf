/** The options of `replay`. */

import { expected, option, type OptionTable } from '../../src/layer.ts';
import type { RecordedCall } from '../../src/recording/index.ts';

export interface ReplayOptions {
  /** A file that `record` has written. It is read when the layer is made. */
  readonly file: string;
  /** Whether all calls have to come as recorded, or those of one tool. @default 'strict' */
  readonly mode?: 'strict' | 'ordered';
  /** What becomes of a call that has no answer. @default 'refuse' */
  readonly onMissing?: 'refuse' | 'pass';
  /** What `close()` does about answers that no call asked for. @default 'ignore' */
  readonly onUnused?: 'ignore' | 'throw' | ((unused: readonly RecordedCall[]) => void);
}

const { either, oneOf, required, string } = expected;

// A tool that runs in between is not what was recorded: `replay` refuses "pass" in mode "strict".
const ON_MISSING = {
  ...oneOf('refuse', 'pass'),
  text: '"refuse", or "pass" with mode "ordered"',
};

// biome-ignore format: one row for each option
export const OPTIONS: OptionTable<ReplayOptions> = {
  file: option(required(string), 'the recording; it is read when the layer is made'),
  mode: option(oneOf('strict', 'ordered'), "`'strict'` or `'ordered'`", "`'strict'`"),
  onMissing: option(ON_MISSING, "what becomes of a call that has no answer: `'refuse'`, or `'pass'` to let the tool run, which needs mode `'ordered'`", "`'refuse'`"),
  onUnused: option(either('"ignore", "throw" or a function', oneOf('ignore', 'throw'), expected.function), "what `close()` does about answers nobody asked for: `'ignore'`, `'throw'` (`ERR_UNUSED_ANSWERS`), or a function that gets them", "`'ignore'`"),
};
