/** Built-ins as a script would call them, without a script. */

import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { HostError, type HostFunction } from '../sandbox/host-function.ts';
import type { ProposedRequest } from '../../permissions/permission.ts';
import type { BuiltinGrants, BuiltinRecord, BuiltinUse } from './builtin-use.ts';
import { builtinsFor } from './builtins-for.ts';
import { createScriptCaches } from './script-cache.ts';

/** What the built-ins of one call did and asked. */
export interface UsedBuiltins {
  readonly asked: ProposedRequest[];
  readonly recorded: BuiltinRecord[];
  readonly logged: string[];
  readonly controller: AbortController;
  /** Calls `fs.read` and the like. */
  readonly call: (
    path: string,
    args?: readonly JsonValue[],
    kwargs?: JsonObject,
  ) => Promise<JsonValue>;
}

export function useBuiltins(
  grants: BuiltinGrants,
  change: Partial<BuiltinUse> & { readonly denies?: string } = {},
): UsedBuiltins {
  const [asked, recorded, logged]: [ProposedRequest[], BuiltinRecord[], string[]] = [[], [], []];
  const controller = new AbortController();
  const { denies, ...rest } = change;
  const tree = builtinsFor(grants, {
    signal: controller.signal,
    ask: async (request) => {
      asked.push(request);
      if (denies !== undefined && request.kind.startsWith(denies))
        throw new HostError('not permitted');
    },
    record: (use) => void recorded.push(use),
    log: (level, text) => void logged.push(`${level}: ${text}`),
    cache: createScriptCaches().for('tool'),
    ...rest,
  });
  return {
    asked,
    recorded,
    logged,
    controller,
    async call(path, args = [], kwargs = {}) {
      const [name = '', member] = path.split('.');
      const found = (tree as Record<string, unknown>)[name];
      // A path that names a function of the tree.
      const called = (
        member === undefined ? found : (found as Record<string, unknown>)[member]
      ) as HostFunction;
      return called(args, kwargs, { signal: new AbortController().signal });
    },
  };
}
