import { describe, expect, it } from 'vitest';
import type { Guard } from './pass.ts';
import { ok, refuse } from './results.ts';
import { withCall } from './own-call.ts';
import { echoExecutor, makeCall, type PartialCall } from '../../../conformance/test-kit.ts';
import { accountOf } from './account.ts';
import type { ToolCall } from '../contract/call.ts';
import { composeToolCallers } from './compose.ts';
import { AlliumError } from '../contract/errors.ts';
import { hashCanonical } from '../json/hash-canonical.ts';
import { defineLayer, type ToolCaller, type ToolLayer } from '../contract/layer.ts';
import { approveCall, guardCall, hashOf, hashWith, conditionsOf } from './conditions.ts';

const layer = (name: string, caller: ToolCaller, traits: Partial<ToolLayer> = {}) =>
  defineLayer({ name, caller, ...traits });
const consent = layer('consent', (call, next) => next(approveCall(call)));
const changes = (toolArgs: object, traits: Partial<ToolLayer> = {}, name = 'changes') =>
  layer(name, (call, next) => next(withCall(call, { toolArgs })), traits);
const rewrites = (toolArgs: object, name = 'rewrites') =>
  changes(toolArgs, { rewrites: true }, name);
const guarded = (guard: Guard) => layer('guarded', (call, next) => next(guardCall(call, guard)));

async function run(
  layers: readonly ToolLayer[],
  partial: PartialCall = { toolArgs: { text: 'a' } },
) {
  const executor = echoExecutor();
  const result = await composeToolCallers(layers)(makeCall(partial), executor);
  return { result, entered: executor.calls.map((call) => call.toolArgs) };
}

describe('a call that a layer kept from further out', () => {
  it.each<[string, (call: ToolCall) => ToolCall]>([
    ['an approval', approveCall],
    [
      'a guard',
      (call) =>
        guardCall(call, () => ({
          status: 'permission_denied',
          message: 'No.',
          blockedBy: 'guarded',
        })),
    ],
  ])('does not get past %s that was laid down since', async (_name, lay) => {
    let kept: ToolCall | null = null;
    const keeps = layer('keeps', (call, next) => {
      kept = call;
      return next(call);
    });
    const stale = layer('stale', (call, next) =>
      next(withCall(kept ?? call, { toolArgs: { text: 'b' } })),
    );
    const { result, entered } = await run([
      keeps,
      layer('lays', (call, next) => next(lay(call))),
      stale,
    ]);

    expect(result).toMatchObject({ ok: false, executed: 'no' });
    expect(entered).toEqual([]);
  });
});

