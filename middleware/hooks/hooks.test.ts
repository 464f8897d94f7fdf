import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  createScriptPool,
  type ScriptPool,
  type ScriptRequest,
} from '../../src/artifacts/index.ts';
import {
  defineTool,
  governTools,
  type JsonObject,
  toolOutput,
  type ToolLayer,
  type ToolResult,
} from '../../src/index.ts';
import type { PermissionRequest } from '../../src/policy/index.ts';
import type { Receipt } from '../../src/receipts/index.ts';
import { auditLog } from '../audit-log/audit-log.ts';
import { consent } from '../consent/consent.ts';
import { handoffArtifact } from '../handoff-artifact/handoff-artifact.ts';
import { payload as handoff } from '../handoff-artifact/handoff.fixture.ts';
import { permissions } from '../permissions/permissions.ts';
import { redaction } from '../redaction/redaction.ts';
import { requiredReason } from '../required-reason/required-reason.ts';
import { telemetry } from '../telemetry/telemetry.ts';
import { fireHooks, type HookDefinition, hooks, type HooksOptions } from './hooks.ts';

const pool = createScriptPool();
afterAll(() => pool.close());

const handle = (body: string) => `def handle(event, payload):\n${body.replaceAll(/^/gm, '  ')}\n`;
const pre = (name: string, body: string, more: Partial<HookDefinition> = {}): HookDefinition => ({
  ...{ name, event: 'tool.pre', script: handle(body) },
  ...more,
});
const post = (name: string, body: string): HookDefinition =>
  pre(name, body, { event: 'tool.post' });

function start(
  list: readonly HookDefinition[],
  outer: readonly ToolLayer[] = [],
  inner: readonly ToolLayer[] = [],
  given: ScriptPool = pool,
) {
  const ran: unknown[] = [];
  const echo = defineTool({
    name: 'echo',
    description: 'd',
    inputSchema: {
      type: 'object',
      properties: { text: { type: 'string' }, n: { type: 'integer' } },
      additionalProperties: false,
    },
    execute(args) {
      ran.push(args);
      return { said: args.text ?? null };
    },
  });
  const governed = governTools({
    tools: [echo],
    layers: [...outer, hooks({ hooks: list, pool: given, deadlineMs: 1_000 }), ...inner],
  });
  const name: string = 'echo';
  const call = (args: object, options: object = {}) =>
    governed.call({ name, arguments: args, id: 'c1' }, options);
  return { call, ran, governed };
}

const lineOf = (result: ToolResult) => result.audit?.layers.find(({ name }) => name === 'hooks');
const decisions = (result: ToolResult) =>
  (lineOf(result)?.hooks as unknown as readonly JsonObject[]).map(
    ({ hook, decision }) => `${hook as string} ${decision as string}`,
  );

