/** A dispatcher from the parts of a file. */

import { type CallOptions, type GovernedTools, type GovernOptions, governTools, type Turn } from '../index.ts';
import { inStateFolder } from '../core/state-folder.ts';
import type { Parts } from './assemble.ts';

/** Whatever an override names replaces what the file says. Calls belong to the file's session unless they say otherwise. */
export function govern({ built, tools, dispatch, session, stateDir }: Parts, overrides: Partial<GovernOptions>): GovernedTools {
  const options: GovernOptions = { tools, layers: built.map(({ layer }) => layer), ...dispatch, ...overrides };
  const governed = inStateFolder(stateDir, () => governTools(options));
  const turnOf = (turn: Partial<Turn> = {}): Partial<Turn> => ({ ...session, ...turn });
  const within = <T extends CallOptions>(given?: T): T => ({ ...given, turn: turnOf(given?.turn) }) as T; // `turn` fits every T.
  const ours: GovernedTools = {
    ...governed,
    advertise: (advertised) => governed.advertise({ ...advertised, turn: turnOf(advertised.turn) }),
    call: (request, given) => governed.call(request, within(given)),
    batch: (requests, given) => governed.batch(requests, within(given)),
    observe: (request, output, given) => governed.observe(request, output, within(given)),
  };
  return Object.freeze(ours);
}
