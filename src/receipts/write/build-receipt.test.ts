import { describe, expect, it } from 'vitest';
import { recordingSink } from '../../../conformance/index.ts';
import {
  annotate,
  canonicalJson,
  defineLayer,
  defineTool,
  fail,
  governTools,
  hashCanonical,
  type JsonValue,
  ok,
  refuse,
} from '../../index.ts';
import type { EntryPatch } from '../../layer.ts';
import type { Receipt } from '../index.ts';
import { auditLog } from '../../../middleware/audit-log/audit-log.ts';
import { hashValues } from './build-receipt.ts';
import { runThrough } from '../../../middleware/audit-log/testing.fixture.ts';

const half = '\ud800';

async function receiptOf(
  ...[inner, partial, next]: Partial<Parameters<typeof runThrough>>
): Promise<Receipt> {
  const sink = recordingSink<Receipt>();
  await runThrough([auditLog(sink), ...(inner ?? [])], partial, next);
  const [receipt] = sink.records;
  if (receipt === undefined) throw new Error('there is no receipt');
  return receipt;
}

const says = (patch: object) =>
  defineLayer({ name: 'says', caller: async (call, next) => annotate(await next(call), patch) });

const nested = (depth: number): JsonValue => (depth === 0 ? 'end' : { in: nested(depth - 1) });

describe('a receipt can be written, whatever', () => {
  it('the names of the call are', async () => {
    const names = {
      toolName: `tool${half}`,
      callId: `id${half}`,
      turn: { sessionId: `s${half}`, model: half, runId: half },
    };
    const receipt = await receiptOf([], names);

    expect(canonicalJson(receipt)).toContain('tool\ufffd');
    expect(receipt).toMatchObject({
      tool_call_id: 'id\ufffd',
      session_id: 's\ufffd',
      model: '\ufffd',
      run_id: '\ufffd',
    });
  });

  it.each(['__proto__', 'constructor', 'toString'])(
    'a tool or a member is called: %s',
    async (name) => {
      const toolArgs = JSON.parse(`{"${name}":{"${name}":1}}`) as object;
      const receipt = await receiptOf([], { toolName: name, toolArgs });

      expect(receipt).toMatchObject({
        tool_name: name,
        status: 'ok',
        args_hash: hashCanonical(toolArgs),
      });
    },
  );

  it('layers wrote into the record', async () => {
    const receipt = await receiptOf([
      says({ reason: `why${half}`, [half]: [half], metadata: { deep: nested(300) } }),
    ]);

    expect(canonicalJson(receipt)).toContain('why\ufffd');
    expect(receipt.audit).toHaveProperty('\ufffd', ['\ufffd']);
    expect([receipt, receipt.audit, receipt.audit?.metadata].every(Object.isFrozen)).toBe(true);
    expect(canonicalJson(receipt)).toContain('…');
  });

  it('names in the record would become one', async () => {
    const receipt = await receiptOf([says({ ownKey: 1, own_key: 2 })]);

    expect(receipt.audit).toMatchObject({ ownKey: 1, own_key: 2, layers: [{ name: 'says' }] });
    expect(receipt.audit?.layers).toHaveLength(1);
  });

  it('a layer wrote instead of a text', async () => {
    expect(await receiptOf([says({ reason: 5, summary: ['x'], kind: {} })])).toMatchObject({
      reason: null,
      kind: null,
    });
  });

  it('a turn says', async () => {
    const turn = { iteration: -1, emitOrder: 1.5, model: 5 as never, runId: null as never };

    expect(await receiptOf([], { turn })).toMatchObject({
      iteration: 0,
      turn_index: null,
      emit_order: 0,
      model: null,
      run_id: null,
    });
  });

  it('the size of arguments and results', async () => {
    const receipt = await receiptOf([], { toolArgs: { text: 'x'.repeat(1_000_000) } });

    expect(receipt.args_hash).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(JSON.stringify(receipt).length).toBeLessThan(2_000);
  });

  it('half characters are in arguments and results', async () => {
    const one = await receiptOf([], { toolArgs: { text: half } });
    const other = await receiptOf([], { toolArgs: { text: '\ud801' } });

    expect(one.result_hash).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(one.args_hash).not.toBe(other.args_hash);
    expect(one.args_hash).not.toBe(hashCanonical({ text: '\ufffd' }));
  });
});

