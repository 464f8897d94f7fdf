/** `allium schema`: the JSON Schemas of what this package reads and writes. */

import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { closest } from '../core/closest.ts';
import type { JsonSchema } from '../core/call.ts';
import { type CliIo, UsageError, writeLine } from './io.ts';
import type { AddCommand } from './run-cli.ts';
import type { SchemaName } from './schemas.ts';

/** By name, so that help does not load them all. */
const NAMES: readonly SchemaName[] = [
  'receipt',
  'event',
  'span',
  'handoff',
  'approval',
  'scenario',
  'config',
];

interface Options {
  readonly list?: true;
  readonly out?: string;
}

const EXAMPLES = `
Examples:
  allium schema receipt            the schema of a line of a receipt file
  allium schema --list             the names of all schemas
  allium schema --out ./schemas    all of them, as <name>.schema.json
  allium schema event --out .      one of them`;

/** Adds the command. */
export const addSchema: AddCommand = (program, io, run) => {
  program
    .command('schema')
    .description('print or write the JSON Schemas of files and messages')
    .argument('[name]', `which one: ${NAMES.join(', ')}`)
    .option('--list', 'print the names, one a line')
    .option(
      '--out <folder>',
      'write to <folder>/<name>.schema.json instead: the one that is named, or all',
    )
    .addHelpText('after', EXAMPLES)
    .action((name: string | undefined, options: Options) => run(() => schema(name, options, io)));
};

async function schema(
  name: string | undefined,
  { list, out }: Options,
  io: CliIo,
): Promise<number> {
  if (list === true && (name !== undefined || out !== undefined))
    throw new UsageError('--list stands alone');
  const { SCHEMAS } = await import('./schemas.ts');
  if (list === true) await writeLine(io.stdout, NAMES.join('\n'));
  else if (out !== undefined)
    await writeAll(
      resolve(io.cwd, out),
      name === undefined ? [...SCHEMAS] : [[name, schemaOf(name, SCHEMAS)]],
    );
  else if (name === undefined) throw new UsageError(`which schema? One of: ${NAMES.join(', ')}`);
  else await writeLine(io.stdout, textOf(schemaOf(name, SCHEMAS)));
  return 0;
}

function schemaOf(name: string, schemas: ReadonlyMap<string, JsonSchema>): JsonSchema {
  const found = schemas.get(name);
  if (found !== undefined) return found;
  const meant = closest(name, NAMES);
  throw new UsageError(
    `there is no schema "${name}"; ${meant === undefined ? `there are: ${NAMES.join(', ')}` : `did you mean "${meant}"?`}`,
  );
}

async function writeAll(
  folder: string,
  schemas: readonly (readonly [string, JsonSchema])[],
): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, each] of schemas)
    await writeFile(join(folder, `${name}.schema.json`), `${textOf(each)}\n`);
}

const textOf = (json: JsonSchema): string => JSON.stringify(json, null, 2);