describe('an approved call', () => {
  it('runs as it was approved', async () => {
    const { result, entered } = await run([consent]);

    expect(result).toMatchObject({ status: 'ok', executed: 'yes' });
    expect(result.audit).not.toHaveProperty('rewrites');
    expect(entered).toEqual([{ text: 'a' }]);
  });

  it('is not replaced by a second approval that came after a change', async () => {
    const { result, entered } = await run([consent, changes({ text: 'b' }), consent]);

    expect(result).toMatchObject({ status: 'consent_denied', executed: 'no' });
    expect(entered).toEqual([]);
  });

  it('keeps the record of what was rewritten when it is approved again', async () => {
    const { result, entered } = await run([
      consent,
      rewrites({ text: 'b' }),
      consent,
      rewrites({ text: 'c' }, 'more'),
    ]);

    expect(entered).toEqual([{ text: 'c' }]);
    expect(result.audit?.rewrites?.map(({ layer: name }) => name)).toEqual(['rewrites', 'more']);
  });

  it.each<[string, ToolCaller]>([
    ['changes a value', (call, next) => next(withCall(call, { toolArgs: { text: 'b' } }))],
    [
      'adds a member',
      (call, next) => next(withCall(call, { toolArgs: { ...call.toolArgs, more: 1 } })),
    ],
    ['takes a member off', (call, next) => next(withCall(call, { toolArgs: {} }))],
    ['changes a copy by spread', (call, next) => next({ ...call, toolArgs: { text: 'b' } })],
    ['chooses another tool', (call, next) => next(withCall(call, { toolName: 'other' }))],
    [
      'puts half a character in',
      (call, next) => next(withCall(call, { toolArgs: { text: '\ud800' } })),
    ],
  ])('does not run when a layer that declares nothing %s', async (_name, caller) => {
    const { result, entered } = await run([consent, layer('changes', caller)]);

    expect(result).toMatchObject({
      status: 'consent_denied',
      errorCategory: 'consent_denied',
      executed: 'no',
    });
    expect(accountOf(result)).toMatchObject({
      approvedArgs: { text: 'a' },
      executedArgs: null,
      blockedBy: 'consent',
    });
    expect(JSON.stringify(result.error)).not.toContain('"b"');
    expect(entered).toEqual([]);
  });

  it('does not run either when a layer that declares rewrites chooses another tool', async () => {
    const other = layer('other', (call, next) => next(withCall(call, { toolName: 'other' })), {
      rewrites: true,
    });

    expect((await run([consent, other])).result).toMatchObject({
      status: 'consent_denied',
      executed: 'no',
    });
  });

  it('runs when equal arguments were put in place of the same ones', async () => {
    expect((await run([consent, changes({ text: 'a' })])).result.status).toBe('ok');
    expect(
      (await run([consent, changes({ text: 'b' }), changes({ text: 'a' })])).result.status,
    ).toBe('ok');
    expect(
      (await run([consent, changes({ b: 2, a: 1 })], { toolArgs: { a: 1, b: 2 } })).result.status,
    ).toBe('ok');
  });

  it('may be rewritten where that is declared, and the paths are recorded in order', async () => {
    const { result, entered } = await run([
      consent,
      rewrites({ text: 'b' }, 'first'),
      rewrites({ list: [1] }, 'second'),
    ]);

    expect(result.status).toBe('ok');
    expect(result.audit?.rewrites).toEqual([
      { layer: 'first', paths: ['text'] },
      { layer: 'second', paths: ['text', 'list'] },
    ]);
    expect(entered).toEqual([{ list: [1] }]);
  });

  it('records no rewrite where nothing changed', async () => {
    const { result } = await run([consent, rewrites({ text: 'a' })]);

    expect(result.status).toBe('ok');
    expect(result.audit).not.toHaveProperty('rewrites');
  });

  it('is not covered by a rewrite on top of a change that nobody declared', async () => {
    const { result, entered } = await run([
      consent,
      changes({ text: 'b' }),
      rewrites({ text: 'b', masked: true }),
    ]);

    expect(result).toMatchObject({ status: 'consent_denied', executed: 'no' });
    expect(entered).toEqual([]);
  });

  it('is not covered by a change below the rewrite', async () => {
    expect(
      (await run([consent, rewrites({ text: 'b' }), changes({ text: 'c' })])).result.status,
    ).toBe('consent_denied');
  });

  it('may be changed before it is approved', async () => {
    const { result, entered } = await run([changes({ text: 'edited' }), consent]);

    expect(accountOf(result)).toMatchObject({
      approvedArgs: { text: 'edited' },
      executedArgs: { text: 'edited' },
    });
    expect(entered).toEqual([{ text: 'edited' }]);
  });

  it('needs both of two approvals to fit', async () => {
    expect((await run([consent, consent])).result.status).toBe('ok');
    expect((await run([consent, consent, changes({ text: 'b' })])).result.status).toBe(
      'consent_denied',
    );
  });

  it('stays the approved one when a layer hands on a call that was put aside before', async () => {
    const aside: ToolCall[] = [];
    const keeps = layer('keeps', (call, next) => (aside.push(call), next(call)));
    const hands = layer('hands', (call, next) =>
      next(withCall(aside[0] ?? call, { toolArgs: { text: 'b' } })),
    );
    const { result, entered } = await run([guarded(() => null), keeps, consent, hands]);

    expect(result).toMatchObject({ status: 'consent_denied', executed: 'no' });
    expect(entered).toEqual([]);
  });

  it('stays approved when a layer tries again, and no try may change it', async () => {
    const retry = layer('retry', async (call, next) => {
      await next(call);
      return next(withCall(call, { toolArgs: { text: 'second try' } }));
    });
    const again = layer('again', async (call, next) =>
      (await next(call)).ok ? next(call) : refuse(call, 'exception', 'No.'),
    );
    const { result, entered } = await run([consent, retry]);

    expect(result).toMatchObject({ status: 'consent_denied', executed: 'yes' });
    expect(entered).toEqual([{ text: 'a' }]);
    expect((await run([consent, again])).entered).toEqual([{ text: 'a' }, { text: 'a' }]);
  });

  it('is held to it by a stack that a layer calls by itself', async () => {
    const inner = (...members: readonly ToolLayer[]) =>
      layer('calls a stack', (call, next) => composeToolCallers(members)(call, next));
    const changed = await run([consent, inner(changes({ text: 'b' }))]);
    const rewritten = await run([consent, inner(rewrites({ text: 'b' }))]);
    const approvedInside = await run([inner(consent), changes({ text: 'b' })]);

    expect(changed.result).toMatchObject({ status: 'consent_denied', executed: 'no' });
    expect(accountOf(changed.result).blockedBy).toBe('consent');
    expect(rewritten.result.audit?.rewrites).toEqual([{ layer: 'rewrites', paths: ['text'] }]);
    expect(rewritten.entered).toEqual([{ text: 'b' }]);
    expect(approvedInside.result).toMatchObject({ status: 'consent_denied', executed: 'no' });
    expect(approvedInside.entered).toEqual([]);
  });
});

