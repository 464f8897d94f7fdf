import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type HookDefinition, hooks } from '../../middleware/index.ts';
import {
  defineTool,
  governTools,
  type JsonObject,
  type Tool,
  type ToolExecutor,
  type ToolLayer,
  type ToolResult,
} from '../index.ts';
import { asyncTool, createScriptPool, createTaskBoard, loadArtifacts } from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'allium-pipeline-'));
const pool = createScriptPool();
const board = createTaskBoard();
afterAll(async () => {
  await board.close();
  await pool.close();
  rmSync(folder, { recursive: true });
});

/** Where a call has been, in order. */
const steps: string[] = [];
const INPUT = {
  type: 'object',
  properties: { text: { type: 'string' } },
  required: ['text'],
  additionalProperties: false,
} as const;
const entered = (name: string) => {
  steps.push(`execute ${name}`);
  return { done: name };
};

const file = (script: string) =>
  `---\nparameters:\n  text:\n    type: string\n    required: true\n${script}---\nDoes something.\n`;
mkdirSync(join(folder, '.allium', 'tools'), { recursive: true });
writeFileSync(
  join(folder, '.allium/tools/run_script.md'),
  file(
    'script: |\n  def run(args):\n    delegate("note", {"text": "run_script"})\n    return {"done": "run_script"}\n',
  ),
);
writeFileSync(join(folder, '.allium/tools/run_handler.md'), file(''));
writeFileSync(join(folder, '.allium/tools/run_later.md'), file('async: true\n'));

const plain = (name: string): Tool =>
  defineTool({ name, description: 'd', inputSchema: INPUT, execute: () => entered(name) });
const remote = (name: string, executor: 'mcp_server' | 'host_bridge'): Tool =>
  defineTool({ name, description: 'd', inputSchema: INPUT, executor });
const executorOf = (kind: ToolExecutor['kind']): ToolExecutor => ({
  kind,
  execute: ({ tool }) => entered(tool.name),
});

const outer = defineTool({
  name: 'run_nested',
  description: 'd',
  inputSchema: INPUT,
  execute: async (_args, context) =>
    (await context.call({ name: 'run_plain', arguments: { text: 'inner' } })).result,
});

/**
 * Real hooks whose decision is counted by the layer itself: what they saw is read from its record.
 */
const asked: readonly HookDefinition[] = [
  { name: 'before', event: 'tool.pre', script: 'def handle(event, payload):\n  return allow()\n' },
  { name: 'after', event: 'tool.post', script: 'def handle(event, payload):\n  return allow()\n' },
];

const watching: ToolLayer = {
  name: 'watching',
  observes: true,
  async caller(call, next) {
    const result = await next(call);
    const line = result.audit?.layers.find(({ name }) => name === 'hooks');
    const runs = (line?.hooks ?? []) as unknown as readonly JsonObject[];
    steps.push(
      `return ${call.toolName} ${runs.map(({ event }) => event as string).join(' ')}`.trim(),
    );
    return result;
  },
};

const loaded = await loadArtifacts(folder, {
  pool,
  tasks: board,
  handlers: { run_handler: () => entered('run_handler'), run_later: () => entered('run_later') },
});

const tools = [
  ...loaded.tools,
  ...[plain('run_plain'), plain('note'), asyncTool(plain('run_behind'), board), outer],
  ...[remote('run_mcp', 'mcp_server'), remote('run_bridge', 'host_bridge')],
];

function govern(
  list: readonly HookDefinition[],
  naive: (stack: readonly ToolLayer[]) => readonly ToolLayer[] = (stack) => stack,
) {
  steps.length = 0;
  return governTools({
    tools,
    layers: naive([watching, hooks({ hooks: list, pool })]),
    executor: [executorOf('mcp_server'), executorOf('host_bridge')],
  });
}

const turn = { sessionId: 's' };
const KINDS = [
  'run_script',
  'run_handler',
  'run_plain',
  'run_nested',
  'run_mcp',
  'run_bridge',
  'run_later',
  'run_behind',
];
const BEHIND = ['run_later', 'run_behind'];

/** Makes the call and waits for what runs behind it. */
async function run(
  governed: ReturnType<typeof govern>,
  name: string,
): Promise<ToolResult | JsonObject> {
  const result = await governed.call({ name, arguments: { text: 'x' } }, { turn });
  const { task_id: id } = (result.result ?? {}) as { readonly task_id?: string };
  if (id === undefined) return result;
  const task = await board.await(id, 's');
  return { status: task?.answer?.status ?? '', executed: task?.answer?.executed ?? '' };
}

