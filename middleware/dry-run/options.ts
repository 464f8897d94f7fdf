/** The options of `dryRun`. */

import { expected, option, type OptionTable } from '../../src/layer.ts';

export interface DryRunOptions {
  /** Names or globs of the tools to preview. An empty list previews none. @default every tool */
  readonly only?: readonly string[];
  /** Names or globs of the tools to run all the same. @default none */
  readonly except?: readonly string[];
  /** How the preview begins. @default '(dry run)' */
  readonly message?: string;
}

const { listOf, string } = expected;

// biome-ignore format: one row for each option
export const OPTIONS: OptionTable<DryRunOptions> = {
  only: option(listOf(string), 'names or globs (`*`) of the tools to preview; an empty list previews none', 'every tool'),
  except: option(listOf(string), 'names or globs of the tools to run all the same', 'none'),
  message: option(string, 'how the preview begins', '`(dry run)`'),
};
