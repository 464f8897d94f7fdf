import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { recordingSink, settle } from '../../conformance/test-kit.ts';
import {
  auditLog,
  callLimit,
  consent,
  dryRun,
  permissions,
  rateLimit,
  redaction,
  scopedExecutor,
} from '../../middleware/index.ts';
import {
  defineLayer,
  defineTool,
  refuse,
  toolFailure,
  toolOutput,
  type ToolLayer,
  when,
  withCall,
} from '../index.ts';
import type { Receipt } from '../receipts/index.ts';
import { memoryOutputs, setup, storyOf } from './testing.fixture.ts';

const request = { name: 'web_search', arguments: { q: 'onions' }, id: 's1' };

/** The lines of one observed call, innermost first. */
async function linesOf(layers: readonly ToolLayer[], asked: typeof request = request) {
  const { audit } = await setup({ layers }).governed.observe(asked, { hits: 3 });
  return (audit?.layers ?? []).map(({ startedAt: _started, endedAt: _ended, ...line }) => line);
}

const watch = defineLayer({ name: 'watch', observes: true, caller: (call, next) => next(call) });
const late = { status: 'too_late' };
/** This turn's tools do not have the one that ran. */
const unknown = { name: 'admission', ...late, wouldHaveBeen: 'tool_not_found' };

