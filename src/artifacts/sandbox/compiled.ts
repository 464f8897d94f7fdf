/** Programs that were compiled before. Runs in the worker. */

import { LRUCache } from 'lru-cache';
import { compileStarlark, type Program } from '../starlark/index.ts';
import type { Job } from './protocol.ts';

const programs = new LRUCache<string, Program>({
  max: 256,
  maxSize: 8 * 1024 * 1024,
  sizeCalculation: (_program, key) => key.length,
});
const keys = new WeakMap<Program, string>();

/** A program holds nothing of a run: every run makes its own module of it. */
export function compiled(job: Job, predeclared: readonly string[]): Program {
  const { source, file, firstLine, firstColumn, entry } = job;
  const mode = entry !== null && 'expression' in entry ? 'expression' : 'module';
  const key = JSON.stringify([mode, file, firstLine, firstColumn, predeclared, source]);
  const known = programs.get(key);
  if (known !== undefined) return known;
  const program = compileStarlark(source, { file, firstLine, firstColumn, predeclared, mode });
  programs.set(key, program);
  keys.set(program, key);
  return program;
}

export function forgetProgram(program: Program): void {
  const key = keys.get(program);
  if (key !== undefined) programs.delete(key);
}
