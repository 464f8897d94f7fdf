import { describe, expect, it } from 'vitest';
import { annotate, refuse } from './results.ts';
import { stateOf } from './own-call.ts';
import {
  CAPTAIN_ORDER,
  type CaptainName,
  captainLayers,
  type CaptainOptions,
} from '../../../conformance/captain.fixture.ts';
import { echoExecutor, makeCall, testClock } from '../../../conformance/test-kit.ts';
import { type ComposeOptions, composeToolCallers } from './compose.ts';
import { explainStack } from './explain.ts';
import { defineLayer, type ToolCaller, type ToolLayer } from '../contract/layer.ts';
import { checkOptions, expected } from '../contract/options.ts';
import type { ToolResult } from '../contract/result.ts';
import { WITHHELD } from './scrub.ts';

const pass: ToolCaller = (call, next) => next(call);
const layer = (name: string, caller: ToolCaller = pass): ToolLayer => ({ name, caller });

describe('law 10: options are checked when a layer is made', () => {
  /** A layer as the bundled ones are made. */
  function rateLimit(options: unknown): ToolLayer {
    checkOptions('rateLimit', options, {
      maxCalls: expected.required(expected.integer(1)),
      per: expected.oneOf('tool', 'session'),
    });
    return defineLayer(layer('rateLimit'));
  }

  it.each([
    ['a missing one', {}, { option: 'maxCalls', got: 'nothing' }],
    ['a misspelt one', { maxCall: 1 }, { option: 'maxCall', expected: 'maxCalls | per' }],
    [
      'a mistyped one',
      { maxCalls: '3' },
      { option: 'maxCalls', expected: 'a whole number of at least 1', got: 'a string' },
    ],
    ['one out of range', { maxCalls: 0 }, { option: 'maxCalls', got: '0' }],
    [
      'an unknown word',
      { maxCalls: 1, per: 'hour' },
      { option: 'per', expected: 'one of "tool", "session"' },
    ],
    ['no object at all', 3, { option: 'options', expected: 'an object' }],
  ])('and %s throws with layer, option, expected and got', (_, options, details) => {
    expect(() => rateLimit(options)).toThrow(
      expect.objectContaining({
        code: 'ERR_INVALID_OPTION',
        details: expect.objectContaining({ layer: 'rateLimit', ...details }) as unknown,
      }),
    );
  });

  it.each([
    ['a clock that is none', { clock: 5 }],
    ['ids that nobody makes', { createId: 'id' }],
    ['a misspelt option', { clok: testClock() }],
    ['null', null],
  ])('and compose refuses %s', (_, options) => {
    const compose = () => composeToolCallers([], options as unknown as ComposeOptions); // Wrong on purpose.

    expect(compose).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
  });

  it('and by the first call nothing can be misconfigured', async () => {
    const result = await composeToolCallers([rateLimit({ maxCalls: 1 })])(
      makeCall(),
      echoExecutor(),
    );

    expect(result.ok).toBe(true);
  });
});

