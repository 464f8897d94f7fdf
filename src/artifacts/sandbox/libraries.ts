/** Modules without any effect, by the name a script knows them by. Runs in the worker. */

import { namespace, type Value } from '../starlark/index.ts';
import { libraries } from '../starlark/library/index.ts';
import type { ScriptLibrary } from './script-request.ts';

/** `time` has nothing of its own: what it tells comes from the host, which adds to this. */
export const libraryOf = (name: ScriptLibrary): Value => libraries.get(name) ?? namespace(name, {});