describe('a guard', () => {
  const no: Guard = () => ({
    status: 'permission_denied',
    message: 'Not here.',
    blockedBy: 'scope',
  });

  it('sees the call as the executor would be entered with it', async () => {
    const seen: ToolCall[] = [];
    const watch = guarded((call) => {
      seen.push(call);
      return null;
    });
    const { result } = await run([watch, changes({ text: 'b' })]);

    expect(result.status).toBe('ok');
    expect(seen.map((call) => call.toolArgs)).toEqual([{ text: 'b' }]);
  });

  it('refuses in the name of the layer that it gives, and nothing runs', async () => {
    const { result, entered } = await run([guarded(no), changes({ text: 'b' })]);

    expect(result).toMatchObject({
      status: 'permission_denied',
      error: 'Not here.',
      executed: 'no',
    });
    expect(accountOf(result).blockedBy).toBe('scope');
    expect(entered).toEqual([]);
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('sk-123');
      },
    ],
    [
      'throws an error of the framework',
      () => {
        throw new AlliumError('ERR_INVALID_OPTION', 'sk-123');
      },
    ],
    ['answers with nothing', () => undefined],
    ['answers with true', () => true],
    ['answers with false', () => false],
    ['answers with a promise', () => Promise.resolve(null)],
    ['answers with a promise that rejects', () => Promise.reject(new Error('sk-123'))],
    ['answers with an empty object', () => ({})],
    ['answers with a good status', () => ({ status: 'ok', message: 'Yes.', blockedBy: 'scope' })],
    ['answers with an empty status', () => ({ status: '', message: 'Yes.', blockedBy: 'scope' })],
    ['answers without a message', () => ({ status: 'permission_denied', blockedBy: 'scope' })],
  ])('that %s refuses', async (_name, guard) => {
    const { result, entered } = await run([guarded(guard as Guard)]);

    expect(result).toMatchObject({ status: 'permission_denied', executed: 'no' });
    expect(accountOf(result).blockedBy).toBe('guard');
    expect(JSON.stringify(result)).not.toContain('sk-123');
    expect(entered).toEqual([]);
  });

  it.each<[string, ToolCaller]>([
    [
      'withCall',
      (call, next) => next(withCall(call, { toolArgs: {}, signal: new AbortController().signal })),
    ],
    ['a spread', (call, next) => next({ ...call, toolName: 'other' })],
    ['another guard', (call, next) => next(guardCall(call, () => null))],
    ['a chosen hash', (call, next) => next(hashWith(call, () => 'x'))],
    ['an approval', (call, next) => next(approveCall(call))],
    ['a stack called by a layer', (call, next) => composeToolCallers([changes({})])(call, next)],
  ])('is kept through %s', async (_name, caller) => {
    const { result, entered } = await run([guarded(no), layer('through', caller)]);

    expect(result).toMatchObject({ status: 'permission_denied', executed: 'no' });
    expect(entered).toEqual([]);
  });

  it('holds outward too when a stack that a layer calls laid it down', async () => {
    const inner = layer('calls a stack', (call, next) =>
      composeToolCallers([guarded((call) => (call.toolArgs.bad === 1 ? no(call) : null))])(
        call,
        next,
      ),
    );
    const { result, entered } = await run([inner, changes({ bad: 1 })]);

    expect(result).toMatchObject({ status: 'permission_denied', executed: 'no' });
    expect(entered).toEqual([]);
  });

  it('holds for a call that was put aside before it was laid down', async () => {
    const aside: ToolCall[] = [];
    const keeps = layer('keeps', (call, next) => (aside.push(call), next(call)));
    const hands = layer('hands', (call, next) => next(aside[0] ?? call));
    const { result, entered } = await run([guarded(() => null), keeps, guarded(no), hands]);

    expect(result).toMatchObject({ status: 'permission_denied', executed: 'no' });
    expect(entered).toEqual([]);
  });

  it('is asked together with the others until one refuses', async () => {
    const asked: string[] = [];
    const ask = (name: string, verdict: Guard) =>
      guarded((call) => (asked.push(name), verdict(call)));
    await run([ask('outer', () => null), ask('inner', no), ask('innermost', () => null)]);

    expect(asked).toEqual(['outer', 'inner']);
  });

  it('is not asked about a call that its layer did not hand on under it', async () => {
    const twice = layer('twice', async (call, next) =>
      (await next(guardCall(call, no))).ok ? ok(call) : next(call),
    );

    expect((await run([twice])).result.status).toBe('ok');
  });

  it('must be a function', () => {
    expect(() => guardCall(makeCall(), null as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_CALL' }) as Error,
    );
  });

  it('cannot be taken out of the conditions, which are frozen', () => {
    const call = guardCall(makeCall(), no);

    expect(Object.isFrozen(conditionsOf(call)) && Object.isFrozen(conditionsOf(call).checks)).toBe(
      true,
    );
  });
});

