/**
 * What a Markdown file says, once it has been read: tools and hooks that are not bound to anything
 * yet.
 */

import type { ToolAnnotations } from '../core/contract/annotations.ts';
import type { JsonSchema } from '../core/contract/call.ts';
import type { FileProblem } from '../core/contract/errors.ts';

/**
 * Where something stands; lines and columns are counted from 1, columns in UTF-16 units as editors
 * do.
 */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/**
 * A script and where its first line stands in the Markdown file, so that a traceback can point into
 * that file.
 */
export interface ScriptText {
  readonly source: string;
  readonly file: string;
  readonly firstLine: number;
  /**
   * Every line of a script stands this far in: block texts are indented alike, other scripts have
   * one line.
   */
  readonly firstColumn: number;
}

/** One parameter, in the order of the file. */
export interface Parameter {
  readonly name: string;
  readonly required: boolean;
  /** Its own part of the input schema. */
  readonly schema: JsonSchema;
}

/**
 * What a file asks of the host's built-ins for its script. Absent means nothing, and never
 * everything.
 */
export interface FileGrants {
  /** A folder below the project root, `/` between its parts. */
  readonly workspace?: string;
  /** Names that `http` reaches, each with all below it; `*` for every public one. */
  readonly allowedDomains?: readonly string[];
  /** @default [80, 443] */
  readonly allowedPorts?: readonly number[];
  /** Names of variables: `env.get` reads them, and programs get them. */
  readonly env?: readonly string[];
  /** Whether `exec.run` without `args` takes a line for a shell. @default false */
  readonly shell?: boolean;
  /** Whether scripts may register tools and hooks. @default false */
  readonly meta?: boolean;
  /** Of each stream of a program, of an answer over HTTP, and of a file. @default 1048576 */
  readonly maxOutputBytes?: number;
}

interface Placed extends Position {
  readonly name: string;
  /** Relative to the project root, `/` between its parts. */
  readonly file: string;
}

export interface ToolArtifact extends Placed {
  readonly kind: 'tool';
  /** What the model reads: the body of the file, or else the name. */
  readonly description: string;
  /** The body as it stands, trimmed. Code in it is text and never runs. */
  readonly body: string;
  readonly parameters: readonly Parameter[];
  readonly inputSchema: JsonSchema;
  readonly script?: ScriptText;
  /** Absent: no limit of its own. */
  readonly timeoutMs?: number;
  readonly async: boolean;
  /** `pass` lets arguments through that are not declared, as old files expect. */
  readonly extra: 'refuse' | 'pass';
  readonly annotations: ToolAnnotations;
  readonly grants: FileGrants;
}

export interface HookArtifact extends Placed {
  readonly kind: 'hook';
  readonly event: string;
  /** Lower comes first. */
  readonly priority: number;
  /** An expression over `event` and `payload`. */
  readonly when?: ScriptText;
  readonly script: ScriptText;
  readonly grants: FileGrants;
}

/**
 * Something about a file that somebody should change. Errors stop a project from loading, warnings
 * do not.
 */
export type ArtifactProblem = FileProblem;

/** `file:line:col: message`. */
export const problemLine = ({ file, line, column, message }: ArtifactProblem): string =>
  `${file}:${line}:${column}: ${message}`;