describe('hooks', () => {
  it('let a call through that all of them allow, by calls and by dicts', async () => {
    const { call, ran } = start([
      pre('a', 'return allow()'),
      pre('b', "return {'action': 'allow'}"),
      post('c', 'return allow()'),
    ]);
    const result = await call({ text: 'hi' });

    expect(result).toMatchObject({ ok: true, executed: 'yes', result: { said: 'hi' } });
    expect(ran).toEqual([{ text: 'hi' }]);
    expect(decisions(result)).toEqual(['a allow', 'b allow', 'c allow']);
    expect(lineOf(result)).toMatchObject({
      status: 'ok',
      hooks: [{ event: 'tool.pre', durationMs: expect.any(Number) as unknown }, {}, {}],
    });
  });

  it('show a call and its result as they are', async () => {
    const shown = "return {'action': 'block', 'reason': json.encode(payload)}";
    const before = await start([pre('a', shown)]).call({ text: 'hi' });
    const after = await start([post('a', shown)]).call({ text: 'hi' });
    const payload = (result: ToolResult) =>
      JSON.parse(/(\{.*\})/.exec(result.error ?? '')?.[1] ?? '') as unknown;

    expect(payload(before)).toEqual({
      id: 'c1',
      name: 'echo',
      arguments: '{"text":"hi"}',
      args: { text: 'hi' },
    });
    expect(payload(after)).toEqual({
      call_id: 'c1',
      name: 'echo',
      content: '{"said":"hi"}',
      is_error: false,
      result: { said: 'hi' },
    });
  });

  it('block with their name and reason, and the first block ends it', async () => {
    const { call, ran } = start([
      pre('late', 'return allow()', { priority: 9 }),
      pre('guard', "return block('not today')"),
    ]);
    const result = await call({ text: 'hi' });

    expect(result).toMatchObject({
      status: 'policy_blocked',
      executed: 'no',
      error: 'blocked by hook "guard": not today',
    });
    expect(ran).toEqual([]);
    expect(decisions(result)).toEqual(['guard block']);
  });

  it('are asked by priority, and equal ones as they were given', async () => {
    const list = ['c 2', 'a 1', 'b 1', 'd 2'].map((text) => {
      const [name = '', priority] = text.split(' ');
      return pre(name, 'return allow()', { priority: Number(priority) });
    });

    expect(decisions(await start(list).call({}))).toEqual([
      'a allow',
      'b allow',
      'c allow',
      'd allow',
    ]);
  });

  it('hand on what they wrote anew, to later hooks and to the tool', async () => {
    const { call, ran } = start([
      pre('first', "return modify({'args': {'text': payload['args']['text'] + '!'}})"),
      pre(
        'second',
        "return modify(dict(payload, arguments='{\"text\":\"' + payload['args']['text'] + '?\"}'))",
        { priority: 1 },
      ),
    ]);
    const result = await call({ text: 'hi' });

    expect(ran).toEqual([{ text: 'hi!?' }]);
    expect(lineOf(result)?.status).toBe('modified');
  });

  it('are asked only where their condition is true', async () => {
    const { call } = start([
      pre('a', "return block('no')", { when: "payload['args'].get('text') == 'bad'" }),
    ]);

    expect(await call({ text: 'good' })).toMatchObject({ ok: true });
    expect(decisions(await call({ text: 'good' }))).toEqual(['a skipped']);
    expect(await call({ text: 'bad' })).toMatchObject({ status: 'policy_blocked' });
  });

  it.each([
    ['has an error', 'return 1 // 0', {}],
    ['fails on purpose', "fail('x')", {}],
    ['never ends', 'for i in range(1 << 40):\n  pass\nreturn allow()', {}],
    ['says nothing', 'pass', {}],
    ['says something unknown', "return {'action': 'maybe'}", {}],
    ['says a number', 'return 1', {}],
    ['says just yes', 'return True', {}],
    ['has an error in its condition', 'return allow()', { when: "payload['nothing']" }],
    ['has a condition that cannot be read', 'return allow()', { when: 'payload[' }],
    ['has no handle', 'return allow()', { script: 'x = 1' }],
    ['changes which call it is', "return modify({'id': 'c2', 'args': {}})", {}],
    ['changes the tool', "return modify({'name': 'other', 'args': {}})", {}],
    ['gives arguments that are none', "return modify({'args': 'text'})", {}],
    [
      'gives arguments that differ',
      "return modify({'args': {'text': 'a'}, 'arguments': '{}'})",
      {},
    ],
    ['gives the arguments for the payload', "return modify({'text': 'safe'})", {}],
  ])('block a call before it runs where one of them %s', async (_what, body, more) => {
    const { call, ran } = start([pre('guard', body, more)]);
    const result = await call({ text: 'hi' });

    expect(result).toMatchObject({
      status: 'policy_blocked',
      executed: 'no',
      error: expect.stringMatching(/^blocked by hook "guard": /) as unknown,
    });
    expect(ran).toEqual([]);
    expect(decisions(result)).toEqual(['guard failed']);
  });

  it('cannot make a tool take what its schema refuses', async () => {
    const { call, ran } = start([pre('a', "return modify({'args': {'n': 'seven'}})")]);

    expect(await call({ n: 7 })).toMatchObject({ status: 'schema_violation', executed: 'no' });
    expect(ran).toEqual([]);
  });

  it('withhold a result, which stays executed', async () => {
    const result = await start([post('secret', "return block('it is secret')")]).call({
      text: 'hi',
    });

    expect(result).toMatchObject({ ok: false, status: 'redacted', executed: 'yes', result: null });
    expect(result.error).toContain('blocked by hook "secret": it is secret');
    expect(JSON.stringify(result)).not.toContain('said');
  });

  it.each([
    ['return 1 // 0'],
    ['pass'],
    ["return modify({'is_error': 'no'})"],
    ["return modify({'call_id': 'x', 'content': ''})"],
  ])('withhold a result where a hook cannot be understood: %s', async (body) => {
    const result = await start([post('broken', body)]).call({ text: 'hi' });

    expect(result).toMatchObject({ status: 'redacted', executed: 'yes', result: null });
    expect(JSON.stringify(result)).not.toContain('said');
  });

  it('replace a result so that nothing of the old one is left', async () => {
    const text = await start([post('a', "return modify({'content': 'cleaned'})")]).call({
      text: 'hi',
    });
    const value = await start([post('a', "return modify({'result': {'n': 1}})")]).call({
      text: 'hi',
    });
    const both = await start([
      post('a', "return modify({'result': {'n': 1}, 'content': 'one'})"),
    ]).call({ text: 'hi' });
    const failed = await start([
      post('a', "return modify({'is_error': True, 'content': 'bad'})"),
    ]).call({ text: 'hi' });

    expect(text).toMatchObject({ ok: true, result: 'cleaned', renderedResult: 'cleaned' });
    expect(value).toMatchObject({ ok: true, result: { n: 1 }, renderedResult: '{"n":1}' });
    expect(both).toMatchObject({ ok: true, result: { n: 1 }, renderedResult: 'one' });
    expect(failed).toMatchObject({
      ok: false,
      status: 'executor_error',
      error: 'bad',
      executed: 'yes',
    });
    expect(JSON.stringify([text, value, both, failed])).not.toContain('said');
  });

  it.each([
    ['withhold', "return block('no')"],
    ['replace', "return modify({'content': 'cleaned'})"],
    ['make an error of', "return modify({'is_error': True, 'content': 'bad'})"],
  ])('%s a result with its blocks and its handoff', async (_what, body) => {
    const output = {
      content: [{ type: 'text' as const, text: 'canary-1' }],
      structuredContent: { note: 'canary-2', handoff },
    };
    const tool = defineTool({
      name: 'send',
      description: 'd',
      inputSchema: { type: 'object' },
      execute: () => toolOutput(output),
    });
    const layers = [hooks({ hooks: [post('a', body)], pool }), handoffArtifact()];
    const result = await governTools({ tools: [tool], layers }).call({
      name: 'send',
      arguments: {},
    });

    expect(result.executed).toBe('yes');
    expect(result.audit?.handoff).toMatchObject({ withheld: true });
    expect(JSON.stringify(result)).not.toMatch(/canary|Review the change/);
  });

  it('do not make a success of an error', async () => {
    const { call } = start([
      pre('a', 'return allow()'),
      post('b', "return modify({'is_error': False, 'content': 'fine'})"),
    ]);

    expect(await call({ text: 'hi' })).toMatchObject({ ok: true });
    const governed = governTools({
      tools: [
        defineTool({
          name: 'bad',
          description: 'd',
          inputSchema: { type: 'object' },
          execute: () => Promise.reject(new Error('x')),
        }),
      ],
      layers: [
        hooks({
          hooks: [post('b', "return modify({'is_error': False, 'content': 'fine'})")],
          pool,
        }),
      ],
    });
    expect(await governed.call({ name: 'bad', arguments: {} })).toMatchObject({
      ok: false,
      status: 'redacted',
    });
  });

  it.each([
    ['exec.run', "exec.run('touch', ['made'])"],
    ['fs.write', "fs.write('made', 'x')"],
  ] as const)('do not get %s unless their host says so', async (effect, line) => {
    const workspace = mkdtempSync(join(tmpdir(), 'allium-hooks-'));
    onTestFinished(() => rmSync(workspace, { recursive: true }));
    const list = [pre('a', `${line}\nreturn allow()`)];
    const fired = (effects: HooksOptions['effects'] = []) =>
      fireHooks('tool.pre', {}, { hooks: list, pool, grants: { workspace }, effects });

    expect(await fired()).toMatchObject({ action: 'block', runs: [{ decision: 'failed' }] });
    expect(existsSync(join(workspace, 'made'))).toBe(false);
    expect(await fired([effect])).toMatchObject({ action: 'allow' });
    expect(existsSync(join(workspace, 'made'))).toBe(true);
  });

  it.each([
    ['tool.pre', 'policy_blocked'],
    ['tool.post', 'redacted'],
  ])('that fail at %s are logged with their place, and without a value', async (event, status) => {
    const logged: unknown[] = [];
    const nothing = () => {};
    const tool = defineTool({
      name: 'echo',
      description: 'd',
      inputSchema: { type: 'object' },
      execute: () => 'canary',
    });
    const list = [pre('guard', `x = payload["name"]\nreturn payload['canary']`, { event })];
    const governed = governTools({
      tools: [tool],
      layers: [hooks({ hooks: list, pool })],
      logger: {
        ...{ debug: nothing, info: nothing, error: nothing },
        warn: (fields, text) => logged.push([fields, text]),
      },
    });

    expect(await governed.call({ name: 'echo', arguments: { a: 'canary' } })).toMatchObject({
      status,
    });
    expect(logged).toMatchObject([
      [
        { toolName: 'echo', kind: 'eval', line: 3, traceback: [{ name: 'handle', line: 3 }] },
        'the script of a hook failed (eval)',
      ],
    ]);
    expect(JSON.stringify(logged)).not.toContain('canary');
  });

  it('that cannot be loaded block every call', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'allium-hooks-'));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    mkdirSync(join(dir, '.allium/hooks'), { recursive: true });
    writeFileSync(join(dir, '.allium/hooks/guard.md'), 'no frontmatter');
    let ran = 0;
    const tool = defineTool({
      name: 'count',
      description: 'd',
      inputSchema: { type: 'object' },
      execute: () => (ran += 1),
    });
    const governed = governTools({ tools: [tool], layers: [hooks({ dir, pool })] });

    expect(await governed.call({ name: 'count', arguments: {} })).toMatchObject({
      status: 'policy_blocked',
      executed: 'no',
    });
    expect(ran).toBe(0);
  });
});

