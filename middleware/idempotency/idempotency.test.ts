import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { createPass } from '../../src/core/onion/pass.ts';
import { createCall } from '../../src/core/onion/own-call.ts';
import {
  echoExecutor,
  makeCall,
  type PartialCall,
  settle,
  testClock,
} from '../../conformance/index.ts';
import {
  causeOf,
  composeToolCallers,
  defineLayer,
  defineTool,
  fail,
  governTools,
  type Next,
  ok,
  refuse,
  type ToolLayer,
  type ToolResult,
  withResult,
} from '../../src/index.ts';
import { type ClaimStore, memoryClaims } from '../../src/stores/index.ts';
import { dryRun } from '../dry-run/dry-run.ts';
import { type IdempotencyOptions, idempotency } from './idempotency.ts';

/** A stack with this layer outside the given ones. */
function start(
  options: IdempotencyOptions = {},
  executor: Next = echoExecutor(),
  inner: readonly ToolLayer[] = [],
  clock = testClock(),
) {
  let runs = 0;
  let calls = 0;
  const counting: Next = (call) => {
    runs += 1;
    return executor(call);
  };
  const stack = composeToolCallers([idempotency(options), ...inner], { clock });
  const call = (partial: PartialCall = {}) =>
    stack(makeCall({ callId: `call-${(calls += 1)}`, ...partial }), counting);
  return { clock, call, runs: () => runs };
}

const lineOf = (result: ToolResult) =>
  result.audit?.layers.find(({ name }) => name === 'idempotency');
const effect = (more: IdempotencyOptions = {}): IdempotencyOptions => ({ mode: 'effect', ...more });
const gate = (name: string, caller: ToolLayer['caller']) => defineLayer({ name, caller });

