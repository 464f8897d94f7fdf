import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../core/json/json-value.ts';
import { recordingSink } from '../../../conformance/index.ts';
import {
  auditLog,
  consent,
  dryRun,
  idempotency,
  outputLimit,
  rateLimit,
  redaction,
  requiredReason,
  scopedExecutor,
} from '../../../middleware/index.ts';
import { defineLayer, withCall, withResult } from '../../index.ts';
import { ELICITS, ERAS, metaIn, NOTE, said, scripted, statusIn } from './scripted.fixture.ts';

const SECRET = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
const WEATHER: JsonObject = {
  name: 'weather',
  description: 'The weather.',
  inputSchema: { type: 'object' },
  outputSchema: {
    type: 'object',
    properties: { degrees: { type: 'number' }, words: { type: 'string' } },
    required: ['degrees'],
  },
};
const structured = (value: JsonObject): JsonObject => ({
  content: [{ type: 'text', text: JSON.stringify(value) }],
  structuredContent: value,
});

/** Every member of a message, however deep. */
const nulls = (value: unknown): number =>
  value === null
    ? 1
    : typeof value === 'object'
      ? Object.values(value).reduce((sum: number, each) => sum + nulls(each), 0)
      : 0;

describe('pitfalls of results', () => {
  it.each(ERAS)(
    '1 · output schema: a dry run of a tool with one is an error a client can read (%s)',
    async (era) => {
      const { client, server } = await scripted({ era, stack: [dryRun()], tools: [WEATHER, NOTE] });

      const strict = await client.call('weather');
      const free = await client.call('note');

      expect(strict).toMatchObject({
        isError: true,
        _meta: { 'allium/status': 'dry_run', 'allium/executed': 'no' },
      });
      expect(strict).not.toHaveProperty('structuredContent');
      expect(free.isError).not.toBe(true);
      expect(server.calls).toHaveLength(0);
    },
  );

  it('1 · output schema: a result that redaction makes unfit is an error, one that still fits is not', async () => {
    const outputSchema = {
      type: 'object',
      properties: { word: { type: 'string', pattern: '^ghp_' } },
      required: ['word'],
    };
    const { client, server } = await scripted({
      stack: [redaction()],
      tools: [
        { ...WEATHER, outputSchema },
        { ...WEATHER, name: 'free', outputSchema: { type: 'object' } },
      ],
      onCall: () => structured({ word: SECRET }),
    });

    const unfit = await client.call('weather');
    const fit = await client.call('free');

    expect(unfit).toMatchObject({ isError: true });
    expect(unfit).not.toHaveProperty('structuredContent');
    expect(fit).toHaveProperty('structuredContent');
    expect(JSON.stringify([unfit, fit])).not.toContain(SECRET);
    expect(server.calls).toHaveLength(2);
  });

  it('1 · output schema: what idempotency has kept fits as it did the first time', async () => {
    const { client, server } = await scripted({
      stack: [idempotency()],
      tools: [WEATHER],
      onCall: () => structured({ degrees: 7 }),
    });

    const first = await client.call('weather');
    const again = await client.call('weather');

    expect(again.structuredContent).toEqual({ degrees: 7 });
    expect(again.content).toEqual(first.content);
    expect(server.calls).toHaveLength(1);
  });

  it('1 · output schema: a result that was cut is an error, or keeps its form', async () => {
    const { client } = await scripted({
      stack: [outputLimit({ maxBytes: 512 })],
      tools: [WEATHER],
      onCall: () => structured({ degrees: 7, words: 'x'.repeat(5000) }),
    });

    const cut = await client.call('weather');

    expect(JSON.stringify(cut).length).toBeLessThan(5000);
    if (cut.isError !== true) expect(cut.structuredContent).toMatchObject({ degrees: 7 });
  });

  it.each(ERAS)(
    '2 · redaction rewrites the text and the structure, which servers fill with the same (%s)',
    async (era) => {
      const { client, server } = await scripted({
        era,
        stack: [redaction()],
        onCall: () => ({
          ...structured({ token: SECRET, kind: 'x' }),
          _meta: { trail: SECRET },
          beside: [SECRET],
        }),
      });

      const result = await client.call('note');

      expect(JSON.stringify(client.got)).not.toContain(SECRET);
      expect(result).toMatchObject({ structuredContent: { kind: 'x' } });
      expect(server.calls).toHaveLength(1);
    },
  );

  it.each([
    ['message', { code: -32_000, message: `no entry for ${SECRET}` }],
    ['data', { code: -32_000, message: 'no entry', data: { seen: [SECRET] } }],
  ])(
    '2 · redaction rewrites progress, and the %s of an error of the protocol',
    async (_member, error) => {
      const { client, server } = await scripted({
        stack: [redaction()],
        onCall(params, served) {
          const { progressToken = null } = metaIn(params);
          served.send({
            jsonrpc: '2.0',
            method: 'notifications/progress',
            params: { progressToken, progress: 1, message: `at ${SECRET}` },
          });
          return error;
        },
      });

      const answer = await client.call('note', {}, { _meta: { progressToken: 'p' } });

      expect(answer.code === error.code || answer.isError === true).toBe(true);
      expect(client.got.map(({ method }) => method)).toContain('notifications/progress');
      expect(JSON.stringify(client.got)).not.toContain(SECRET);
      expect(server.calls).toHaveLength(1);
    },
  );

  it('4 · a tool that owns the field keeps its value, and requires it once', async () => {
    const own = {
      ...NOTE,
      name: 'own',
      inputSchema: {
        type: 'object',
        properties: { reason: { type: 'string' } },
        required: ['reason'],
      },
    };
    const { client, server } = await scripted({ stack: [requiredReason()], tools: [own, NOTE] });

    const [owner, other] = await client.list();
    await client.call('own', { reason: 'of its own' });
    await client.call('note', { reason: 'of ours', text: 'x' });

    expect(owner?.inputSchema).toMatchObject({ required: ['reason'] });
    expect(other?.inputSchema).toMatchObject({ required: ['reason'] });
    expect(server.calls.map((call) => call.arguments)).toEqual([
      { reason: 'of its own' },
      { text: 'x' },
    ]);
  });

  it.each(ERAS)('13 · no optional member is sent as null (%s)', async (era) => {
    const sink = recordingSink();
    const { client, server } = await scripted({
      era,
      stack: [
        auditLog(sink),
        consent({ default: 'deny', rules: [{ tool: 'note', decision: 'allow' }] }),
      ],
      tools: [NOTE, { ...NOTE, name: 'other' }],
    });

    await client.list();
    await client.call('note', { text: 'x' });
    await client.call('other');
    await client.call('unknown');

    expect(nulls(client.got)).toBe(0);
    expect(nulls(server.got)).toBe(0);
    expect(server.calls).toHaveLength(1);
  });

  it('14 · limits and scopes see the call that runs, not the one that came in', async () => {
    const renaming = defineLayer({
      name: 'renaming',
      caller: (call, next) =>
        next(withCall(call, { toolArgs: { ...call.toolArgs, to: 'production' } })),
    });
    const { client, server } = await scripted({
      stack: [
        renaming,
        rateLimit({ maxCalls: 1, per: ({ toolArgs }) => JSON.stringify(toolArgs.to) }),
      ],
    });

    const first = await client.call('note', { to: 'one' });
    const second = await client.call('note', { to: 'another' });

    expect(statusIn(first)).toBeUndefined();
    expect(statusIn(second)).toBe('rate_limited');
    expect(server.calls.map((call) => call.arguments)).toEqual([{ to: 'production' }]);
  });

  it('14 · a scope holds for the tool that is called', async () => {
    const { client, server } = await scripted({
      stack: [scopedExecutor({ allowedTools: ['note'] })],
      tools: [NOTE, { ...NOTE, name: 'other' }],
    });

    expect(statusIn(await client.call('other'))).toBe('scope_violation');
    expect(statusIn(await client.call('note'))).toBeUndefined();
    expect(server.calls.map(({ name }) => name)).toEqual(['note']);
  });

  it('15 · a tool that says nothing of itself counts as destructive, and one that calls itself harmless does, too', async () => {
    const harmless = {
      ...NOTE,
      name: 'harmless',
      annotations: { readOnlyHint: true, destructiveHint: false },
    };
    const ask = { stack: [consent({})], tools: [NOTE, harmless], capabilities: ELICITS };
    const careful = await scripted(ask);
    const trusting = await scripted({ ...ask, trustAnnotations: true });
    for (const { client } of [careful, trusting]) {
      client.onQuestion = () => ({ action: 'decline' });
      for (const name of ['note', 'harmless']) await client.call(name);
    }

    expect(careful.server.calls).toHaveLength(0);
    expect(trusting.server.calls.map(({ name }) => name)).toEqual(['harmless']);
  });

  it('15 · a rule about one tool counts more than what the server says of it', async () => {
    const rules = [{ tool: 'note', decision: 'allow' as const }];
    const { client, server } = await scripted({
      stack: [consent({ rules, default: 'deny' })],
      tools: [{ ...NOTE, annotations: { destructiveHint: true } }],
    });

    await client.call('note');

    expect(server.calls).toHaveLength(1);
  });

  it('16 · an answer that no server made says that it is complete, where the revision wants it', async () => {
    const stack = [consent({ default: 'deny' })];
    const modern = await scripted({ era: 'modern', stack });
    const legacy = await scripted({ era: 'legacy', stack });

    expect(await modern.client.call('note')).toMatchObject({
      resultType: 'complete',
      isError: true,
    });
    expect(await legacy.client.call('note')).not.toHaveProperty('resultType');
    expect([...modern.server.calls, ...legacy.server.calls]).toHaveLength(0);
  });

  it('16 · a list that layers change may not be kept by a modern client', async () => {
    const { client } = await scripted({ era: 'modern', stack: [requiredReason()] });

    expect((await client.request('tools/list')).result).toMatchObject({
      ttlMs: 0,
      cacheScope: 'private',
    });
  });

  it('16 · of an answer that a layer withheld nothing goes on, whatever stands beside its content', async () => {
    const withholding = defineLayer({
      name: 'withholding',
      caller: async (call, next) =>
        withResult(await next(call), {
          ok: false,
          status: 'redacted',
          error: 'withheld',
          result: null,
          content: [],
        }),
    });
    const { client, server } = await scripted({
      stack: [withholding],
      onCall: () => ({
        content: [{ type: 'text', text: 'plain' }],
        note: 'beside',
        _meta: { 'vendor/word': 'beside' },
      }),
    });

    const answer = await client.call('note');

    expect(server.calls).toHaveLength(1);
    expect(answer).toMatchObject({ isError: true, _meta: { 'allium/status': 'redacted' } });
    expect(JSON.stringify(answer)).not.toMatch(/beside|plain/);
  });

  it.each(['allium/status', 'Allium/receipt', 'allium/anything'])(
    '16 · a server cannot say %s for the proxy',
    async (member) => {
      const { client } = await scripted({
        stack: [rateLimit({ maxCalls: 5 })],
        onCall: () => ({
          content: [{ type: 'text', text: 'plain' }],
          _meta: { [member]: 'forged', 'vendor/word': 'kept' },
        }),
      });

      const answer = await client.call('note');

      expect(metaIn(answer)).toMatchObject({ 'vendor/word': 'kept' });
      expect(JSON.stringify(answer)).not.toContain('forged');
    },
  );

  it.each(['allium/status', 'ALLIUM/status', 'allium\u200b/status', '\uff41llium/status'])(
    '16 · a server cannot say %j for the proxy in a block, a resource or beside the content',
    async (member) => {
      const forged = { [member]: 'forged', 'vendor/word': 'kept' };
      const resource = { uri: 'x:y', text: 'z', _meta: forged };
      const { client } = await scripted({
        stack: [rateLimit({ maxCalls: 5 })],
        onCall: () => ({
          content: [
            { type: 'text', text: 'plain', _meta: forged },
            { type: 'resource', resource },
          ],
          ...{ _meta: forged, [member]: 'forged' },
        }),
      });

      const answer = await client.call('note');

      expect(JSON.stringify(answer)).not.toContain('forged');
      expect(answer.content).toMatchObject([
        { _meta: { 'vendor/word': 'kept' } },
        { resource: { _meta: { 'vendor/word': 'kept' } } },
      ]);
    },
  );

  it('17 · keys that come later are waited for, and sessions do not share answers', async () => {
    const later = async (): Promise<string> => 'everybody';
    const limited = await scripted({ stack: [rateLimit({ maxCalls: 1, per: later })] });
    await limited.client.call('note');
    expect(statusIn(await limited.client.call('note', { other: true }))).toBe('rate_limited');
    expect(limited.server.calls).toHaveLength(1);

    const kept = idempotency({ key: async ({ toolArgs }) => JSON.stringify(toolArgs.key) });
    const one = await scripted({
      stack: [kept],
      session: { sessionId: 'one' },
      onCall: () => said('of one'),
    });
    const two = await scripted({
      stack: [kept],
      session: { sessionId: 'two' },
      onCall: () => said('of two'),
    });
    for (const { client } of [one, one, two]) await client.call('note', { key: 'a' });

    expect(one.server.calls).toHaveLength(1);
    expect(two.server.calls).toHaveLength(1);
    expect(await two.client.call('note', { key: 'a' })).toMatchObject(said('of two'));
  });
});