describe('a receipt', () => {
  it('says nothing of arguments that an executor never got to the tool', async () => {
    const unreached = await receiptOf([], { toolArgs: { text: 'a' } }, async (call) =>
      fail(call, 'executor_error', null, 'The server is away.', { executed: 'no' }),
    );

    expect(unreached).toMatchObject({
      executed: 'no',
      executed_hash: null,
      status: 'executor_error',
    });
  });

  it.each<[unknown, string | undefined]>([
    [{ server: 'files' }, 'files'],
    [{ server: 5 }, undefined],
    [{}, undefined],
    [null, undefined],
    ['files', undefined],
  ])('names the server of a tool whose metadata say %j of it', async (mcp, server) => {
    const sink = recordingSink<Receipt>();
    const read = defineTool({
      name: 'read',
      description: 'Reads.',
      inputSchema: { type: 'object' },
      metadata: { mcp: mcp as JsonValue },
      execute: () => 1,
    });
    const governed = governTools({ tools: [read], layers: [auditLog(sink)] });
    await governed.call({ name: 'read', arguments: {} });

    expect(sink.records.map((receipt) => receipt.server)).toEqual([server]);
  });

  it.each([[0], [''], [false], [[]]])('has a hash for a result that is %j', async (value) => {
    expect((await receiptOf([], {}, async (call) => ok(call, value))).result_hash).toBe(
      hashCanonical(value),
    );
  });
});

describe('hashValues', () => {
  it('drops what is named at every depth and nothing else', () => {
    const hash = hashValues(['a', '__proto__'], null);

    expect(
      hash(JSON.parse('{"a":1,"b":{"a":2,"__proto__":3,"c":[{"a":4,"d":5}]}}') as JsonValue),
    ).toBe(hashCanonical({ b: { c: [{ d: 5 }] } }));
    expect(hash(['a', { b: 'a' }])).toBe(hashCanonical(['a', { b: 'a' }]));
  });

  it('uses the key for every value, also for one with half characters', () => {
    const hash = hashValues([], { id: 'k', secret: 's' });

    expect(hash({})).toBe(hashCanonical({}, { key: { id: 'k', secret: 's' } }));
    expect(hash({ text: half })).toMatch(/^hmac-sha256:k:/);
  });
});

describe('a receipt names the rule', () => {
  const ruled = (name: string, rule: unknown, blocks = false) =>
    defineLayer({
      name,
      caller: async (call, next) =>
        blocks
          ? annotate(refuse(call, 'policy_blocked', 'no'), {}, { rule } as EntryPatch)
          : annotate(await next(call), {}, { rule } as EntryPatch),
    });

  it('of the outermost layer that has one, for a call that passed', async () => {
    expect((await receiptOf([ruled('outer', 'outer 1'), ruled('inner', 'inner 1')])).rule).toBe(
      'outer 1',
    );
    expect((await receiptOf([ruled('outer', undefined), ruled('inner', 'inner 1')])).rule).toBe(
      'inner 1',
    );
  });

  it('of the layer that turned the call away, and of no other', async () => {
    expect(
      (await receiptOf([ruled('outer', 'outer 1'), ruled('inner', 'inner 1', true)])).rule,
    ).toBe('inner 1');
    expect(
      await receiptOf([ruled('outer', 'outer 1'), ruled('inner', undefined, true)]),
    ).not.toHaveProperty('rule');
  });

  it.each([5, { rule: 1 }, ['x'], null])('only where it is a text: %j', async (rule) => {
    expect(await receiptOf([ruled('outer', rule)])).not.toHaveProperty('rule');
  });

  it('as every scrub of the stack left it', async () => {
    const scrubbing = defineLayer({
      name: 'scrubbing',
      caller: (call, next) => next(call),
      scrub: (text) => text.replaceAll('canary', '***'),
    });

    expect((await receiptOf([scrubbing, ruled('inner', 'inner canary')])).rule).toBe('inner ***');
  });
});