describe('idempotency', () => {
  it.each(['cache', 'effect'] as const)(
    'mode %s lets a first call through and answers the second without the tool',
    async (mode) => {
      const { call, runs } = start({ mode });
      const first = await call({ toolArgs: { a: 1, b: 2 } });
      const second = await call({ toolArgs: { b: 2, a: 1 } });

      expect(first).toMatchObject({ status: 'ok', executed: 'yes', toolCallId: 'call-1' });
      expect(second).toMatchObject({
        status: 'ok',
        executed: 'no',
        toolCallId: 'call-2',
        result: { a: 1, b: 2 },
      });
      expect(second.renderedResult).toBe(first.renderedResult);
      expect([lineOf(first), lineOf(second)]).toMatchObject([
        { status: 'miss', kept: true },
        { status: 'hit' },
      ]);
      expect(runs()).toBe(1);
    },
  );

  it.each(['cache', 'effect'] as const)(
    'mode %s runs other arguments and other tools',
    async (mode) => {
      const { call, runs } = start({ mode });
      await call({ toolArgs: { a: 1 } });
      await call({ toolArgs: { a: 2 } });
      await call({ toolArgs: { a: '1' } });
      await call({ toolName: 'other', toolArgs: { a: 1 } });

      expect(runs()).toBe(4);
    },
  );

  it('gives the whole answer again: value, blocks and text', async () => {
    const content = [
      { type: 'text', text: 'a picture' },
      { type: 'image', data: 'AA==', mimeType: 'image/png' },
    ] as const;
    const { call } = start({}, async (given) => ok(given, { n: 1 }, { content }));
    const [first, second] = [await call(), await call()];

    expect(second).toMatchObject({
      result: { n: 1 },
      content,
      renderedResult: first.renderedResult,
    });
    expect(Object.isFrozen(second.content)).toBe(true);
  });

  it('does not show again what a layer inside put a text in place of', async () => {
    const hides = gate('hides', async (call, next) =>
      withResult(await next(call), { renderedResult: '(hidden)' }),
    );
    const plain: Next = async (given) =>
      ok(given, { n: 1 }, { content: [{ type: 'text', text: 'plain' }] });
    const { call } = start({}, plain, [hides]);
    const [first, second] = [await call(), await call()];

    expect(second.renderedResult).toBe('(hidden)');
    expect(second.observation).toBe(first.observation);
    expect(second.content).toEqual(first.content);
  });

  it.each<[string, Next, ToolLayer[]]>([
    ['a preview', echoExecutor(), [dryRun()]],
    [
      'a refusal from inside',
      echoExecutor(),
      [gate('no', (call) => refuse(call, 'policy_blocked', 'no'))],
    ],
    [
      'an interruption',
      echoExecutor(),
      [gate('ask', (call) => refuse(call, 'approval_required', 'ask'))],
    ],
    ['an answer of a layer', echoExecutor(), [gate('own', (call) => ok(call, 'made up'))]],
    ['an error', () => Promise.reject(new Error('no')), []],
    [
      'an error the tool reported',
      async (call) => fail(call, 'executor_error', null, 'no', { executed: 'yes' }),
      [],
    ],
    [
      'an answer that was cut',
      async (call) =>
        withResult(ok(call, 'x'), {
          outputFiles: [{ uri: 'file:///x', bytes: 1, sha256: 'x', mediaType: 'text/plain' }],
        }),
      [],
    ],
    ['a status of its own', async (call) => ok(call, 'x', { status: 'half_done' }), []],
  ])('mode cache never keeps %s', async (_name, executor, inner) => {
    const { call } = start({}, executor, inner);

    expect(lineOf(await call())).toMatchObject({ status: 'miss', kept: false });
    expect(lineOf(await call())).toMatchObject({ status: 'miss', kept: false });
  });

  it.each<[string, ToolLayer]>([
    ['a refusal', gate('no', (call) => refuse(call, 'policy_blocked', 'no'))],
    ['an interruption', gate('ask', (call) => refuse(call, 'approval_required', 'ask'))],
    ['a preview', dryRun()],
    ['a layer that failed before the tool', gate('breaks', () => Promise.reject(new Error('x')))],
  ])(
    'mode effect gives the key back after %s inside, because nothing ran',
    async (_name, inner) => {
      let isOpen = false;
      const sometimes = gate('sometimes', (call, next) =>
        isOpen ? next(call) : inner.caller(call, next),
      );
      const { call, runs } = start(effect({ key: () => 'k' }), undefined, [sometimes]);
      await call({ toolArgs: { a: 1 } });
      isOpen = true;

      // With other arguments, as after an approval that edited them.
      expect(await call({ toolArgs: { a: 2 }, turn: { resumes: 1 } })).toMatchObject({
        status: 'ok',
        executed: 'yes',
      });
      expect(runs()).toBe(1);
    },
  );

  it.each<[string, Next]>([
    ['threw', () => Promise.reject(new Error('socket hang up'))],
    [
      'reported an error',
      async (call) => fail(call, 'executor_error', null, 'declined', { executed: 'yes' }),
    ],
    ['timed out', async (call) => fail(call, 'timeout', null, 'late', { executed: 'unknown' })],
    [
      'was cancelled midway',
      async (call) => fail(call, 'cancelled', null, 'gone', { executed: 'unknown' }),
    ],
  ])('mode effect never runs again what %s', async (_name, executor) => {
    const { call, clock, runs } = start(effect(), executor);
    await call();
    const again = await call();
    await clock.advance(1e9);

    expect(again).toMatchObject({
      ok: false,
      status: 'outcome_unknown',
      errorCategory: 'outcome_unknown',
      executed: 'no',
    });
    expect(await call()).toMatchObject({ status: 'outcome_unknown' });
    expect(lineOf(again)).toMatchObject({ status: 'unknown' });
    expect(runs()).toBe(1);
  });

  it('mode effect never runs again what ended well but left nothing to keep', async () => {
    const file = { uri: 'file:///x', bytes: 1, sha256: 'x', mediaType: 'text/plain' };
    const { call, runs } = start(effect(), async (given) =>
      withResult(ok(given, 'x'), { outputFiles: [file] }),
    );
    await call();

    expect(await call()).toMatchObject({ status: 'outcome_unknown' });
    expect(runs()).toBe(1);
  });

  it('mode effect refuses a key that was used for something else', async () => {
    const { call, runs } = start(effect({ key: () => 'order-1' }));
    await call({ toolArgs: { amount: 5 } });
    const others = [
      await call({ toolArgs: { amount: 6 } }),
      await call({ toolName: 'refund', toolArgs: { amount: 5 } }),
    ];

    for (const other of others) {
      expect(other).toMatchObject({
        status: 'idempotency_conflict',
        errorCategory: 'idempotency_conflict',
        executed: 'no',
        result: null,
      });
      expect(lineOf(other)).toMatchObject({ status: 'conflict' });
    }
    expect(runs()).toBe(1);
  });

  it('mode effect keeps an effect done when its tool is described anew', async () => {
    const { call, runs } = start(effect());
    await call();

    expect(
      await call({ description: 'Now says something else.', schema: { type: 'object' } }),
    ).toMatchObject({
      status: 'ok',
      executed: 'no',
    });
    expect(runs()).toBe(1);
  });

  it.each<[string, PartialCall]>([
    ['described', { description: 'new' }],
    ['asked', { schema: { type: 'object', properties: { a: {} } } }],
    ['annotated', { annotations: { openWorld: false } }],
  ])('mode cache does not answer for a tool that is %s differently now', async (_name, changed) => {
    const { call, runs } = start();
    await call();
    await call(changed);

    expect(runs()).toBe(2);
  });

  it('mode cache tells tools apart that share their annotations', async () => {
    const executor = echoExecutor();
    const stack = composeToolCallers([idempotency()]);
    const made = makeCall();
    const schemas = [{ type: 'object' }, { type: 'object', properties: {} }, { type: 'object' }];
    for (const schema of schemas)
      await stack(createCall({ ...made, schema }, createPass()), executor);

    expect(executor.calls).toHaveLength(2);
  });

  it('key says which calls are the same, and may take its time', async () => {
    const { call, runs } = start({ key: async (given) => JSON.stringify(given.toolArgs.path) });
    await call({ toolArgs: { path: 'a', at: 1 } });

    expect(lineOf(await call({ toolArgs: { path: 'a', at: 2 } }))).toMatchObject({ status: 'hit' });
    expect(lineOf(await call({ toolArgs: { path: 'b', at: 1 } }))).toMatchObject({
      status: 'miss',
    });
    expect(runs()).toBe(2);
  });

  const badKeys: [string, () => unknown][] = [
    ['nothing', () => undefined],
    ['an empty string', () => ''],
    ['a number', () => 7],
    ['an object', () => ({})],
    ['a promise of nothing', () => Promise.resolve(null)],
    ['an exception', () => JSON.parse('{') as unknown],
    ['a rejection', () => Promise.reject(new Error('no'))],
  ];

  it.each(badKeys)('key: %s passes through in mode cache', async (_name, key) => {
    const { call, runs } = start({ key: key as never });

    expect(lineOf(await call())).toMatchObject({ status: 'bypassed' });
    expect(await call()).toMatchObject({ status: 'ok', executed: 'yes' });
    expect(runs()).toBe(2);
  });

  it.each(badKeys)('key: %s refuses in mode effect', async (_name, key) => {
    const { call, runs } = start(effect({ key: key as never }));
    const result = await call();

    expect(result).toMatchObject({
      ok: false,
      status: 'tool_middleware_exception',
      executed: 'no',
      errorClass: 'fatal',
    });
    expect(causeOf(result)).toBeInstanceOf(Error);
    expect(runs()).toBe(0);
  });

  it('ttlMs is how long an answer is given again', async () => {
    const { call, clock, runs } = start({ ttlMs: 50 });
    await call();
    await clock.advance(49);
    await call();
    expect(runs()).toBe(1);
    await clock.advance(1);
    await call();

    expect(runs()).toBe(2);
  });

  it('ttlMs holds for a store that was given too', async () => {
    const clock = testClock();
    const stack = composeToolCallers(
      [idempotency({ ttlMs: 50, store: memoryClaims({ clock, ttlMs: 1e9 }) })],
      { clock },
    );
    const executor = echoExecutor();
    await stack(makeCall(), executor);
    await clock.advance(50);
    await stack(makeCall(), executor);

    expect(executor.calls).toHaveLength(2);
  });

  it('store: null turns the layer off', async () => {
    const { call, runs } = start({ store: null });
    await call();

    expect(await call()).toMatchObject({ executed: 'yes' });
    expect(runs()).toBe(2);
  });

  it('store may be shared by layers, and modes do not mix', async () => {
    const store = memoryClaims();
    const [first, second, other] = [start({ store }), start({ store }), start(effect({ store }))];
    await first.call();

    expect(await second.call()).toMatchObject({ executed: 'no' });
    expect(await other.call()).toMatchObject({ executed: 'yes' });
  });

  const down = () => Promise.reject(new Error('the store is down'));
  const broken = (parts: Partial<ClaimStore>): ClaimStore => ({ ...memoryClaims(), ...parts });

  it('store that fails to claim refuses in mode effect, and is passed by in mode cache', async () => {
    const store = broken({ claim: down });
    const [careful, careless] = [start(effect({ store })), start({ store })];

    expect(await careful.call()).toMatchObject({
      status: 'tool_middleware_exception',
      executed: 'no',
      errorClass: 'retryable',
    });
    expect(await careless.call()).toMatchObject({ status: 'ok', executed: 'yes' });
    expect([careful.runs(), careless.runs()]).toEqual([0, 1]);
  });

  it('store that says nothing usable refuses in mode effect', async () => {
    const { call, runs } = start(effect({ store: broken({ claim: () => undefined as never }) }));

    expect(await call()).toMatchObject({ status: 'tool_middleware_exception', executed: 'no' });
    expect(runs()).toBe(0);
  });

  it('store that fails to keep the answer does not take it away, and the effect is not repeated', async () => {
    const clock = testClock();
    const store = { ...memoryClaims({ clock }), complete: down, renew: down };
    const { call, runs } = start(effect({ store, leaseMs: 10 }), undefined, [], clock);
    const first = await call();
    const second = call();
    await clock.advance(1000);

    expect(first).toMatchObject({ status: 'ok', executed: 'yes' });
    expect(lineOf(first)).toMatchObject({ status: 'miss', kept: false });
    expect(await second).toMatchObject({ status: 'outcome_unknown' });
    expect(runs()).toBe(1);
  });

  it.each([
    ['an answer in another form', { state: 'done', answer: { text: 5 } }],
    [
      'an answer to what has no known end',
      { state: 'unknown', answer: { result: 1, content: [], text: '1' } },
    ],
  ] as const)('store that gives back %s is not believed', async (_name, odd) => {
    const store = broken({
      claim: () => ({ won: false, record: { ...odd, fingerprint: null, token: 't' } }),
    });
    const [careful, careless] = [start(effect({ store })), start({ store })];

    expect(await careful.call()).toMatchObject({ status: 'outcome_unknown' });
    expect(await careless.call()).toMatchObject({ status: 'ok', executed: 'yes' });
  });

  it('maxEntries bounds what is kept, and an effect without its answer is still not repeated', async () => {
    const [cache, once] = [start({ maxEntries: 1 }), start(effect({ maxEntries: 1 }))];
    for (const stack of [cache, once])
      for (const a of [1, 2]) await stack.call({ toolArgs: { a } });

    expect(await cache.call({ toolArgs: { a: 1 } })).toMatchObject({
      status: 'ok',
      executed: 'yes',
    });
    expect(await once.call({ toolArgs: { a: 1 } })).toMatchObject({
      status: 'outcome_unknown',
      executed: 'no',
    });
    expect(await once.call({ toolArgs: { a: 2 } })).toMatchObject({ status: 'ok', executed: 'no' });
  });

  it.each<[string, IdempotencyOptions['scope'], boolean]>([
    ['keeps sessions apart when nothing is said', undefined, false],
    ["'session' keeps sessions apart", 'session', false],
    ["'global' joins them", 'global', true],
    ['a function joins whom it names alike', () => 'ada', true],
    [
      'a function keeps apart whom it names differently',
      (call) => Promise.resolve(call.turn.sessionId),
      false,
    ],
  ])('scope %s', async (_name, scope, joined) => {
    const { call } = start(scope === undefined ? {} : { scope });
    await call();

    expect((await call({ turn: { sessionId: 'other' } })).executed).toBe(joined ? 'no' : 'yes');
  });

  it('scope that names nobody refuses in mode effect', async () => {
    const { call, runs } = start(effect({ scope: () => '' }));

    expect(await call()).toMatchObject({ status: 'tool_middleware_exception' });
    expect(runs()).toBe(0);
  });

  it.each(['cache', 'effect'] as const)(
    'source keeps apart what dispatchers share a store for in mode %s',
    async (mode) => {
      const store = memoryClaims();
      const ran: string[] = [];
      const payBy = (name: string, source?: string) => {
        const tool = defineTool({
          name: 'pay',
          description: 'Pays.',
          inputSchema: { type: 'object' },
          execute: () => void ran.push(name),
        });
        const layer = idempotency({ mode, store, ...(source === undefined ? {} : { source }) });
        return governTools({ tools: [tool], layers: [layer] }).call(
          { name: 'pay', arguments: { order: 1 } },
          { turn: { sessionId: 'one session' } },
        );
      };
      for (const source of ['test', 'live', 'live']) await payBy(source, source);
      for (const name of ['unnamed', 'unnamed too']) await payBy(name);

      expect(ran).toEqual(['test', 'live', 'unnamed']);
    },
  );

  it('source is no part of a key where there is none, so that effects on disk are found again', async () => {
    const keys: string[] = [];
    const files = memoryClaims();
    const store: ClaimStore = {
      ...files,
      claim: (key, request) => (keys.push(key), files.claim(key, request)),
    };
    await start(effect({ store })).call({ toolArgs: { a: 1 } });

    expect(keys).toEqual([
      'sha256:437494341e6205b13652f23d185d5b131c9f4c4468972e6df447dbb76a8c6a05',
    ]);
  });

  it('mode effect says "unknown" once leaseMs have gone by without a word from the owner', async () => {
    const clock = testClock();
    const stack = composeToolCallers(
      [idempotency(effect({ leaseMs: 90, store: memoryClaims({ clock }) }))],
      { clock },
    );
    const controller = new AbortController();
    void stack(makeCall({ signal: controller.signal }), () => new Promise(() => {}));
    const waiting = stack(makeCall({ callId: 'second' }), echoExecutor());
    await clock.advance(1000);
    controller.abort();
    await clock.advance(1000);

    expect(await waiting).toMatchObject({ status: 'outcome_unknown', toolCallId: 'second' });
    expect(clock.pending).toBe(0);
  });

  it.each([
    [
      '__proto__',
      JSON.parse('{"__proto__": 1}') as object,
      JSON.parse('{"__proto__": 2}') as object,
    ],
    ['constructor', { constructor: 1 }, { constructor: 2 }],
    ['a nested __proto__', JSON.parse('{"a": {"__proto__": {"b": 1}}}') as object, { a: {} }],
    ['a number and its text', { a: 1 }, { a: '1' }],
    ['a list and an object', { a: [1] }, { a: { 0: 1 } }],
    ['half a megabyte', { a: 'x'.repeat(500_000) }, { a: `${'x'.repeat(499_999)}y` }],
  ])('tells arguments apart that differ under %s', async (_name, one, two) => {
    for (const mode of ['cache', 'effect'] as const) {
      const { call, runs } = start({ mode });
      await call({ toolArgs: one });
      await call({ toolArgs: two });

      expect(runs()).toBe(2);
      expect(await call({ toolArgs: one })).toMatchObject({ executed: 'no' });
    }
  });

  it.each([
    ['__proto__', '__proto__'],
    ['constructor', 'constructor'],
    ['half a character', '\ud800'],
    ['a megabyte', 'k'.repeat(1_000_000)],
  ])('takes any text for a key: %s', async (_name, key) => {
    const { call, runs } = start(effect({ key: () => key }));
    await call({ toolName: '__proto__' });

    expect(await call({ toolName: '__proto__' })).toMatchObject({ status: 'ok', executed: 'no' });
    expect(await call({ toolName: 'toString' })).toMatchObject({ status: 'idempotency_conflict' });
    expect(runs()).toBe(1);
  });

  it('does not join a key with arguments that spell it', async () => {
    const store = memoryClaims();
    const named = start({ store, key: () => '["args","echo","{}"]' });
    await named.call();

    expect(await start({ store }).call()).toMatchObject({ executed: 'yes' });
  });

  it('puts neither keys nor arguments into the record or an error', async () => {
    const secret = 'hunter2-secret';
    const { call } = start(effect({ key: () => secret }));
    const results = [
      await call({ toolArgs: { pin: secret } }),
      await call({ toolArgs: { pin: secret } }),
      await call({ toolArgs: { other: 1 } }),
    ];
    const failing = await start(effect({ key: () => Promise.reject(new Error(secret)) })).call();

    for (const { audit, error } of [...results, failing])
      expect(JSON.stringify([audit, error])).not.toContain(secret);
  });

  it('leaves no timer and no listener behind', async () => {
    const { signal } = new AbortController();
    const { call, clock } = start(effect());
    await Promise.all([call({ signal }), call({ signal }), call({ signal })]);
    await settle();

    expect(clock.pending).toBe(0);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('must stand outside redaction where it guards effects, and should stand inside consent and requiredReason', () => {
    const [redaction, consent] = ['redaction', 'consent'].map((name) =>
      gate(name, (call, next) => next(call)),
    ) as [ToolLayer, ToolLayer];

    expect(() => composeToolCallers([redaction, idempotency(effect())])).toThrow(
      'would join two effects',
    );
    expect(() => composeToolCallers([consent, idempotency(effect()), redaction])).not.toThrow();
    expect(() => composeToolCallers([redaction, idempotency(), consent])).not.toThrow();
    expect(idempotency().order).toMatchObject([
      { insideOf: 'consent', level: 'should' },
      { insideOf: 'requiredReason', level: 'should' },
    ]);
  });

  it.each([
    [null],
    [{ key: 'a' }],
    [{ store: { claim: () => null } }],
    [{ mode: 'both' }],
    [{ scope: 5 }],
    [{ source: '' }],
    [{ ttlMs: -1 }],
    [{ lease: 1 }],
  ])('refuses %j', (options) => {
    expect(() => idempotency(options as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error,
    );
  });
});
