/**
 * The engine of regular expressions whose time grows with the text and no faster. It is large, and
 * loaded with the first expression.
 */

import { createRequire } from 'node:module';
import type * as re2js from 're2js';

let loaded: typeof re2js | undefined;

/** Loads the engine with the first expression, because it is large. */
export function linearEngine(): typeof re2js.RE2JS {
  // The package's own types for its CommonJS build.
  loaded ??= createRequire(import.meta.url)('re2js') as typeof re2js;
  return loaded.RE2JS;
}