describe('hooks inside of permissions', () => {
  const reads = pre('reads', 'env.get("HOME")\nreturn allow()', { grants: { env: ['HOME'] } });
  const asking = (decision: 'allow' | 'deny') => {
    const asked: string[] = [];
    const checker = ({ kind }: PermissionRequest) => {
      asked.push(kind);
      return kind === 'tool.call' ? 'allow' : decision;
    };
    return { asked, layer: permissions({ checkers: [checker] }) };
  };

  it.each(['allow', 'deny'] as const)(
    'ask before they reach for something: %s',
    async (decision) => {
      const { asked, layer } = asking(decision);
      const { call, ran } = start([reads], [layer]);
      const result = await call({ text: 'hi' });

      expect(asked[0]).toMatch(/^custom\.env/);
      expect(result.status).toBe(decision === 'allow' ? 'ok' : 'policy_blocked');
      expect(ran).toHaveLength(decision === 'allow' ? 1 : 0);
    },
  );
});

describe('hooks outside of consent', () => {
  it('are asked again about arguments that a person wrote', async () => {
    const guard = pre(
      'guard',
      "return block('no') if payload['args'].get('text') == 'bad' else allow()",
    );
    const editing = consent(() => ({ decision: 'approved', args: { text: 'bad' } }));
    const receipts: Receipt[] = [];
    const { call, ran } = start(
      [guard],
      [auditLog((receipt) => void receipts.push(receipt))],
      [editing],
    );
    const result = await call({ text: 'good' });

    expect(result).toMatchObject({
      status: 'policy_blocked',
      executed: 'no',
      error: 'blocked by hook "guard": no',
    });
    expect(ran).toEqual([]);
    expect(receipts).toMatchObject([{ status: 'policy_blocked', blocked_by: 'hooks' }]);
    expect(decisions(result)).toEqual(['guard allow', 'guard block']);
  });

  it('are asked once where a layer inside takes off what it put in', async () => {
    const { call, ran } = start(
      [pre('a', 'return allow()')],
      [],
      [consent(() => true), requiredReason()],
    );
    const result = await call({ text: 'hi', reason: 'because' });

    expect(result.ok).toBe(true);
    expect(ran).toEqual([{ text: 'hi' }]);
    expect(decisions(result)).toEqual(['a allow']);
  });
});

