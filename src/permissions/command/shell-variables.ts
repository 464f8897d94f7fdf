/**
 * Which variables a line may set without anybody being asked. A list of bad names is never
 * complete, so these are the good ones.
 */

import { words } from '../../system/words.ts';

/** They change how output looks, and nothing that is loaded or started. */
const HARMLESS = new Set(
  words(`
    LANG LANGUAGE TZ NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE CI COLUMNS LINES NODE_ENV
    SOURCE_DATE_EPOCH
  `),
);
const LOCALE = /^LC_[A-Z]+$/;

/** Lower-case names that some shell or program reads for itself. */
const READ_BY_OTHERS = new Set(
  words(`
    path fpath cdpath manpath mailpath module_path fignore psvar argv status prompt histchars
    signals aliases galiases saliases functions commands builtins options parameters modules
    nameddirs userdirs watch
  `),
);
const PLAIN = /^[a-z][a-z0-9_]*$/;
const PREFIXES_READ_BY_OTHERS = /_proxy$|^npm_|^npm$|^yarn_|^pnpm_/;

/**
 * Whether a program may be given the variable in its environment: `NAME=value program`, `env
 * NAME=value program`.
 */
export const isHarmlessForPrograms = (name: string): boolean =>
  HARMLESS.has(name) || LOCALE.test(name);

/**
 * Whether a shell may set the variable for itself: `name=value`, `for name in …`. It reaches a
 * program only where it was exported before, so plain lower-case names are fine too.
 */
export const isHarmlessForShells = (name: string): boolean =>
  isHarmlessForPrograms(name) ||
  (PLAIN.test(name) && !READ_BY_OTHERS.has(name) && !PREFIXES_READ_BY_OTHERS.test(name));
