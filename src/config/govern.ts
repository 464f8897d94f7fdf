/**
 * A dispatcher from the parts of a file, and a warning where its hooks wait for what never comes.
 */

import { join } from 'node:path';
import {
  type CallOptions,
  type GovernedTools,
  type GovernOptions,
  governTools,
  type Turn,
} from '../index.ts';
import { inStateFolder } from '../system/state-folder.ts';
import { fileApprovals, fileGrants } from '../policy/index.ts';
import { isObject } from '../core/json/json.ts';
import type { Parts } from './assemble.ts';

/**
 * Whatever an override names replaces what the file says. Calls belong to the file's session unless
 * they say otherwise. What waits for somebody, and what was decided for always, is in the state
 * folder, where `allium approvals` and `allium grants` find it.
 */
export function govern(parts: Parts, overrides: Partial<GovernOptions>): GovernedTools {
  const { built, tools, dispatch, session, stateDir } = parts;
  const layers = built.map(({ layer }) => layer);
  const options: GovernOptions = {
    tools,
    layers,
    ...dispatch,
    ...keptBy(parts, overrides),
    ...overrides,
  };
  const governed = inStateFolder(stateDir, () => governTools(options));
  const turnOf = (turn: Partial<Turn> = {}): Partial<Turn> => ({ ...session, ...turn });
  const within = <T extends CallOptions>(given?: T): T =>
    ({ ...given, turn: turnOf(given?.turn) }) as T; // `turn` fits every T.
  const ours: GovernedTools = {
    ...governed,
    // A spread would take the tools that there are now.
    get tools() {
      return governed.tools;
    },
    advertise: (advertised) => governed.advertise({ ...advertised, turn: turnOf(advertised.turn) }),
    call: (request, given) => governed.call(request, within(given)),
    batch: (requests, given) => governed.batch(requests, within(given)),
    observe: (request, output, given) => governed.observe(request, output, within(given)),
  };
  return Object.freeze(ours);
}

function keptBy(
  { stateDir, workspace }: Parts,
  { clock }: Partial<GovernOptions>,
): Partial<GovernOptions> {
  const at = (name: string) => ({
    dir: join(stateDir, name),
    ...(clock === undefined ? {} : { clock }),
  });
  return { approvals: fileApprovals(at('approvals')), grants: fileGrants(at('grants')), workspace };
}

/**
 * Warns the process once for each such hook in the folders of the `hooks` layers: hooks that are
 * written in the file itself can be for no other event. A program that fires the event with
 * `fireHooks` turns off the code `ALLIUM_UNFIRED_HOOK`. Folders that cannot be read are for the
 * layer to tell.
 */
export async function warnOfUnfiredHooks(layers: readonly unknown[]): Promise<void> {
  const dirs = layers
    .flatMap((entry) => (isObject(entry) && isObject(entry.hooks) ? [entry.hooks.dir] : []))
    .filter((dir) => typeof dir === 'string');
  if (dirs.length === 0) return;
  const { loadArtifacts } = await import('../artifacts/index.ts');
  const { unfiredText } = await import('../artifacts/validate/lint-hooks.ts');
  const told = new Set<string>();
  for (const dir of dirs) {
    const loaded = await loadArtifacts(dir).catch(() => null);
    await loaded?.close();
    for (const { name, event } of loaded?.hooks ?? []) {
      const text = unfiredText(event);
      if (text !== null) told.add(`hook "${name}" ${text}`);
    }
  }
  for (const text of told)
    process.emitWarning(text, { type: 'AlliumWarning', code: 'ALLIUM_UNFIRED_HOOK' });
}
