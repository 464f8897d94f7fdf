/** The options of `hooks`. */

import { expected, option, optionsSchema, type OptionTable } from '../../src/layer.ts';
import type { BuiltinGrants, HookEffect, ScriptPool } from '../../src/artifacts/index.ts';
import { HOOKED_EFFECTS, type HookDefinition } from '../../src/hooks/index.ts';

export interface HooksOptions {
  /** The hooks, as `loadArtifacts` gives them or written out. @default those of `dir` */
  readonly hooks?: readonly HookDefinition[];
  /** A project whose hook files are loaded with the first call. @default none */
  readonly dir?: string;
  /** Where the scripts run. One that is given is not closed. @default a pool of its own */
  readonly pool?: ScriptPool;
  /** The most that the built-ins of the scripts may reach. @default what each file asks for */
  readonly grants?: BuiltinGrants;
  /** Built-ins that hooks get only where they are named. @default none */
  readonly effects?: readonly HookEffect[];
  /** How long one script may take, in milliseconds. @default 5000 */
  readonly deadlineMs?: number;
}

const { integer, listOf, made, object, oneOf, required, string } = expected;

const NUMBER = {
  text: 'a number',
  test: Number.isFinite,
  schema: { type: 'number', title: 'a number' },
};

/** A hook as a file of the stack has it: as in files of its own, without what says where it is. */
const HOOKS = {
  text: 'a list of hooks',
  test: Array.isArray,
  schema: listOf({
    ...object,
    schema: optionsSchema({
      name: option(required(string), 'what it is called in records'),
      event: option(required(oneOf('tool.pre', 'tool.post')), '`tool.pre` or `tool.post`'),
      priority: option(NUMBER, 'lower ones are asked first', '0'),
      when: option(
        string,
        'an expression over `event` and `payload`; where it is not true, the hook is not asked',
        'always',
      ),
      script: option(required(string), 'defines `handle(event, payload)`'),
    }),
  }).schema,
};

// biome-ignore format: one row for each option
export const OPTIONS: OptionTable<HooksOptions> = {
  hooks: option(HOOKS, 'the hooks, as `loadArtifacts` gives them or written out', 'those of `dir`'),
  dir: option(string, 'a project whose hook files are loaded with the first call', 'none'),
  pool: option(made('a pool with run and close', 'run'), 'where the scripts run; one that is given is not closed', 'a pool of its own, made with the first script'),
  grants: option(object, 'what the built-ins of the scripts may reach at most', 'what each file asks for'),
  effects: option(listOf(oneOf(...HOOKED_EFFECTS)), 'built-ins that act and that hooks get only where they are named: `exec.run`, `fs.write`', 'none'),
  deadlineMs: option(integer(1), 'how long one script may take, in milliseconds', '5000'),
};