describe('observe', () => {
  it('names every layer that came too late, in its place', async () => {
    const ask = vi.fn(() => true);

    expect(
      await linesOf([
        watch,
        consent(ask),
        redaction(),
        defineLayer({ name: 'act', caller: (call, next) => next(call) }),
      ]),
    ).toEqual([
      { name: 'act', ...late },
      { name: 'redaction', status: 'ok' },
      { name: 'consent', ...late },
      unknown,
      { name: 'watch', status: 'ok' },
    ]);
    expect(ask).not.toHaveBeenCalled();
  });

  it('says of a tool that is known here nothing but who came too late', async () => {
    expect(
      await linesOf([dryRun()], { name: 'echo', arguments: {} as { q: string }, id: 'e' }),
    ).toEqual([{ name: 'dryRun', ...late, wouldHaveBeen: 'dry_run' }]);
    expect(await linesOf([], { ...request, name: 'echo' })).toEqual([
      { name: 'admission', ...late, wouldHaveBeen: 'schema_violation' },
    ]);
  });

  it('knows a tool that the turn did not offer', async () => {
    const { governed } = setup({ layers: [watch] });
    governed.advertise({ turn: { turnId: 't' }, select: [] });
    const { audit } = await governed.observe({ name: 'echo', arguments: {} }, 'x', {
      turn: { turnId: 't' },
    });

    expect(audit).toMatchObject({ kind: 'read', layers: [{ name: 'watch' }] });
  });

  it('tells what a scope and permissions would have said', async () => {
    const rules = permissions({
      checkers: [({ toolName }) => (toolName === 'web_search' ? 'deny' : 'no_opinion')],
    });
    const asks = permissions({ checkers: [() => 'require_approval'] });

    expect(
      await linesOf([
        scopedExecutor({ stage: 'plan', allowedTools: ['echo'] }),
        rules,
        asks,
        permissions({ checkers: [] }),
      ]),
    ).toEqual([
      { name: 'permissions', ...late, wouldHaveBeen: 'ok' },
      { name: 'permissions', ...late, wouldHaveBeen: 'approval_required' },
      { name: 'permissions', ...late, wouldHaveBeen: 'permission_denied' },
      { name: 'scopedExecutor', ...late, stage: 'plan', wouldHaveBeen: 'scope_violation' },
      unknown,
    ]);
  });

  it('leaves out a layer that has nothing to do with the tool', async () => {
    const elsewhere = when(
      (tool) => tool.toolName === 'echo',
      consent(() => false),
    );

    expect(await linesOf([elsewhere, dryRun({ only: ['send_*'] })])).toEqual([
      { name: 'dryRun', status: 'ok' },
      { name: 'consent', status: 'ok' },
      unknown,
    ]);
    expect(
      await linesOf([
        when(
          (tool) => tool.toolName === 'web_search',
          consent(() => false),
        ),
      ]),
    ).toEqual([{ name: 'consent', ...late }, unknown]);
  });

  it('writes down a word that cannot be had, and goes on', async () => {
    const strange = [
      () => Promise.reject(new Error('no store')),
      () => ({ status: 'ok', name: 'me' }),
      () => ({ at: Number.NaN }),
      () => 'x',
    ];
    const layers = strange.map((tooLate) =>
      defineLayer({
        name: 'odd',
        caller: (call, next) => next(call),
        tooLate: tooLate as unknown as () => null,
      }),
    );
    const lines = await linesOf([watch, ...layers]);

    expect(lines.map(({ name, status }) => `${name} ${status}`)).toEqual([
      ...strange.map(() => 'odd too_late'),
      ...['admission too_late', 'watch ok'],
    ]);
    expect(lines[3]).toMatchObject({ error: 'no store' });
  });

  it('counts the call with the limits of the stack and of the dispatcher, and cannot be refused by them', async () => {
    const limits = [callLimit({ maxCalls: 2 }), rateLimit({ maxCalls: 2 })];
    const { governed } = setup({ layers: limits, limits: { maxCallsPerSession: 2 } });
    const observed = [];
    for (let n = 0; n < 3; n += 1) observed.push(await governed.observe(request, n));
    const called = await governed.call({ name: 'echo', arguments: {} });

    expect(observed.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok']);
    expect(observed[2]?.audit?.layers).toMatchObject([
      { name: 'rateLimit', ...late, wouldHaveBeen: 'rate_limited', count: 2, cap: 2 },
      { name: 'callLimit', ...late, wouldHaveBeen: 'limit_exceeded', count: 2, cap: 2 },
      { name: 'limits', ...late, wouldHaveBeen: 'limit_exceeded' },
      { name: 'admission', ...late },
    ]);
    expect(called.status).toBe('limit_exceeded');
  });
});

describe('what is reported to observe', () => {
  it.each([
    ['a value', { hits: 3 }, 'ok', 'yes', null],
    ['nothing', undefined, 'ok', 'yes', null],
    [
      'an error of the tool',
      toolOutput({ content: [{ type: 'text', text: 'too long' }], isError: true }),
      'executor_error',
      'yes',
      'tool_error',
    ],
    [
      'an end nobody knows',
      toolFailure('lost', { executed: 'unknown' }),
      'outcome_unknown',
      'unknown',
      'outcome_unknown',
    ],
    ['any error', new Error('lost'), 'outcome_unknown', 'unknown', 'outcome_unknown'],
    [
      'a failure that did nothing',
      toolFailure('busy', { executed: 'no', category: 'busy' }),
      'executor_error',
      'no',
      'busy',
    ],
    [
      'a failure that ran',
      toolFailure('half', { executed: 'yes' }),
      'executor_error',
      'yes',
      'executor_error',
    ],
    [
      'a sign-in',
      toolFailure('sign in', { executed: 'yes', signIn: {} }),
      'executor_error',
      'yes',
      'executor_error',
    ],
    ['what is not JSON', () => {}, 'executor_error', 'yes', 'not_json'],
  ])('as %s is told from every other', async (_title, output, status, executed, errorCategory) => {
    const { governed, events } = setup({ layers: [watch] });
    const result = await governed.observe(request, output);

    expect(result).toMatchObject({
      status,
      executed,
      errorCategory,
      executor: 'provider_native',
      toolCallId: 's1',
    });
    expect(storyOf(events)).toEqual(['pending', 'audit', status === 'ok' ? 'completed' : 'failed']);
  });

  it('is held to the output schema of a tool that the provider runs, and of no other', async () => {
    const outputSchema = { type: 'object', required: ['hits'] } as const;
    const shape = { description: '', inputSchema: { type: 'object' }, outputSchema } as const;
    const toolList = () => [
      defineTool({ ...shape, name: 'web_search', executor: 'provider_native' }),
      defineTool({ ...shape, name: 'echo', execute: () => ({ hits: 1 }) }),
    ];
    const { governed } = setup({ toolList });

    expect((await governed.observe({ name: 'web_search', arguments: {} }, {})).status).toBe(
      'output_schema_violation',
    );
    expect((await governed.observe({ name: 'echo', arguments: {} }, {})).status).toBe('ok');
  });

  it('is held to the refinements of a schema library', async () => {
    const outputSchema = z.object({ hits: z.number() }).refine(({ hits }) => hits > 0);
    const tool = defineTool({
      name: 'web_search',
      description: '',
      inputSchema: {},
      outputSchema,
      executor: 'provider_native',
    });
    const { governed } = setup({ toolList: () => [tool] });

    expect(
      (await governed.observe({ name: 'web_search', arguments: {} }, { hits: 1 })).status,
    ).toBe('ok');
    expect(
      (await governed.observe({ name: 'web_search', arguments: {} }, { hits: 0 })).status,
    ).toBe('output_schema_violation');
  });

  it('is recorded without arguments that cannot be read', async () => {
    const { audit, arguments: args } = await setup({ layers: [watch] }).governed.observe(
      { name: 'echo', arguments: '{"q":' },
      1,
    );

    expect(args).toEqual({});
    expect(audit?.layers).toMatchObject([
      { name: 'admission', wouldHaveBeen: 'schema_violation', argumentsUnread: true },
      { name: 'watch' },
    ]);
  });

  it('becomes an output file when it is large, and is not kept when it is larger than any result', async () => {
    const outputFiles = memoryOutputs();
    const { governed } = setup({
      outputFiles,
      limits: { maxPreviewBytes: 64, maxResultBytes: 1_000 },
    });
    const large = await governed.observe(request, 'x'.repeat(500));
    const larger = await governed.observe(request, 'x'.repeat(2_000));

    expect(large).toMatchObject({ status: 'ok', outputFiles: [{ bytes: 500 }] });
    expect(outputFiles.texts[0]).toBe('x'.repeat(500));
    expect(larger).toMatchObject({
      status: 'executor_error',
      errorCategory: 'result_too_large',
      executed: 'yes',
    });
  });

  it('is recorded also for a caller that has gone', async () => {
    const sink = recordingSink<Receipt>();
    const { governed } = setup({
      layers: [auditLog(sink), redaction(() => settle().then(() => ({})))],
    });

    expect(await governed.observe(request, 1, { signal: AbortSignal.abort() })).toMatchObject({
      status: 'ok',
      executed: 'yes',
    });
    expect(sink.records).toMatchObject([
      { status: 'ok', executor: 'provider_native', tool_name: 'web_search' },
    ]);
  });

  it('has to come with options that can be read', async () => {
    const { governed } = setup();

    for (const options of [null, { signal: 'soon' }]) {
      await expect(governed.observe(request, 1, options as object)).rejects.toMatchObject({
        code: 'ERR_INVALID_OPTION',
      });
    }
  });

  it('leaves its receipt with a sink that is back, although it was down when the call was reported', async () => {
    const kept: Receipt[] = [];
    let isDown = true;
    const sink = (receipt: Receipt) =>
      isDown ? Promise.reject(new Error('down')) : void kept.push(receipt);
    const { governed } = setup({ layers: [auditLog(sink)] });
    const observed = [
      await governed.observe(request, 1),
      await governed.observe({ ...request, id: 's2' }, 2),
    ];
    const called = await governed.call({ name: 'echo', arguments: {} });
    isDown = false;
    await governed.close();

    expect(observed.map(({ status, executed }) => [status, executed])).toEqual([
      ['ok', 'yes'],
      ['ok', 'yes'],
    ]);
    expect(called.status).toBe('audit_unavailable');
    expect(kept.map(({ tool_call_id }) => tool_call_id)).toEqual(['s1', 's2']);
  });
});

describe('a layer that cleans, around a call that ran elsewhere,', () => {
  const inside: unknown[] = [];
  const peek = defineLayer({
    name: 'peek',
    observes: true,
    async caller(call, next) {
      const result = await next(call);
      inside.push([call.toolArgs, result.result, result.renderedResult]);
      return result;
    },
  });

  it('withholds everything where it would have refused, from the layers inside too', async () => {
    inside.length = 0;
    const { governed, events } = setup({
      layers: [watch, redaction({ detectors: ['card'], strategies: { card: 'block' } }), peek],
    });
    const result = await governed.observe(
      { ...request, arguments: { q: '4111 1111 1111 1111' } },
      'the owner of the card',
    );

    expect(result).toMatchObject({
      status: 'redacted',
      executed: 'yes',
      result: null,
      arguments: {},
    });
    expect(result.error).not.toContain('did not run');
    expect(inside).toHaveLength(1);
    expect(JSON.stringify([result, events, inside])).not.toMatch(/4111|owner/);
  });

  it('withholds everything where it fails', async () => {
    const broken = defineLayer({
      name: 'broken',
      scrub: (text) => text,
      caller: () => {
        throw new Error('no');
      },
    });
    const result = await setup({ layers: [watch, broken, peek] }).governed.observe(
      request,
      'kept back',
    );

    expect(result).toMatchObject({ status: 'tool_middleware_exception', executed: 'yes' });
    expect(JSON.stringify(result)).not.toContain('kept back');
  });

  it('cannot refuse after the fact', async () => {
    const refusing = defineLayer({
      name: 'refusing',
      scrub: (text) => text,
      caller: async (call, next) => {
        await next(withCall(call, { toolArgs: {} }));
        return refuse(call, 'policy_blocked', 'It did not run.');
      },
    });
    const result = await setup({ layers: [refusing] }).governed.observe(request, 'kept back');

    expect(result).toMatchObject({ status: 'redacted', executed: 'yes', result: null });
  });
});
