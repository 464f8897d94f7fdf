/**
 * The captain stack in the client's own process, with no proxy: around the tools of a server
 * through `mcpExecutor`, and around a local tool that asks the same server with the same client.
 * Both wait for the same answer, so what each takes more than the client alone is what governing
 * costs; the executor should add nothing to it. A local tool that answers at once is no fair
 * measure: a loop that never waits keeps everything warm.
 *
 * Samples are processor time of this process. The server's does not differ.
 */

import { strict as assert } from 'node:assert';
import { defineTool, type GovernedTools, type GovernOptions, toolOutput } from 'allium';
import { loadConfig } from 'allium/config';
import { mcpExecutor } from 'allium/mcp';
import { type Case, distinct, type Measured, measure } from './harness.ts';
import type { BenchOptions } from './options.ts';
import { connect, nextArgs, proveEcho } from './proxy-connection.ts';
import { CAPTAIN_STACK, SERVER_ARGS, writeConfig } from './proxy-topologies.ts';
import { type Goal, renderRows, type Report, rowsOf } from './report.ts';
import { quantile, spreadOf } from './statistics.ts';

const GROUP = 'MCP echo in one process, one call at a time';
const CLIENT = 'client alone';
const LOCAL = 'captain stack, local tool';
const EXECUTOR = 'captain stack, mcpExecutor';
const MAX_ADDED = 1.1;
/** The whole stack takes some thousand calls to settle. */
const WARM_UP_PASS_MS = 1_000;
/**
 * A sample is some hundred calls; a difference of two of them needs more of them than a ratio does.
 */
const SAMPLES_PER_ROUND = 5;

/** Something to call, until it is closed. */
interface Subject {
  readonly name: string;
  readonly call: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface InProcess extends Pick<Report, 'text' | 'data' | 'goals'> {
  readonly leftOut: readonly string[];
}

/** Receipts go into the folder. */
export async function inProcessBench(folder: string, options: BenchOptions): Promise<InProcess> {
  const wanted = [CLIENT, LOCAL, EXECUTOR].filter((name) =>
    options.matches({ group: GROUP, name }),
  );
  if (wanted.length === 0) return { text: '', data: [], goals: [addedGoal([])], leftOut: [] };
  const connection = await connect(SERVER_ARGS);
  const subjects: Subject[] = [{ name: CLIENT, call: connection.call, close: connection.close }];
  const leftOut: string[] = [];
  try {
    subjects.push(
      await localTool(`${folder}-local`, (args) =>
        connection.client.callTool({ name: 'echo', arguments: args }),
      ),
    );
    const executor = await throughExecutor(`${folder}-executor`).catch((error: unknown) =>
      String(error),
    );
    if (typeof executor === 'string') leftOut.push(`left out: ${EXECUTOR}: ${executor}`);
    else subjects.push(executor);
    const cases = subjects.filter(({ name }) => wanted.includes(name)).map(caseOf);
    const measured = await measure(cases, {
      ...options,
      rounds: options.rounds * SAMPLES_PER_ROUND,
      warmUpPassMs: WARM_UP_PASS_MS,
    });
    const rows = rowsOf(measured, CLIENT);
    return { text: renderRows(rows, CLIENT), data: rows, goals: [addedGoal(measured)], leftOut };
  } finally {
    for (const { close } of subjects.toReversed()) await close();
  }
}

const caseOf = ({ name, call }: Subject): Case => ({
  group: GROUP,
  name,
  run: distinct('async (times) => { for (let i = 0; i < times; i++) await call(); }', { call }),
});

async function localTool(
  folder: string,
  ask: (args: { readonly message: string }) => Promise<object>,
): Promise<Subject> {
  const echo = defineTool({
    name: 'echo',
    description: 'Echoes back the input string',
    inputSchema: {
      type: 'object',
      properties: { message: { type: 'string' } },
      required: ['message'],
    },
    annotations: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
    execute: async ({ message }) =>
      toolOutput((await ask({ message })) as Parameters<typeof toolOutput>[0]), // The SDK has checked it.
  });
  return governed(LOCAL, folder, { tools: [echo] });
}

/** By a client of the newer SDK, so that its own cost is part of what is added. */
async function throughExecutor(folder: string): Promise<Subject> {
  const server = await mcpExecutor({
    name: 'everything',
    command: process.execPath,
    args: SERVER_ARGS,
  });
  const subject = await governed(EXECUTOR, folder, { tools: server.tools, executor: server });
  return { ...subject, close: () => subject.close().finally(() => server.close()) };
}

async function governed(
  name: string,
  folder: string,
  parts: Partial<GovernOptions>,
): Promise<Subject> {
  const config = await loadConfig(writeConfig(folder, CAPTAIN_STACK));
  const stack: GovernedTools = config.govern(parts);
  const call = async (): Promise<void> => {
    const args = nextArgs();
    const result = await stack.call({ name: 'echo', arguments: args });
    assert.equal(result.status, 'ok');
    proveEcho(result.content, args.message);
  };
  await call();
  return { name, call, close: () => stack.close().finally(() => config.close()) };
}

/**
 * How much more one stack adds to the client than the other. Differences are taken round by round,
 * like ratios elsewhere.
 */
function addedGoal(measured: readonly Measured[]): Goal {
  const text = `processor time added by ${EXECUTOR} / by ${LOCAL}`;
  const limit = { relation: '<=', limit: MAX_ADDED } as const;
  const [client, local, executor] = [CLIENT, LOCAL, EXECUTOR].map(
    (name) => measured.find((one) => one.name === name)?.samples,
  );
  if (client === undefined || local === undefined || executor === undefined)
    return { text, value: null, ...limit };
  const addedBy = (samples: readonly number[]) =>
    samples.map((value, round) => value - (client[round] ?? Number.NaN));
  const [ours, theirs] = [addedBy(executor), addedBy(local)];
  const { p10, p90 } = spreadOf(ours.map((value, round) => value / (theirs[round] ?? Number.NaN)));
  const value = quantile(ours, 0.5) / quantile(theirs, 0.5);
  const best =
    (Math.min(...executor) - Math.min(...client)) / (Math.min(...local) - Math.min(...client));
  return { text, value, ratio: { median: value, p10, p90, best }, ...limit };
}
