import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Random } from '../../conformance/benches/fuzz/random.ts';
import { consent } from '../../middleware/index.ts';
import { loadArtifacts } from '../artifacts/index.ts';
import { runCli } from '../cli/run-cli.ts';
import { hostBridge } from '../executors/host-bridge/index.ts';
import { echoCall, endAll, rawHost } from '../executors/host-bridge/hosts.fixture.ts';
import { connected, scripted } from '../mcp/client/peers.fixture.ts';
import {
  type ApprovalPrompt,
  defineTool,
  type GovernedTools,
  type GovernOptions,
  governTools,
  type JsonObject,
} from '../index.ts';
import type { McpOptions } from '../mcp/index.ts';
import { answerApproval, fileApprovals } from '../policy/index.ts';
import {
  type ChangedDefinition,
  randomArgs,
  randomChange,
  randomDefinition,
  randomListed,
} from './random-tools.fixture.ts';
import { howMany } from '../../conformance/how-many.fixture.ts';

/**
 * Changes by each route: few in every run of the suite, a thousand where ALLIUM_DEFINITION_CHANGES
 * says so.
 */
const CHANGES = howMany(8, 1_000);
const CALL = { name: 'work', arguments: {} };
const YES = { decision: 'allow_once', decidedBy: 'ada' } as const;

interface Outcome {
  readonly status: string | undefined;
  readonly executed: string | undefined;
  /** How often the executor was given the call. */
  readonly entered: number;
}

/**
 * What comes of calls whose tool changes at its source while a person is asked: one call after the
 * other, in one world.
 */
interface Route {
  /** A definition, as it is written down there. */
  readonly define: (random: Random) => JsonObject;
  readonly open: () => Promise<(change: ChangedDefinition) => Promise<Outcome>>;
}

/** A call of `work` that a person allows after `change`. */
async function askedWhile(
  options: Omit<GovernOptions, 'layers'>,
  change: (governed: GovernedTools) => Promise<void>,
): Promise<Pick<Outcome, 'status' | 'executed'>> {
  const prompt: ApprovalPrompt = async () => {
    await change(governed);
    return YES;
  };
  const governed = governTools({
    ...options,
    layers: [consent({ default: 'ask' })],
    prompts: [prompt],
  });
  const { status, executed } = await governed.call(CALL);
  return { status, executed };
}

const bridgedTool = (random: Random): JsonObject => {
  const { description = '', inputSchema = {}, timeoutMs = 1 } = randomDefinition(random);
  return {
    ...{
      name: 'work',
      description,
      input_schema: inputSchema,
      timeout_ms: timeoutMs,
      metadata: randomArgs(random),
    },
    annotations: {
      kind: random.pick(['read', 'edit']),
      read_only: random.oneIn(2),
      idempotent: random.oneIn(2),
    },
  };
};

const bridge: Route = {
  define: bridgedTool,
  open:
    async () =>
    async ({ first, other }) => {
      const hosts = await Promise.all(
        [first, other].map((tool) =>
          rawHost({ list: { protocol: 1, tools: [tool] }, onCall: echoCall }),
        ),
      );
      const [before, after] = await Promise.all(hosts.map(({ channel }) => hostBridge(channel)));
      if (before === undefined || after === undefined)
        throw new Error('two hosts make two bridges');
      const outcome = await askedWhile(
        { tools: before.tools, executor: before },
        async (governed) => governed.update(after.tools),
      );
      const entered = hosts.reduce((calls, host) => calls + host.calls().length, 0);
      endAll();
      return { ...outcome, entered };
    },
};
afterEach(endAll);

/**
 * `written`: the host has a definition of its own for the tool of the server. `taken`: the host
 * takes every new list.
 */
const mcp = (how: 'listed' | 'taken' | 'written'): Route => ({
  define: randomListed,
  async open() {
    const changing = {
      name: 'change',
      description: 'Says that the list has changed.',
      inputSchema: { type: 'object' },
    };
    const { target, list, effects } = scripted([{ tools: [changing] }]);
    let taken: McpOptions['onToolsChanged'] = () => {};
    const { server } = await connected(target, { onToolsChanged: (tools) => taken?.(tools) });
    const announce = () =>
      governTools({ tools: server.tools, executor: server, layers: [] }).call({
        name: 'change',
        arguments: {},
      });
    return async ({ first, other }) => {
      list([{ tools: [changing, first] }]);
      await server.refresh();
      const before = effects().filter((line) => line === 'work').length;
      const own = defineTool({
        name: 'work',
        description: 'Works.',
        inputSchema: { type: 'object' },
        executor: 'mcp_server',
      });
      const outcome = await askedWhile(
        { tools: how === 'written' ? [own] : server.tools, executor: server },
        async (governed) => {
          if (how === 'taken') taken = (tools) => governed.update(tools);
          list([{ tools: [changing, other] }]);
          await announce();
        },
      );
      taken = () => {};
      return { ...outcome, entered: effects().filter((line) => line === 'work').length - before };
    };
  },
});

