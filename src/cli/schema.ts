/** `allium schema`: the JSON Schemas of what this package reads and writes. */

import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { closest } from '../core/contract/closest.ts';
import type { JsonSchema } from '../core/contract/call.ts';
import { type AddCommand, type CliIo, UsageError, writeLine } from './io/io.ts';

/** Each is loaded when it is asked for, so that help loads none. */
export const SCHEMAS: Readonly<Record<string, () => Promise<JsonSchema>>> = {
  receipt: async () => (await import('../receipts/receipt-schema.ts')).RECEIPT_SCHEMA,
  event: async () => (await import('../dispatch/events/event-schema.ts')).EVENT_SCHEMA,
  span: async () => (await import('../telemetry/span-schema.ts')).SPAN_SCHEMA,
  handoff: async () => (await import('../handoff/handoff-schema.ts')).HANDOFF_SCHEMA,
  approval: async () => (await import('../approvals/store/approval-schema.ts')).APPROVAL_SCHEMA,
  scenario: async () =>
    (await import('../../conformance/scenarios/scenario-schema.ts')).SCENARIO_SCHEMA,
  config: async () => (await import('../config/index.ts')).CONFIG_SCHEMA,
};
const NAMES: readonly string[] = Object.keys(SCHEMAS);

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
  if (list === true) {
    await writeLine(io.stdout, NAMES.join('\n'));
    return 0;
  }
  if (out !== undefined) {
    await writeAll(resolve(io.cwd, out), name === undefined ? NAMES : [name]);
    return 0;
  }
  if (name === undefined) throw new UsageError(`which schema? One of: ${NAMES.join(', ')}`);
  await writeLine(io.stdout, await schemaText(name));
  return 0;
}

async function schemaText(name: string): Promise<string> {
  const load = Object.hasOwn(SCHEMAS, name) ? SCHEMAS[name] : undefined;
  if (load !== undefined) return JSON.stringify(await load(), null, 2);
  const meant = closest(name, NAMES);
  const hint = meant === undefined ? `there are: ${NAMES.join(', ')}` : `did you mean "${meant}"?`;
  throw new UsageError(`there is no schema "${name}"; ${hint}`);
}

/** Every text is read before the folder is made: a wrong name leaves nothing behind. */
async function writeAll(folder: string, names: readonly string[]): Promise<void> {
  const texts = await Promise.all(names.map(schemaText));
  await mkdir(folder, { recursive: true });
  for (const [index, name] of names.entries())
    await writeFile(join(folder, `${name}.schema.json`), `${texts[index]}\n`);
}
