/** Somebody's own subject, from a module. */

import { existsSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import * as conformance from '../../conformance/index.ts';
import { loadModule } from '../config/load-module.ts';
import { AlliumError } from '../index.ts';

type Subject = conformance.Subject;

/** The default export of a module: a subject, or what `createSubject` takes. TypeScript is fine. */
export async function loadSubject(path: string, cwd: string): Promise<Subject> {
  // `stack.ts` is the file that is there, and not a package of that name.
  const module = !isAbsolute(path) && existsSync(resolve(cwd, path)) ? `./${path}` : path;
  const { default: found } = await loadModule(module, cwd, { 'allium/conformance': conformance });
  if (typeof found === 'object' && found !== null) {
    // It has what a subject is used for.
    if ('open' in found && typeof found.open === 'function') return found as Subject;
    if ('name' in found && typeof found.name === 'string')
      // Looked at when it is used.
      return conformance.createSubject(found as conformance.SubjectOptions);
  }
  throw new AlliumError(
    'ERR_SUBJECT',
    `${path}: the default export must be a subject, or { name, factories?, govern? }`,
  );
}
