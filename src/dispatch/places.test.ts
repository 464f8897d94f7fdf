import { describe, expect, it } from 'vitest';
import { settle, testClock } from '../../conformance/test-kit.ts';
import { consent, permissions } from '../../middleware/index.ts';
import { defineLayer, type GovernOptions, refuse } from '../index.ts';
import { askApproval } from '../layer.ts';
import { createSemaphore, takeSeat } from './intake/limits.ts';
import { setup } from './testing.fixture.ts';
import { desk, requests, workshop } from './resume/waiting.fixture.ts';

const asking = (options: object = {}) =>
  consent({
    rules: [{ tool: '*', when: ({ ask }) => ask === true, decision: 'ask' }],
    default: 'allow',
    ...options,
  });

/** One place for all calls, and a person at a desk. */
function onePlace(options: Partial<GovernOptions> = {}) {
  const person = desk();
  const { tool, ...shop } = workshop();
  const clock = testClock();
  const parts = setup({
    toolList: () => [tool],
    layers: [asking()],
    prompts: [person.prompt],
    limits: { maxConcurrent: 1 },
    clock,
    ...options,
  });
  const call = (id: string, args: object, signal?: AbortSignal) =>
    parts.governed.call(
      { name: 'work', arguments: args, id },
      signal === undefined ? {} : { signal },
    );
  return { ...parts, clock, person, shop, call };
}

describe('a call that waits for a person', () => {
  it('lets others run in its place, and waits for one before it runs', async () => {
    const { person, shop, call } = onePlace();
    const waiting = call('a', { ask: true });
    await settle();
    const other = call('b', {});
    await settle();
    person.answer('a', { decision: 'allow_once' });
    await settle();
    const before = [...shop.entered];
    shop.finish('b');
    await other;
    await settle();

    expect(before).toEqual(['b']);
    expect(shop.inside()).toEqual(['a']);
    shop.finish('a');
    expect(await waiting).toMatchObject({ status: 'ok' });
    expect(shop.most()).toBe(1);
  });

  it('was decided about in time, however long it waits for a place afterwards', async () => {
    const { person, shop, call, clock } = onePlace({ layers: [asking({ expiresMs: 1000 })] });
    const waiting = call('a', { ask: true });
    await settle();
    const other = call('b', {});
    await clock.advance(500);
    person.answer('a', { decision: 'allow_once' });
    await clock.advance(5000);
    shop.finish('b');
    await other;
    await settle();
    shop.finish('a');

    expect(await waiting).toMatchObject({ status: 'ok', executed: 'yes' });
  });

  it.each([
    ['consent', asking({ expiresMs: 1000 })],
    ['permissions', permissions({ checkers: [() => 'require_approval'], expiresMs: 1000 })],
  ])('keeps no place when an answer to %s comes after it has expired', async (_gate, layer) => {
    const { person, shop, call, clock, governed } = onePlace({ layers: [layer] });
    const waiting = call('a', { ask: true });
    await settle();
    await clock.advance(1000);
    const result = await waiting;
    person.answer('a', { decision: 'allow_once' });
    await settle();
    const next = governed.call({ name: 'work', arguments: { ask: true, quick: true }, id: 'b' });
    await settle();
    person.answer('b', { decision: 'allow_once' });

    expect(result.status).toBe('consent_expired');
    expect(await next).toMatchObject({ status: 'ok' });
    expect(shop.entered).toEqual(['b']);
  });

  it('keeps no place when it is answered after its caller has gone', async () => {
    const { person, shop, call } = onePlace();
    const caller = new AbortController();
    const waiting = call('a', { ask: true }, caller.signal);
    await settle();
    caller.abort();
    const result = await waiting;
    person.answer('a', { decision: 'allow_once' });
    await settle();

    expect(result.status).toBe('cancelled');
    expect(await call('b', { quick: true })).toMatchObject({ status: 'ok' });
    expect(shop.entered).toEqual(['b']);
  });

  it('is told of a no, or that nobody can be asked, while another one holds the place', async () => {
    const { person, shop, call } = onePlace();
    const [denied, open] = [call('a', { ask: true }), call('c', { ask: true })];
    await settle();
    const other = call('b', {});
    await settle();
    person.answer('a', { decision: 'reject_once' });
    person.answer('c', null);

    expect((await denied).status).toBe('consent_denied');
    expect((await open).status).toBe('approval_required');
    expect(shop.inside()).toEqual(['b']);
    shop.finish('b');
    await other;
  });

  it('does not run when its caller goes while it waits for a place, and the place stays with whoever has it', async () => {
    const { person, shop, call } = onePlace();
    const caller = new AbortController();
    const waiting = call('a', { ask: true }, caller.signal);
    await settle();
    const other = call('b', {});
    await settle();
    person.answer('a', { decision: 'allow_once' });
    await settle();
    caller.abort();

    expect(await waiting).toMatchObject({ status: 'cancelled', executed: 'no' });
    expect(shop.inside()).toEqual(['b']);
    shop.finish('b');
    await other;
    expect(await call('c', { quick: true })).toMatchObject({ status: 'ok' });
    expect(shop.entered).toEqual(['b', 'c']);
  });

  it('takes a place again before it runs, also where a layer that asks knows nothing of places', async () => {
    const bare = defineLayer({
      name: 'bare',
      async caller(call, next) {
        if (call.toolArgs.ask !== true) return next(call);
        const outcome = await askApproval(call, {
          gate: 'bare',
          id: `ask-${call.callId}`,
          shown: {},
          signal: call.signal,
        });
        return 'said' in outcome && outcome.said.decision === 'approved'
          ? next(call)
          : refuse(call, 'consent_denied', 'No.');
      },
    });
    const { person, shop, call } = onePlace({ layers: [bare] });
    const waiting = call('a', { ask: true });
    await settle();
    const other = call('b', {});
    await settle();
    person.answer('a', { decision: 'allow_once' });
    await settle();

    expect(shop.inside()).toEqual(['b']);
    shop.finish('b');
    await other;
    await settle();
    shop.finish('a');
    expect(await waiting).toMatchObject({ status: 'ok' });
    expect(shop.most()).toBe(1);
  });

  it('gives up no place where there is nobody to ask', async () => {
    const ended: string[] = [];
    const { governed } = onePlace({ prompts: [] });
    governed.on(
      'tool_call_update',
      (event) => event.status !== 'in_progress' && ended.push(event.tool_call_id),
    );
    const results = await governed.batch(requests({ ask: true }, { quick: true }, { quick: true }));

    expect(results.map(({ status }) => status)).toEqual(['approval_required', 'ok', 'ok']);
    expect(ended).toEqual(['a', 'b', 'c']);
  });
});

describe('a place that was given up', () => {
  const { signal } = new AbortController();
  const isFree = async (semaphore: ReturnType<typeof createSemaphore>) =>
    (await semaphore.enter(AbortSignal.abort())) !== null;

  it('is not taken again by a call that has left', async () => {
    const semaphore = createSemaphore(1);
    const seat = await takeSeat(semaphore, signal);
    seat?.stepOut();
    seat?.leave();
    await seat?.retake(signal);

    expect(await isFree(semaphore)).toBe(true);
  });

  it('is handed on by a call that leaves while it waits for it', async () => {
    const semaphore = createSemaphore(1);
    const seat = await takeSeat(semaphore, signal);
    seat?.stepOut();
    const other = await takeSeat(semaphore, signal);
    const waiting = seat?.retake(signal);
    seat?.leave();
    other?.leave();
    await waiting;

    expect(await isFree(semaphore)).toBe(true);
  });
});
