/** Files of one scenario, in a folder of their own. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AlliumError, type JsonValue } from '../../src/index.ts';

/** Files by name, and what they hold in the end. */
export interface TempFiles {
  /**
   * The path of a file that is to be written, by its name; or, as `{ name, … }`, of one that holds
   * these `lines` and, behind them, the `rest` of a line without its end.
   */
  path(argument: unknown): string;
  /** The lines of all files: as JSON, or as text where they are none. The files are removed. */
  take(): Readonly<Record<string, readonly JsonValue[]>>;
}

/** No file is made before the first one is asked for. */
export function tempFiles(): TempFiles {
  const paths = new Map<string, string>();
  let folder: string | null = null;
  return {
    path(argument) {
      const { name, lines, rest = '' } = partsOf(argument);
      folder ??= mkdtempSync(join(tmpdir(), 'allium-scenario-'));
      const path = join(folder, name);
      paths.set(name, path);
      if (lines !== undefined)
        writeFileSync(path, lines.map((line) => `${textOf(line)}\n`).join('') + rest);
      return path;
    },
    take() {
      try {
        return Object.fromEntries([...paths].map(([name, path]) => [name, linesOf(path)]));
      } finally {
        if (folder !== null) rmSync(folder, { recursive: true, force: true });
      }
    },
  };
}

const NAME = /^[a-z][a-z0-9-]{0,40}$/;

interface Parts {
  readonly name: string;
  readonly lines?: readonly JsonValue[];
  readonly rest?: string;
}

function partsOf(argument: unknown): Parts {
  const parts: unknown = typeof argument === 'string' ? { name: argument } : argument;
  if (isParts(parts)) return parts;
  throw new AlliumError(
    'ERR_INVALID_SCENARIO',
    '"$tempFile" must be a name of small letters, digits and "-", or { name, lines, rest }',
  );
}

function isParts(value: unknown): value is Parts {
  if (typeof value !== 'object' || value === null) return false;
  const { name, lines, rest } = value as Readonly<Partial<Record<keyof Parts, unknown>>>; // Any object can be read like this.
  const isNamed = typeof name === 'string' && NAME.test(name);
  return (
    isNamed &&
    (lines === undefined || Array.isArray(lines)) &&
    ['string', 'undefined'].includes(typeof rest)
  );
}

const textOf = (line: JsonValue): string =>
  typeof line === 'string' ? line : JSON.stringify(line);

function linesOf(path: string): readonly JsonValue[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return []; // Nobody has written it.
  }
  return text === '' ? [] : text.replace(/\n$/, '').split('\n').map(valueOf);
}

function valueOf(line: string): JsonValue {
  try {
    return JSON.parse(line) as JsonValue; // It is.
  } catch {
    return line;
  }
}
