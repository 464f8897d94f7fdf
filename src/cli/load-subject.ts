/** Somebody's own subject, from a module. */

import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createSubject, type Subject, type SubjectOptions } from '../../conformance/index.ts';
import { AlliumError } from '../index.ts';
import { UsageError } from './io.ts';

/** The default export of a module: a subject, or what `createSubject` takes. TypeScript is fine. */
export async function loadSubject(path: string, cwd: string): Promise<Subject> {
  const file = resolve(cwd, path);
  const found = await defaultOf(file, path);
  if (typeof found === 'object' && found !== null) {
    if ('open' in found && typeof found.open === 'function') return found as Subject; // It has what a subject is used for.
    if ('name' in found && typeof found.name === 'string') return createSubject(found as SubjectOptions); // Looked at when it is used.
  }
  throw new AlliumError('ERR_SUBJECT', `${path}: the default export must be a subject, or { name, factories?, govern? }`);
}

async function defaultOf(file: string, path: string): Promise<unknown> {
  const { createJiti } = await import('jiti');
  try {
    return await createJiti(pathToFileURL(file).href).import(file, { default: true });
  } catch (error) {
    throw new UsageError(`${path}: cannot be loaded: ${error instanceof Error ? (error.message.split('\n')[0] ?? '') : 'it threw'}`);
  }
}
