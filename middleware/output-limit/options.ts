/** The options of `outputLimit`. */

import { expected, option, type OptionTable, type OutputFiles } from '../../src/layer.ts';

export interface OutputLimitOptions {
  /** The most text of a result the model is given, the note included. @default 8192 */
  readonly maxBytes?: number;
  /** Where the whole text is kept. @default fileOutputs() */
  readonly store?: OutputFiles;
  /** The tool the note tells the model to read on with. @default 'read_output' */
  readonly readTool?: string;
}

const { integer, made, string } = expected;

const TOOL_NAME = {
  ...string,
  text: 'a tool name',
  test: (value: unknown) => typeof value === 'string' && /^[\w.-]{1,128}$/.test(value),
};

// biome-ignore format: one row for each option
export const OPTIONS: OptionTable<OutputLimitOptions> = {
  maxBytes: option(integer(512), 'the most text of a result the model is given, the note included; at least 512', '8,192'),
  store: option(made('an object with a write function', 'write'), 'where the whole text is kept: anything with the `write` of `OutputFiles`', '`fileOutputs()`'),
  readTool: option(TOOL_NAME, 'the tool the note tells the model to read on with', '`read_output`'),
};
