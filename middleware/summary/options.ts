/** The options of `summary`. */

import { expected, option, type OptionTable } from '../../src/layer.ts';

const { required } = expected;

// biome-ignore format: one row for each option
export const OPTIONS: OptionTable<{ format: unknown }> = {
  format: option(required(expected.function), 'a function of call and result that gives the line; nothing, or a blank, leaves the record as it is'),
};