describe('law 11: order mistakes are caught when composed', () => {
  /** The captain order with one layer taken out and put right before or after another. */
  function moved(
    name: CaptainName,
    side: 'before' | 'after',
    other: CaptainName,
  ): readonly CaptainName[] {
    const rest = CAPTAIN_ORDER.filter((each) => each !== name);
    const at = rest.indexOf(other) + (side === 'before' ? 0 : 1);
    return [...rest.slice(0, at), name, ...rest.slice(at)];
  }

  it('and the captain order composes without a complaint', () => {
    expect(composeToolCallers(captainLayers()).layers.map(({ name }) => name)).toEqual(
      CAPTAIN_ORDER,
    );
    expect(explainStack(captainLayers())).toMatch(/The order breaks no rule\.$/);
  });

  it.each<[string, readonly CaptainName[], CaptainOptions, string]>([
    [
      'timeout outside consent',
      moved('timeout', 'before', 'consent'),
      {},
      'the time a person takes to decide would count as the tool being slow',
    ],
    [
      'audit inside consent',
      moved('auditLog', 'after', 'consent'),
      {},
      'calls that a person or a rule refused would leave no receipt',
    ],
    [
      'captured payloads outside redaction',
      CAPTAIN_ORDER,
      { captureContent: true },
      'captured arguments would leave as the model sent them',
    ],
    [
      'an effect key of masked values',
      CAPTAIN_ORDER,
      { effectKeys: true },
      'an effect key made from masked values would join two effects',
    ],
  ])('and %s throws with the reason', (_, order, options, because) => {
    const compose = () => composeToolCallers(captainLayers(order, options));

    expect(compose).toThrow(expect.objectContaining({ code: 'ERR_LAYER_ORDER' }));
    expect(compose).toThrow(because);
  });

  it.each<[string, readonly CaptainName[], CaptainOptions]>([
    [
      'captured payloads inside redaction',
      moved('telemetry', 'after', 'redaction'),
      { captureContent: true },
    ],
    [
      'an effect key of what the model sent',
      moved('idempotency', 'before', 'redaction'),
      { effectKeys: true },
    ],
    ['a stack without the other layer', ['timeout'], {}],
  ])('and %s is in order', (_, order, options) => {
    expect(() => composeToolCallers(captainLayers(order, options))).not.toThrow();
  });

  it('also in a stack that is put together from stacks', () => {
    const [timeout, consent] = [['timeout'], ['consent']].map((order) =>
      composeToolCallers(captainLayers(order as CaptainName[])),
    );

    expect(() => composeToolCallers([timeout, consent] as ToolCaller[])).toThrow(
      expect.objectContaining({ code: 'ERR_LAYER_ORDER' }),
    );
    expect(() => composeToolCallers([consent, timeout] as ToolCaller[])).not.toThrow();
  });

  it('while a violated should is advice only', () => {
    const stack = captainLayers(moved('rateLimit', 'before', 'idempotency'));

    expect(() => composeToolCallers(stack)).not.toThrow();
    expect(explainStack(stack)).toContain(
      '! "rateLimit" should stand inside "idempotency": outside it, an answer that is given again would use up the limit',
    );
  });
});

describe('law 12: clock and ids come from outside', () => {
  const seenBy =
    (seen: { now: number; id: string }[]): ToolCaller =>
    (call, next) => {
      const { clock, createId } = stateOf(call);
      seen.push({ now: clock.now(), id: createId() });
      return next(call);
    };

  it('and travel in the slot of the call', async () => {
    const seen: { now: number; id: string }[] = [];
    const options = { clock: testClock(1_000), createId: () => 'id-1' };
    const result = await composeToolCallers([seenBy(seen)], options)(makeCall(), echoExecutor());

    expect(seen).toEqual([{ now: 1_000, id: 'id-1' }]);
    expect(result.audit?.layers[0]?.startedAt).toBe('1970-01-01T00:00:01.000Z');
  });

  it('and those of the call are used where the stack has none', async () => {
    const seen: { now: number; id: string }[] = [];
    const call = makeCall({}, { clock: testClock(2_000), createId: () => 'id-2' });
    await composeToolCallers([seenBy(seen)])(call, echoExecutor());

    expect(seen).toEqual([{ now: 2_000, id: 'id-2' }]);
  });

  it('and the outer stack decides for the stacks in it', async () => {
    const seen: { now: number; id: string }[] = [];
    const inner = composeToolCallers([seenBy(seen)], {
      clock: testClock(3_000),
      createId: () => 'inner',
    });
    await composeToolCallers([inner], { createId: () => 'outer' })(makeCall(), echoExecutor());

    expect(seen).toEqual([{ now: 3_000, id: 'outer' }]);
  });

  it('and an answer of a layer took the tool no time', async () => {
    const clock = testClock();
    const late = layer('late', async (call, next) => {
      await next(call);
      await clock.advance(250);
      return refuse(call, 'policy_blocked', 'On second thoughts, no.');
    });

    expect(
      (await composeToolCallers([late], { clock })(makeCall(), echoExecutor())).executionDurationMs,
    ).toBe(0);
  });

  it('and the time an executor takes is measured on it', async () => {
    const clock = testClock();
    const executor = echoExecutor();
    const result = await composeToolCallers([pass], { clock })(makeCall(), async (call) => {
      await clock.advance(250);
      return executor(call);
    });

    expect(result.executionDurationMs).toBe(250);
  });
});

