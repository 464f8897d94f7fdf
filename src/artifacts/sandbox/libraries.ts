/** Modules without any effect, by the name a script knows them by. Runs in the worker. */

import { namespace, type Value } from '../starlark/index.ts';
import { libraries } from '../starlark/library/index.ts';
import type { ScriptLibrary } from './script-request.ts';

export const libraryOf = (name: ScriptLibrary): Value => libraries.get(name) ?? namespace(name, {});
