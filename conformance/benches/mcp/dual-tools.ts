/**
 * The tools of the server that speaks both eras: effects that can be counted, secrets, slowness,
 * questions.
 */

import { appendFileSync, existsSync } from 'node:fs';
import {
  acceptedContent,
  inputRequired,
  McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { systemClock } from '../../../src/core/time/clock.ts';

/** Looks like a key and is none. In two parts, so that no scanner takes this file for a leak. */
export const SYNTHETIC_SECRET = ['AKIA', 'Q3ZXRW7TLMN5PB2D'].join('');

/** What all servers of one process share: over HTTP each request has a server of its own. */
export interface DualState {
  /** Every effect adds a line here, by a write that a kill cannot take back. */
  readonly notes: string;
  addDescription: string;
  /** Tells clients that the list has changed. */
  tellChanged: () => void;
}

const DESTRUCTIVE = { readOnlyHint: false, destructiveHint: true };
const READ_ONLY = { readOnlyHint: true };
const textOf = (text: string) => ({ content: [{ type: 'text' as const, text }] });
const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => void systemClock.after(ms, resolve));

/** A server with all the tools. */
export function createDualServer(state: DualState): McpServer {
  const server = new McpServer(
    { name: 'dual', version: '1.0.0' },
    { capabilities: { tools: { listChanged: true } } },
  );
  registerPlain(server, state);
  registerSlow(server, state);
  registerAsking(server);
  registerChange(server, state);
  return server;
}

function registerPlain(server: McpServer, { notes }: DualState): void {
  server.registerTool(
    'write_note',
    {
      description: 'Adds a line to the notes.',
      inputSchema: z.strictObject({ text: z.string() }),
      annotations: DESTRUCTIVE,
    },
    ({ text }) => {
      appendFileSync(notes, `${text}\n`);
      return textOf(`noted ${text}`);
    },
  );
  const leaked = z.object({ token: z.string() });
  server.registerTool(
    'leak',
    {
      description: 'Answers with a secret.',
      inputSchema: z.object({}),
      outputSchema: leaked,
      annotations: READ_ONLY,
    },
    () => ({
      ...textOf(`the key is ${SYNTHETIC_SECRET}.`),
      structuredContent: { token: SYNTHETIC_SECRET },
    }),
  );
  server.registerTool(
    'own_reason',
    {
      description: 'Takes a reason of its own.',
      inputSchema: z.strictObject({ reason: z.string() }),
      annotations: READ_ONLY,
    },
    ({ reason }) => textOf(`because ${reason}`),
  );
}

const slowInput = z.object({
  text: z.string(),
  ms: z.number().optional(),
  file: z.string().optional(),
});

/** Notes when it begins, and whether it came to its end or was told to stop. */
function registerSlow(server: McpServer, { notes }: DualState): void {
  const note = (what: string, text: string) => appendFileSync(notes, `${what} ${text}\n`);
  server.registerTool(
    'slow',
    {
      description: 'Waits for some time or for a file.',
      inputSchema: slowInput,
      annotations: DESTRUCTIVE,
    },
    async ({ text, ms = 0, file }, context) => {
      note('begun', text);
      const until = performance.now() + ms;
      for (
        let progress = 1;
        performance.now() < until || (file !== undefined && !existsSync(file));
        progress += 1
      ) {
        await tell(context, progress);
        await pause(20);
        if (!context.mcpReq.signal.aborted) continue;
        note('stopped', text);
        return textOf('stopped');
      }
      note('done', text);
      return textOf(`done ${text}`);
    },
  );
}

async function tell({ mcpReq }: ServerContext, progress: number): Promise<void> {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return;
  await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress } });
}

/** The SDK turns this into a question of the server for clients of the older revisions. */
function registerAsking(server: McpServer): void {
  const answer = z.object({ colour: z.string() });
  server.registerTool(
    'ask',
    { description: 'Asks back.', inputSchema: z.object({}), annotations: READ_ONLY },
    (_args, { mcpReq }) => {
      const accepted = acceptedContent(mcpReq.inputResponses, 'colour', answer);
      if (accepted !== undefined) return textOf(`you like ${accepted.colour}`);
      if (mcpReq.inputResponses?.colour !== undefined) return textOf('you did not say');
      const question = inputRequired.elicit({ message: 'Which colour?', requestedSchema: answer });
      return inputRequired({ inputRequests: { colour: question } });
    },
  );
}

function registerChange(server: McpServer, state: DualState): void {
  const add = server.registerTool(
    'add',
    {
      description: state.addDescription,
      inputSchema: z.strictObject({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
      annotations: READ_ONLY,
    },
    ({ a, b }) => ({
      ...textOf(JSON.stringify({ sum: a + b })),
      structuredContent: { sum: a + b },
    }),
  );
  server.registerTool(
    'change',
    {
      description: 'Gives "add" another description.',
      inputSchema: z.object({ description: z.string() }),
      annotations: READ_ONLY,
    },
    ({ description }) => {
      state.addDescription = description;
      add.update({ description });
      state.tellChanged();
      return textOf('changed');
    },
  );
}
