/** What `allium init` writes. */

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
