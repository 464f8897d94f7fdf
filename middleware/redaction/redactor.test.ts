import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { echoExecutor, settle } from '../../conformance/index.ts';
import {
  causeOf,
  type ContentBlock,
  fail,
  ok,
  type ToolProgress,
  withResult,
} from '../../src/index.ts';
import { answering, EMAIL, run, SECRET, shown } from './redaction.fixture.ts';
import { redaction, type Redactor } from './redaction.ts';

describe('redaction redactor', () => {
  const hides: Redactor = ({ phase, args, result }) =>
    phase === 'in'
      ? { args: { ...args, name: '***' }, redactedFields: ['name'] }
      : { result: { ...(result as object), owner: '***' }, redactedFields: ['owner'] };

  it('redactor is asked once for the arguments and once for the result, alone or beside detectors', async () => {
    const asked: unknown[] = [];
    const executor = echoExecutor();
    const spy: Redactor = (input) => (asked.push(input), hides(input));
    const result = await run(
      redaction(spy),
      { toolArgs: { name: 'Ada', owner: 'Lord Byron' } },
      executor,
    );

    expect(asked).toEqual([
      {
        phase: 'in',
        toolName: 'echo',
        args: { name: 'Ada', owner: 'Lord Byron' },
        result: null,
        text: null,
      },
      {
        phase: 'out',
        toolName: 'echo',
        args: { name: '***', owner: 'Lord Byron' },
        result: { name: '***', owner: 'Lord Byron' },
        text: null,
      },
    ]);
    expect(executor.calls[0]?.toolArgs).toEqual({ name: '***', owner: 'Lord Byron' });
    expect(result.result).toEqual({ name: '***', owner: '***' });
    expect(result.audit?.metadata).toEqual({ redactedIn: ['name'], redactedOut: ['owner'] });
  });

  it('redactor may answer later, with nothing, and gets what the detectors left', async () => {
    const seen: unknown[] = [];
    const layer = redaction({
      detectors: ['secrets'],
      redactor: async (input) => (seen.push(input.args), {}),
    });
    const result = await run(layer, { toolArgs: { a: SECRET } });

    expect(seen).toEqual([{ a: '[redacted:github]' }, { a: '[redacted:github]' }]);
    expect(result.audit?.metadata).toEqual({ redactedIn: ['a'], redactedOut: [] });
  });

  it('redactor may clean other texts with the layer that asks it', async () => {
    const cleaned: (string | undefined)[] = [];
    const told: ToolProgress[] = [];
    const layer = redaction({
      detectors: ['secrets', 'email'],
      redactor: () => (cleaned.push(layer.scrub?.(`password = "hunter2xyz" of ${EMAIL}`)), {}),
    });
    const result = await run(
      layer,
      { toolArgs: { a: SECRET }, report: (progress) => void told.push(progress) },
      async (call) => (call.report({ message: `got ${SECRET}` }), ok(call, { b: `x ${SECRET}` })),
    );

    expect(result).toMatchObject({
      arguments: { a: '[redacted:github]' },
      result: { b: 'x [redacted:github]' },
    });
    expect(told).toEqual([{ message: 'got [redacted:github]' }]);
    expect(cleaned).toEqual(
      Array.from({ length: 3 }, () => 'password = "[redacted:password]" of [redacted:email]'),
    );
  });

  it('redactor decides for every surface: what it took out is gone from the others too', async () => {
    const content: readonly ContentBlock[] = [
      { type: 'text', text: JSON.stringify({ owner: 'Lord Byron', id: 7 }) },
      { type: 'text', text: 'Owned by Lord Byron.' },
    ];
    const result = await run(
      redaction(hides),
      { toolArgs: { name: 'Ada Lovelace' } },
      async (call) =>
        withResult(ok(call, { owner: 'Lord Byron', id: 7 }, { content }), {
          metadata: { by: 'Lord Byron', asked: 'Ada Lovelace' },
        }),
    );

    expect(shown(result)).not.toContain('Byron');
    expect(shown(result)).not.toContain('Lovelace');
    expect(result.content[0]).toMatchObject({ text: '{"owner":"***","id":7}' });
    expect(result.content[1]).toMatchObject({ text: 'Owned by [redacted:custom].' });
  });

  it('redactor takes a member out, or a part of a text, and both are gone elsewhere', async () => {
    const layer = redaction(({ phase }) =>
      phase === 'in' ? {} : { result: { note: 'call *** now' } },
    );
    const content: readonly ContentBlock[] = [{ type: 'text', text: 'Lord Byron: 555-0101' }];
    const result = await run(
      layer,
      {},
      answering({ note: 'call 555-0101 now', owner: 'Lord Byron' }, content),
    );

    expect(result.renderedResult).toBe('[redacted:custom]: [redacted:custom]');
  });

  it('redactor is never shown what the detectors found, not even as progress', async () => {
    const seen: unknown[] = [];
    const layer = redaction({ redactor: (input) => (seen.push(input), {}) });
    await run(
      layer,
      { toolArgs: { a: SECRET } },
      async (call) => (call.report({ message: SECRET }), ok(call, SECRET)),
    );

    expect(seen).toHaveLength(3);
    expect(JSON.stringify(seen)).not.toContain(SECRET);
  });

  it('redactor that answers later leaves no listener on a long-lived signal', async () => {
    const { signal } = new AbortController();
    await run(
      redaction(async () => ({})),
      { signal },
    );

    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('redactor gets the text of content without a value, and of an error', async () => {
    const layer = redaction(({ text }) =>
      text === null ? {} : { text: text.replace('Byron', '***') },
    );
    const result = await run(layer, {}, answering(null, [{ type: 'text', text: 'Lord Byron' }]));
    const failed = await run(layer, {}, async (call) =>
      fail(call, 'executor_error', new Error('x'), 'no Byron here'),
    );

    expect(result.renderedResult).toBe('Lord ***');
    expect(result.content).toEqual([{ type: 'text', text: 'Lord ***' }]);
    expect(failed.error).toBe('no *** here');
    expect(failed.observation).toContain('no *** here');
  });

  it.each<[string, Redactor]>([
    ['takes it out', ({ text }) => (text === null ? {} : { text: text.replace(EMAIL, '***') })],
    ['answers too late', async () => ({})],
    ['throws', ({ text }) => (text === null ? {} : Promise.reject(new Error(EMAIL)))],
  ])('redactor that %s lets no progress text past', async (_name, redactor) => {
    const told: ToolProgress[] = [];
    await run(
      redaction(redactor),
      { report: (progress) => void told.push(progress) },
      async (call) => {
        call.report({ progress: 1, message: EMAIL });
        return ok(call);
      },
    );

    expect(told).toHaveLength(1);
    expect(JSON.stringify(told)).not.toContain(EMAIL);
  });

  const broken: readonly [string, (input: never) => unknown][] = [
    [
      'throws',
      () => {
        throw new Error(`about ${SECRET}`);
      },
    ],
    ['rejects', () => Promise.reject(new Error(`about ${SECRET}`))],
    ['answers nothing', () => undefined],
    ['answers null', () => null],
    ['answers a text', () => 'clean'],
    ['answers a list', () => []],
    ['misspells a member', () => ({ arg: {}, results: 1 })],
    ['answers arguments that are a list', () => ({ args: [] })],
    ['answers fields that are no names', () => ({ redactedFields: [1] })],
    [
      'answers what is not JSON',
      ({ phase }: { phase: string }) => (phase === 'in' ? { args: { a: 1n } } : { result: 1n }),
    ],
    ['answers with a text that is none', () => ({ text: 1 })],
  ];

  it.each(broken)('redactor that %s keeps the call from running', async (_name, redactor) => {
    const executor = echoExecutor();
    const result = await run(
      redaction(redactor as Redactor),
      { toolArgs: { a: SECRET } },
      executor,
    );

    expect(executor.calls).toEqual([]);
    expect(result).toMatchObject({ ok: false, status: 'redacted', executed: 'no', arguments: {} });
    expect(causeOf(result)).toBeUndefined();
    expect(shown(result)).not.toContain(SECRET);
  });

  it.each(broken)(
    'redactor that %s after the tool ran withholds the result',
    async (_name, redactor) => {
      const late = (input: { phase: string }) =>
        input.phase === 'in' ? {} : redactor(input as never);
      const result = await run(redaction(late as Redactor), {}, answering({ a: SECRET }));

      expect(result).toMatchObject({
        ok: false,
        status: 'redacted',
        executed: 'yes',
        result: null,
      });
      expect(result.audit?.layers).toMatchObject([
        { name: 'redaction', status: 'redacted', because: 'failed' },
      ]);
      expect(causeOf(result)).toBeUndefined();
      expect(shown(result)).not.toContain(SECRET);
    },
  );

  it.each(['in', 'out'])(
    'redactor that never answers in phase %s is left when the caller leaves',
    async (phase) => {
      const controller = new AbortController();
      const executor = echoExecutor();
      const layer = redaction((input) => (input.phase === phase ? new Promise(() => {}) : {}));
      const calling = run(layer, { signal: controller.signal, toolArgs: { a: SECRET } }, executor);
      await settle();
      controller.abort();
      const result = await calling;

      expect(result).toMatchObject({
        ok: false,
        status: 'cancelled',
        executed: phase === 'in' ? 'no' : 'yes',
        result: null,
      });
      expect(executor.calls).toHaveLength(phase === 'in' ? 0 : 1);
      expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    },
  );
});
