/** `allium init`: a stack to begin with, and the two files it writes. */

import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { codeOf } from './io/failure.ts';
import { type AddCommand, UsageError, writeLine } from './io/io.ts';

/** Writes a file with a stack and one with tools. */
export const addInit: AddCommand = (program, io, run) => {
  program
    .command('init')
    .description('write an allium.yaml to begin with, and two tools to try it on')
    .option('--dir <folder>', 'where to write them', '.')
    .option('--force', 'replace files that are there')
    .addHelpText(
      'after',
      '\nExamples:\n  allium init\n  allium init --dir agent\n\nThen:\n  allium explain\n  allium call add --args \'{"a":1,"b":2,"reason":"a first try"}\'',
    )
    .action((options: { dir: string; force?: boolean }) =>
      run(async () => {
        const folder = resolve(io.cwd, options.dir);
        const taken = FILES.map(([name]) => name).filter((name) => existsSync(join(folder, name)));
        if (taken.length > 0 && options.force !== true)
          throw new UsageError(
            `${taken.join(' and ')} in ${options.dir} would be replaced; --force does it`,
          );
        try {
          await mkdir(folder, { recursive: true });
          for (const [name, text] of FILES)
            await writeFile(join(folder, name), text, {
              flag: options.force === true ? 'w' : 'wx',
            });
        } catch (error) {
          throw new UsageError(`${options.dir} cannot be written to: ${codeOf(error)}`);
        }
        const path = relative(io.cwd, folder);
        await writeLine(io.stdout, FILES.map(([name]) => `wrote ${join(path, name)}`).join('\n'));
        await writeLine(io.stderr, nextSteps(path === '' ? '' : `cd ${path}\n  `));
        return 0;
      }),
    );
};

const nextSteps = (enter: string): string => `
Next:
  ${enter}allium explain
  allium call add --args '{"a":1,"b":2,"reason":"a first try"}'
  allium call write_note --args '{"text":"hello","reason":"a first try"}'    (you are asked)

Receipts and their keys are kept in .allium: leave that folder out of version control.`;

export const STARTER_CONFIG = `# yaml-language-server: $schema=./node_modules/allium/dist/schemas/config.schema.json
# A stack of layers around tools. The first layer is the outermost.
# allium explain    draws it
# allium call       sends one call through it
version: 1

# What calls belong to where nobody says otherwise. \${NAME:-default} takes a variable of the environment.
session:
  id: \${ALLIUM_SESSION:-demo}

# Receipts, keys and large results go here. The path is relative to this file.
state:
  dir: .allium

layers:
  # One receipt for every call, refusals included: by hash, never by value.
  - auditLog: local

  # Rules decide first. Where none is about a tool, a person is asked.
  - consent:
      rules:
        - { tool: add, decision: allow }
      default: ask

  # The model has to say why. The field is added to every tool and taken off again.
  - requiredReason

  # Secrets are masked on their way in and out.
  - redaction: { detectors: [secrets] }

  # At most 50 calls a minute for each session.
  - rateLimit: { maxCalls: 50, windowMs: 60000, per: session }

  # A layer of your own, for some tools only:
  # - use: ./my-layer.ts#myLayer
  #   with: { limit: 3 }
  #   only: [write_*]

  # Ten seconds for a call.
  - timeout: { maxMs: 10000 }

tools:
  - module: ./tools.ts
`;

export const STARTER_TOOLS = `/** Two tools to try the stack on. */

import { appendFile } from 'node:fs/promises';
import { defineTool } from 'allium';

export const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  inputSchema: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
    additionalProperties: false,
  },
  annotations: { kind: 'read', readOnly: true, destructive: false },
  execute: ({ a, b }) => ({ sum: a + b }),
});

export const writeNote = defineTool({
  name: 'write_note',
  description: 'Adds a line to notes.txt.',
  inputSchema: {
    type: 'object',
    properties: { text: { type: 'string' } },
    required: ['text'],
    additionalProperties: false,
  },
  annotations: { kind: 'edit', readOnly: false, destructive: false },
  async execute({ text }) {
    await appendFile('notes.txt', \`\${text}\\n\`);
    return { written: true };
  },
});
`;

const FILES: readonly (readonly [string, string])[] = [
  ['allium.yaml', STARTER_CONFIG],
  ['tools.ts', STARTER_TOOLS],
];