describe('law 13: every string of the audit record is scrubbed before anybody reads it', () => {
  const masking = (name: string, secret: string): ToolLayer => ({
    ...layer(name),
    scrub: (text) => text.replaceAll(secret, '***'),
  });
  const telling = (name: string): ToolLayer =>
    layer(name, async (call, next) => {
      const result = await next(call);
      const patch = {
        summary: 'hunter2',
        metadata: { deep: ['hunter2', { hunter2: 1 }] },
        'key hunter2': 1,
      };
      return annotate(result, patch, { detail: 'hunter2', 'own hunter2': 1 });
    });
  const textOf = (result: ToolResult): string => JSON.stringify(result.audit);

  it.each([
    ['outermost', (mask: ToolLayer) => [mask, telling('a'), telling('b')]],
    ['innermost', (mask: ToolLayer) => [telling('a'), telling('b'), mask]],
  ])('whoever wrote it, with the cleaner %s', async (_, stackWith) => {
    const seen: string[] = [];
    const reading = layer('reading', async (call, next) => {
      const result = await next(call);
      seen.push(textOf(result));
      return result;
    });
    const result = await composeToolCallers([reading, ...stackWith(masking('mask', 'hunter2'))])(
      makeCall(),
      echoExecutor(),
    );

    expect([...seen, textOf(result)].join()).not.toContain('hunter2');
    expect(result.audit).toMatchObject({
      summary: '***',
      metadata: { deep: ['***', { '***': 1 }] },
      'key ***': 1,
    });
    expect(result.audit?.layers.find(({ name }) => name === 'a')).toMatchObject({
      detail: '***',
      'own ***': 1,
    });
  });

  it('also what a layer threw', async () => {
    const bad = layer('bad', () => {
      throw new Error('login with hunter2 failed');
    });
    const result = await composeToolCallers([bad, masking('mask', 'hunter2')])(
      makeCall(),
      echoExecutor(),
    );

    expect(result.audit?.layers.map(({ error }) => error)).toEqual(['login with *** failed']);
  });

  it('by every cleaner of the stack', async () => {
    const stack = [masking('one', 'hunter'), telling('a'), masking('two', '2')];
    const result = await composeToolCallers(stack)(makeCall(), echoExecutor());

    expect(result.audit?.summary).toBe('******');
  });

  it('also by one that a layer brings in by itself, and then what was written before', async () => {
    const inner = composeToolCallers([masking('mask', 'hunter2')]);
    let attempt = 0;
    const joining = layer('joining', (call, next) =>
      (attempt += 1) === 1 ? next(call) : inner(call, next),
    );
    const twice = layer('twice', async (call, next) => {
      await next(call);
      await next(call);
      return next(call);
    });
    const result = await composeToolCallers([telling('outer'), twice, telling('a'), joining])(
      makeCall(),
      echoExecutor(),
    );

    expect(textOf(result)).not.toContain('hunter2');
    expect(result.audit?.layers.map(({ name }) => name)).toEqual([
      'joining',
      'a',
      'mask',
      'joining',
      'a',
      'mask',
      'joining',
      'a',
      'twice',
      'outer',
    ]);
  });

  it('before a layer of either stack reads it, where one was called by a layer', async () => {
    const seen: string[] = [];
    const reading = layer('reading', async (call, next) => {
      const result = await next(call);
      seen.push(textOf(result));
      return result;
    });
    const inner = composeToolCallers([reading, telling('inner'), masking('two', 'er2')]);
    const stack = [
      masking('one', 'hunt'),
      layer('joining', (call, next) => inner(call, next)),
      reading,
      telling('below'),
    ];
    const result = await composeToolCallers(stack)(makeCall(), echoExecutor());

    expect(seen).toHaveLength(2);
    for (const text of [...seen, textOf(result)]) expect(text).not.toMatch(/hunt|er2/);
  });

  it('also a status that a layer made up', async () => {
    const odd = layer('odd', (call) => refuse(call, 'no_hunter2', 'No.'));
    const result = await composeToolCallers([odd, masking('mask', 'hunter2')])(
      makeCall(),
      echoExecutor(),
    );

    expect(JSON.stringify(result.audit)).not.toContain('hunter2');
  });

  it('and a cleaner that throws lets nothing through, and leaves the record readable', async () => {
    const failing: ToolLayer = {
      ...layer('failing'),
      scrub: () => {
        throw new Error('cannot clean');
      },
    };
    const result = await composeToolCallers([telling('a'), failing])(makeCall(), echoExecutor());

    expect(textOf(result)).not.toContain('hunter2');
    expect(result.audit).toMatchObject({ summary: WITHHELD });
    expect(result.audit?.layers).toHaveLength(2);
    expect(result.audit?.layers).toMatchObject([
      { name: 'failing', status: 'ok' },
      { name: WITHHELD, status: WITHHELD },
    ]);
  });
});
