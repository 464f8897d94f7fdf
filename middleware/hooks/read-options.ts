/** Checks the options of hooks when they are made. */

import { checkOptions, expected, type Expectation } from '../../src/index.ts';
import { checkHooks } from './hook.ts';
import { EFFECTS, type HookSource, hookSource } from './hook-source.ts';
import type { HooksOptions } from './hooks.ts';
import type { ScriptPool } from '../../src/artifacts/index.ts';

const EXPECTED: Readonly<Record<keyof HooksOptions, Expectation>> = {
  hooks: { text: 'a list of hooks', test: Array.isArray },
  dir: expected.string,
  pool: {
    text: 'a pool with run and close',
    test: (value) =>
      expected.object.test(value) && typeof (value as Partial<ScriptPool>).run === 'function',
  },
  grants: expected.object,
  effects: expected.listOf(expected.oneOf(...EFFECTS)),
  deadlineMs: expected.integer(1),
};

const ONE_OF_TWO = expected.required({ text: 'given, or dir in its place', test: Array.isArray });

/** Throws for options that cannot be meant. */
export function sourceOf(owner: string, options: HooksOptions): HookSource {
  checkOptions(owner, options, EXPECTED);
  // A layer that was made to guard and was given nothing to guard with is a mistake.
  if (options.dir === undefined) checkOptions(owner, options, { ...EXPECTED, hooks: ONE_OF_TWO });
  const {
    hooks = [],
    dir = null,
    pool = null,
    grants = {},
    effects = [],
    deadlineMs = 5_000,
  } = options;
  checkHooks(hooks);
  return hookSource({
    hooks: Object.freeze([...hooks]),
    dir,
    pool,
    grants,
    effects: Object.freeze([...effects]),
    deadlineMs,
  });
}