describe('hashOf', () => {
  it('is the plain hash where nobody chose another', () => {
    const call = makeCall({ toolArgs: { text: 'a' } });

    expect(hashOf(call, call.toolArgs)).toBe(hashCanonical({ text: 'a' }));
  });

  it('uses what a layer outside chose, for everything below and nothing above', async () => {
    const seen: string[] = [];
    const look = layer(
      'look',
      (call, next) => (seen.push(hashOf(call, call.toolArgs)), next(call)),
    );
    const choose = layer('choose', (call, next) => next(hashWith(call, () => 'chosen')));
    await run([look, choose, look]);

    expect(seen).toEqual([hashCanonical({ text: 'a' }), 'chosen']);
  });

  it('works a value out once per call and hash, also for copies of the call', () => {
    let times = 0;
    const call = hashWith(makeCall({ toolArgs: { text: 'a' } }), () => `hash ${++times}`);

    expect([
      hashOf(call, call.toolArgs),
      hashOf(withCall(call, { toolName: 'other' }), call.toolArgs),
    ]).toEqual(['hash 1', 'hash 1']);
    expect(hashOf(call, { other: true })).toBe('hash 2');
    expect(
      hashOf(
        hashWith(call, () => 'another'),
        call.toolArgs,
      ),
    ).toBe('another');
    expect(hashOf(makeCall(), call.toolArgs)).toBe(hashCanonical({ text: 'a' }));
  });

  it('takes equal values that are not the same for two', () => {
    const seen: unknown[] = [];
    const call = hashWith(makeCall(), (value) => (seen.push(value), 'x'));
    hashOf(call, { a: 1 });
    hashOf(call, { a: 1 });

    expect(seen).toHaveLength(2);
  });
});