describe('hooks inside of consent', () => {
  it('change what was approved as a rewrite that is on record', async () => {
    const { call, ran } = start(
      [pre('a', "return modify({'args': {'text': 'changed'}})")],
      [consent(() => true)],
    );
    const result = await call({ text: 'hi' });

    expect(ran).toEqual([{ text: 'changed' }]);
    expect(result.audit?.rewrites).toEqual([{ layer: 'hooks', paths: ['text'] }]);
  });
});

describe('the record of hooks', () => {
  it('is in the receipt and the span, and holds no values', async () => {
    const receipts: unknown[] = [];
    const spans: unknown[] = [];
    const outer = [
      auditLog((receipt) => void receipts.push(receipt)),
      telemetry((span) => void spans.push(span)),
    ];
    const { call, governed } = start(
      [pre('guard', "return block('because of ' + payload['args']['text'])")],
      outer,
    );
    await call({ text: 'canary-17' });
    await governed.close();

    expect(JSON.stringify(receipts)).toContain('"hook":"guard"');
    expect(receipts).toMatchObject([
      { status: 'policy_blocked', executed: 'no', blocked_by: 'hooks' },
    ]);
    expect(spans).toMatchObject([
      { child_spans: [{ name: 'tool_call.hooks', status: 'blocked' }] },
    ]);
    expect(JSON.stringify([receipts, spans])).not.toContain('canary-17');
  });

  it('has no words that a cleaner of the stack would hide', async () => {
    const { call } = start(
      [pre('guard', "return block('seen ' + payload['args']['text'])")],
      [],
      [redaction({ patterns: ['canary-\\d+'] })],
    );

    expect(JSON.stringify(await call({ text: 'canary-17' }))).not.toContain('canary-17');
  });
});