const BLOCKING: readonly HookDefinition[] = [
  {
    name: 'guard',
    event: 'tool.pre',
    when: "payload['name'] != 'run_nested'",
    script: "def handle(event, payload):\n  return block('no')\n",
  },
];

describe('the six steps have no fast path for', () => {
  it.each(KINDS)('%s: hooks before, the tool, hooks after', async (name) => {
    const governed = govern(asked);
    const result = await run(governed, name);

    expect(result).toMatchObject({ status: 'ok', executed: 'yes' });
    const own = steps.filter((step) => step.includes(name) && !step.startsWith('execute'));
    expect(own.at(-1)).toBe(`return ${name} tool.pre tool.post`);
    if (name === 'run_script') expect(steps).toContain('return note tool.pre tool.post');
    if (name === 'run_nested')
      expect(steps).toEqual([
        'execute run_plain',
        'return run_plain tool.pre tool.post',
        'return run_nested tool.pre tool.post',
      ]);
  });

  it.each(KINDS)('%s: a hook that blocks keeps the tool from running', async (name) => {
    const governed = govern(BLOCKING);
    const result = await run(governed, name);

    if (name === 'run_nested') expect(result).toMatchObject({ ok: true, result: null });
    else expect(result).toMatchObject({ status: 'policy_blocked', executed: 'no' });
    expect(steps.filter((step) => step.startsWith('execute'))).toEqual([]);
  });

  it.each([...KINDS, 'task_poll', 'task_await', 'task_cancel'])(
    '%s: what does not fit reaches no hook',
    async (name) => {
      const governed = govern(asked);
      const result = await governed.call({ name, arguments: { text: 7, task_id: 7 } }, { turn });

      expect(result).toMatchObject({ status: 'schema_violation', executed: 'no' });
      expect(steps).toEqual([`return ${name}`]);
    },
  );

  it('a tool that is not there, which reaches no hook either', async () => {
    const result = await govern(asked).call({ name: 'run_nothing', arguments: {} }, { turn });

    expect(result).toMatchObject({ status: 'tool_not_found', executed: 'no' });
    expect(steps).toEqual(['return run_nothing']);
  });

  it.each(['task_poll', 'task_await', 'task_cancel'])('%s', async (name) => {
    const governed = govern(asked);
    const { result } = await governed.call(
      { name: 'run_behind', arguments: { text: 'x' } },
      { turn },
    );
    const { task_id: id } = result as { readonly task_id: string };
    await board.await(id, 's');
    steps.length = 0;
    await governed.call({ name, arguments: { task_id: id } }, { turn });
    expect(steps).toEqual([`return ${name} tool.pre tool.post`]);

    const blocked = await govern(BLOCKING).call({ name, arguments: { task_id: id } }, { turn });
    expect(blocked).toMatchObject({ status: 'policy_blocked', executed: 'no' });
  });

  it('what a provider ran, of which the record says that the hooks came too late', async () => {
    const result = await govern(BLOCKING).observe(
      { name: 'web_search', arguments: { text: 'x' } },
      'found',
      { turn },
    );

    expect(result.audit?.layers.find(({ name }) => name === 'hooks')).toMatchObject({
      status: 'too_late',
      wouldHaveBeen: 'policy_blocked',
    });
  });
});

describe('the proof', () => {
  it.each(KINDS.filter((name) => name !== 'run_nested'))(
    'catches a stack with a fast path for %s',
    async (name) => {
      // A layer that goes around the hooks for one kind of tool, as an optimisation might.
      const around = (stack: readonly ToolLayer[]): readonly ToolLayer[] =>
        stack.map((layer) =>
          layer.name === 'hooks'
            ? {
                ...layer,
                caller: (call, next) =>
                  call.toolName === name ? next(call) : layer.caller(call, next),
              }
            : layer,
        );
      const result = await run(govern(BLOCKING, around), name);

      expect(result).not.toMatchObject({ status: 'policy_blocked' });
      expect(steps).toContain(
        BEHIND.includes(name)
          ? `execute ${name}`
          : name === 'run_script'
            ? `return ${name}`
            : `execute ${name}`,
      );
    },
  );
});
