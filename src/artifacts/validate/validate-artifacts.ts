/**
 * `validateArtifacts`: everything that is wrong with the files of a project, and everything that
 * could be better.
 */

import { checkOptions, expected } from '../../core/contract/options.ts';
import type { ArtifactProblem, HookArtifact, ToolArtifact } from '../artifact.ts';
import { type Collected, collectArtifacts } from '../load/collect-artifacts.ts';
import { checkScripts } from './check-scripts.ts';
import { lintHook } from './lint-hooks.ts';
import { lintTool } from './lint-tools.ts';

export interface ValidateOptions {
  /** Takes files of the format's ancestor, as `loadArtifacts` does. @default false */
  readonly lenient?: boolean;
  /** Names of tools without a script that a host binds. @default none */
  readonly handlers?: readonly string[];
}

export interface Validation {
  /** File by file, in the order of each. */
  readonly problems: readonly ArtifactProblem[];
  readonly tools: readonly ToolArtifact[];
  readonly hooks: readonly HookArtifact[];
  /** How many files were read. */
  readonly files: number;
}

/** Reads a project without running anything of it. Throws only where there is no such folder. */
export async function validateArtifacts(
  dir: string,
  options: ValidateOptions = {},
): Promise<Validation> {
  checkOptions(
    'validateArtifacts',
    { dir, ...options },
    {
      dir: expected.required(expected.string),
      lenient: expected.boolean,
      handlers: expected.listOf(expected.string),
    },
  );
  const { lenient = false, handlers = [] } = options;
  const collected = await collectArtifacts(dir, lenient);
  const { tools, hooks, files } = collected;
  const lints = [
    ...tools.flatMap((tool) => lintTool(tool, handlers.includes(tool.name))),
    ...hooks.flatMap(lintHook),
  ];
  return {
    problems: inOrder(collected, [...errorsOf(collected), ...lints]),
    tools,
    hooks,
    files: files.length,
  };
}

/** What the files themselves and their scripts have wrong. */
export const errorsOf = ({ problems, tools, hooks }: Collected): readonly ArtifactProblem[] => [
  ...problems,
  ...checkScripts(tools, hooks),
];

/** As the files were read; folders and files that were not come first. */
export function inOrder(
  { files }: Collected,
  problems: readonly ArtifactProblem[],
): readonly ArtifactProblem[] {
  const places = new Map(files.map((file, index) => [file, index]));
  return [...problems].sort(
    (a, b) =>
      (places.get(a.file) ?? -1) - (places.get(b.file) ?? -1) ||
      a.line - b.line ||
      a.column - b.column,
  );
}