/** A tool as a Markdown file with a script. */
const markdownTool = (random: Random): JsonObject => ({
  description: `Works. ${random.pick(['', 'a', 'naïve'])}`,
  answer: random.below(100),
  frontmatter: {
    parameters: { p0: { type: random.pick(['string', 'number']), description: 'One.' } },
    timeout_ms: 1000 + random.below(1000),
    annotations: {
      kind: random.pick(['read', 'edit']),
      read_only: random.oneIn(2),
      title: 'Works',
    },
    grants: { env: ['HOME'], max_output_bytes: 1000 + random.below(100) },
  },
});

function writeTool(folder: string, { description, answer, frontmatter = {} }: JsonObject): void {
  const members = Object.entries(frontmatter as JsonObject).map(
    ([key, value]) => `${key}: ${JSON.stringify(value)}`,
  ); // As it was made.
  writeFileSync(
    join(folder, '.allium/tools/work.md'),
    [
      '---',
      ...members,
      `script: |\n  def run(args):\n    return ${JSON.stringify(answer)}`,
      '---',
      `About: ${JSON.stringify(description)}`,
      '',
    ].join('\n'),
  );
}

function project(): string {
  const folder = mkdtempSync(join(tmpdir(), 'allium-entered-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, '.allium/tools'), { recursive: true });
  const lines = [
    'version: 1',
    'layers: [{ consent: { default: ask } }]',
    'tools: [{ artifacts: . }]',
    'state: { dir: .allium }',
  ];
  writeFileSync(join(folder, 'allium.yaml'), lines.join('\n'));
  return folder;
}

const markdown: Route = {
  define: markdownTool,
  async open() {
    const folder = project();
    return async ({ first, other }) => {
      writeTool(folder, first);
      const before = await loadArtifacts(folder);
      const later: Awaited<ReturnType<typeof loadArtifacts>>[] = [];
      const outcome = await askedWhile({ tools: before.tools }, async (governed) => {
        writeTool(folder, other);
        const after = await loadArtifacts(folder);
        later.push(after);
        governed.update(after.tools);
      });
      for (const loaded of [before, ...later]) await loaded.close();
      return { ...outcome, entered: outcome.executed === 'no' ? 0 : 1 };
    };
  },
};

/**
 * One process asks, a person answers in the queue, the file is written anew, and another process
 * takes the call up.
 */
const commandLine: Route = {
  define: markdownTool,
  open:
    async () =>
    async ({ first, other }) => {
      const folder = project();
      const store = fileApprovals({ dir: join(folder, '.allium/approvals') });
      const io = () => {
        const sink = new PassThrough().resume();
        const stdin = new PassThrough().end();
        return {
          stdin,
          stdout: sink,
          stderr: sink,
          env: {},
          cwd: folder,
          signal: new AbortController().signal,
        };
      };
      writeTool(folder, first);
      await runCli(['call', 'work', '--args', '{}'], io());
      const [{ id } = { id: '' }] = await store.list();
      await answerApproval(store, id, YES);
      writeTool(folder, other);
      await runCli(['call', '--resume', id], io());
      const ended = (await store.get(id))?.ended;
      rmSync(folder, { recursive: true });
      return {
        status: ended?.status,
        executed: ended?.executed,
        entered: ended?.executed === 'no' ? 0 : 1,
      };
    },
};

const ROUTES: readonly (readonly [string, Route])[] = [
  ['in a host that was connected anew', bridge],
  ['in an MCP server that said so', mcp('listed')],
  ['in an MCP server whose new list the host takes', mcp('taken')],
  ['in an MCP server, under a definition of the host', mcp('written')],
  ['in a Markdown file that was loaded again', markdown],
  ['in a Markdown file, before allium call --resume', commandLine],
];

describe.each(ROUTES)('a definition that changes %s', (_name, { define, open }) => {
  it('is not entered by a call about which somebody was asked before', {
    timeout: 1_200_000,
  }, async () => {
    const follow = await open();
    for (let seed = 1; seed <= CHANGES; seed += 1) {
      const change = randomChange(seed, define);

      expect(await follow(change), `seed ${seed}, ${change.path}`).toEqual({
        status: 'definition_changed',
        executed: 'no',
        entered: 0,
      });
    }
  });

  it('is entered where nothing of it changed', { timeout: 60_000 }, async () => {
    const follow = await open();
    const { first } = randomChange(1, define);

    expect(await follow({ first, other: first, path: '' })).toEqual({
      status: 'ok',
      executed: 'yes',
      entered: 1,
    });
  });
});