describe('a pool that misbehaves', () => {
  const faulty = (run: (request: ScriptRequest) => unknown): ScriptPool =>
    ({
      run: async (request: ScriptRequest) => run(request),
      close: async () => {},
    }) as unknown as ScriptPool;

  it.each<readonly [string, (request: ScriptRequest) => unknown]>([
    ['throws', () => Promise.reject(new Error('worker gone'))],
    ['answers with nothing', () => ({})],
    ['answers with no outcome', () => undefined],
  ])('blocks where it %s', async (_what, run) => {
    const { call, ran } = start([pre('a', 'return allow()')], [], [], faulty(run));

    expect(await call({ text: 'hi' })).toMatchObject({ status: 'policy_blocked', executed: 'no' });
    expect(ran).toEqual([]);
  });

  it('leaves a cancelled call cancelled', async () => {
    const controller = new AbortController();
    const stopping = faulty(() => {
      controller.abort();
      throw new Error('stopped');
    });
    const { call, ran } = start([pre('a', 'return allow()')], [], [], stopping);

    expect(await call({ text: 'hi' }, { signal: controller.signal })).toMatchObject({
      status: 'cancelled',
      executed: 'no',
    });
    expect(ran).toEqual([]);
  });
});

describe('a call that ran elsewhere', () => {
  it('has on record what the hooks would have said', async () => {
    const { governed } = start([pre('guard', "return block('no')")]);
    const result = await governed.observe({ name: 'echo', arguments: { text: 'hi' } }, 'done');

    expect(result).toMatchObject({ ok: true, executed: 'yes' });
    expect(lineOf(result)).toMatchObject({
      status: 'too_late',
      wouldHaveBeen: 'policy_blocked',
      hooks: [{ hook: 'guard', decision: 'block' }],
    });
  });
});

describe('fireHooks', () => {
  const event = {
    name: 'a',
    event: 'session.start',
    script: handle("return modify({'seen': True})"),
  };

  it('asks the hooks of one event and gives back the payload', async () => {
    const fired = await fireHooks(
      'session.start',
      { user: 'ada' },
      { hooks: [event, pre('other', "return block('no')")], pool },
    );

    expect(fired).toMatchObject({
      action: 'allow',
      reason: null,
      payload: { user: 'ada', seen: true },
      runs: [{ hook: 'a', decision: 'modify' }],
    });
  });

  it('blocks where one blocks or fails', async () => {
    const broken = { ...event, script: handle('return None') };

    expect(await fireHooks('session.start', {}, { hooks: [broken], pool })).toMatchObject({
      action: 'block',
      reason: expect.stringContaining('"a"') as unknown,
    });
  });
});
