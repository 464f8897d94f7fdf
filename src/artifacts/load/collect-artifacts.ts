/** Everything that the files of a project say, and everything that is wrong with them. */

import { basename, dirname } from 'node:path';
import { AlliumError, isAlliumError, oneLine } from '../../core/contract/errors.ts';
import { type Jail, jail } from '../../jail/jail.ts';
import type { ArtifactProblem, HookArtifact, ToolArtifact } from '../artifact.ts';
import { problemLine } from '../artifact.ts';
import { findFiles, type ReportFile } from './find-files.ts';
import { type FileContents, readArtifactFile } from './read-file.ts';
import { isPermitted, type ToolsPolicy } from './read-bundle.ts';
import { quoted } from './scope.ts';

/** The tools and hooks that the tools policy permits; problems file by file, in their order. */
export interface Collected extends Omit<FileContents, 'policy'> {
  /** The project root, its links resolved. */
  readonly root: string;
  /** Those that were read, in their order. */
  readonly files: readonly string[];
}

/**
 * Reads a project: all files, and all problems of each. Throws only where there is no such folder.
 */
export async function collectArtifacts(dir: string, lenient: boolean): Promise<Collected> {
  const root = openRoot(dir);
  const problems: ArtifactProblem[] = [];
  const report: ReportFile = (file, message, rule, severity = 'error') =>
    void problems.push({ file, line: 1, column: 1, severity, rule, message });
  const found = await findFiles(root, lenient, report);
  const tools: ToolArtifact[] = [];
  const hooks: HookArtifact[] = [];
  const policies: ToolsPolicy[] = [];
  for (const file of found) {
    const contents = await readArtifactFile(root, file, lenient);
    problems.push(
      ...contents.problems,
      ...repeated('tool', tools, contents.tools),
      ...repeated('hook', hooks, contents.hooks),
    );
    tools.push(...contents.tools);
    hooks.push(...contents.hooks);
    if (contents.policy !== null) policies.push(contents.policy);
  }
  const permitted = tools.filter(({ name }) =>
    policies.every((policy) => isPermitted(policy, name)),
  );
  return {
    root: root.root,
    tools: permitted,
    hooks,
    problems,
    files: found.map(({ path }) => path),
  };
}

/** A folder that is called like one of a project's own stands for the project. */
function openRoot(dir: string): Jail {
  const isHome = ['.allium', '.harness'].includes(basename(dir));
  try {
    return jail(isHome ? dirname(dir) : dir);
  } catch (thrown) {
    if (!isAlliumError(thrown, 'ERR_JAIL') || thrown.details.reason !== 'root') throw thrown;
    throw new AlliumError('ERR_INVALID_ARTIFACT', `${oneLine(dir)}: there is no such folder`, {
      path: dir,
      reason: 'no_folder',
    });
  }
}

/**
 * Names are taken once, whatever kind of file has them: which of two would count is nothing that
 * anybody should have to know.
 */
function repeated(
  kind: 'tool' | 'hook',
  before: readonly { name: string; file: string; line: number }[],
  now: readonly (ToolArtifact | HookArtifact)[],
): readonly ArtifactProblem[] {
  return now.flatMap(({ name, file, line, column }, index) => {
    const first = [...before, ...now.slice(0, index)].find((other) => other.name === name);
    if (first === undefined) return [];
    const message = `${kind} ${quoted(name)} is defined more than once; first in ${first.file}:${first.line}`;
    return [{ file, line, column, severity: 'error', rule: 'duplicate', message } as const];
  });
}

/** One error for all of them, a line each. */
export function invalidArtifacts(problems: readonly ArtifactProblem[], path: string): AlliumError {
  const errors = problems.filter(({ severity }) => severity === 'error');
  return new AlliumError('ERR_INVALID_ARTIFACT', errors.map(problemLine).join('\n'), {
    path,
    reason: 'invalid',
    problems: errors,
  });
}
