/**
 * Ask scripts about a call. What is naive: they are asked in the order they were given in, one that
 * fails or says nothing has nothing against it, what they write goes on unseen, after the tool they
 * are only told, and they find all that the host has.
 */

import { createScriptPool } from '../../../src/artifacts/index.ts';
import {
  defineLayer,
  type JsonObject,
  type JsonValue,
  refuse,
  type ToolLayer,
  withCall,
} from '../../../src/layer.ts';
import { createSubject } from '../../scenarios/create-subject.ts';

interface Options {
  readonly hooks?: readonly {
    readonly name: string;
    readonly event: string;
    readonly when?: string;
    readonly script: string;
  }[];
}

const say = (action: string, member: string) => async (args: readonly JsonValue[]) => ({
  action,
  [member]: args[0] ?? null,
});
const everything = {
  allow: say('allow', 'reason'),
  block: say('block', 'reason'),
  modify: say('modify', 'payload'),
  env: { get: async () => 'anything' },
  exec: { run: async () => ({ exit_code: 0 }) },
};

const textOf = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');

export function naiveHooks({ hooks = [] }: Options): ToolLayer {
  const pool = createScriptPool();
  const ask = async (
    hook: NonNullable<Options['hooks']>[number],
    payload: JsonObject,
  ): Promise<JsonObject> => {
    const place = {
      file: hook.name,
      source: hook.script,
      deadlineMs: 200,
      predeclared: everything,
    };
    try {
      const names = { event: hook.event, payload };
      if (
        hook.when !== undefined &&
        (await pool.run({ ...place, entry: { expression: hook.when, names } })).value !== true
      )
        return {};
      return (await pool.run({ ...place, entry: { call: 'handle', args: [hook.event, payload] } }))
        .value as JsonObject; // Whatever it is.
    } catch {
      return {};
    }
  };
  return defineLayer({
    name: 'hooks',
    rewrites: true,
    async caller(call, next) {
      let args = call.toolArgs;
      for (const hook of hooks.filter(({ event }) => event === 'tool.pre')) {
        const said = (await ask(hook, { name: call.toolName, args })) ?? {};
        if (said.action === 'block')
          return refuse(
            call,
            'policy_blocked',
            `blocked by hook "${hook.name}": ${textOf(said.reason)}`,
          );
        if (said.action === 'modify') args = (said.payload as { readonly args: JsonObject }).args;
      }
      const result = await next(withCall(call, { toolArgs: args }));
      for (const hook of hooks.filter(({ event }) => event === 'tool.post'))
        await ask(hook, { name: call.toolName });
      return result;
    },
    close: () => pool.close(),
  });
}

export default createSubject({ name: 'naive hooks', factories: { hooks: naiveHooks } });

export const fails: readonly string[] = [
  'hooks.by-priority',
  'hooks.hooks-that-cannot-be-loaded',
  'hooks.no-verdict-blocks',
  'hooks.nothing-said-blocks',
  'hooks.reaches-nothing-ungranted',
  'hooks.refuses-wrong-options',
  'hooks.replaces-and-withholds',
];
