import { describe, expect, it } from 'vitest';
import { testClock } from '../../../conformance/index.ts';
import { type MemoryClaimsOptions, memoryClaims } from './memory-claims.ts';

const by = (token: string, more: object = {}) => ({
  fingerprint: 'f',
  leaseMs: 100,
  token,
  ...more,
});
const answer = (result: number) => ({ state: 'done' as const, answer: { result } });

function start(options: MemoryClaimsOptions = {}) {
  const clock = testClock();
  const store = memoryClaims({ clock, ...options });
  const finish = async (key: string, more: object = {}) => {
    await store.claim(key, by(key, more));
    await store.complete(key, key, answer(1));
  };
  return { clock, store, finish };
}

describe('memoryClaims', () => {
  it('answers at once, without a promise', () => {
    expect(memoryClaims().claim('k', by('a'))).toEqual({ won: true });
  });

  it('maxEntries bounds the answers, but keeps the keys', async () => {
    const { store, finish } = start({ maxEntries: 2 });
    for (const key of ['a', 'b', 'c']) await finish(key);

    expect(store.get('a')).toMatchObject({ state: 'done', answer: null });
    expect(store.get('c')).toMatchObject({ state: 'done', answer: { result: 1 } });
    expect(store.claim('a', by('again'))).toMatchObject({ won: false });
  });

  it('maxEntries drops the answer used longest ago', async () => {
    const { store, finish } = start({ maxEntries: 2 });
    for (const key of ['a', 'b']) await finish(key);
    await store.get('a');
    await finish('c');

    expect([store.get('a'), store.get('b')]).toMatchObject([
      { answer: { result: 1 } },
      { answer: null },
    ]);
  });

  it('leaves nothing of repeatable work whose answer had to go', async () => {
    const { store, finish } = start({ maxEntries: 1 });
    for (const key of ['a', 'b', 'e']) await finish(key, { repeatable: true });

    expect(store.get('a')).toBeNull();
    expect(store.get('e')).toMatchObject({ state: 'done' });
  });

  it('never drops a claim under way, however many come', async () => {
    const { store, finish } = start({ maxEntries: 1, maxKeys: 10 });
    await store.claim('open', by('owner'));
    for (let index = 0; index < 50; index += 1) await finish(`k${index}`, { repeatable: true });

    expect(store.get('open')).toMatchObject({ state: 'in_progress', token: 'owner' });
  });

  it('maxKeys refuses a further claim rather than forget one too early', async () => {
    const { clock, store, finish } = start({ maxKeys: 2, ttlMs: 1000 });
    await finish('a');
    await finish('b');

    expect(() => store.claim('c', by('c'))).toThrow('too many claims');
    expect(store.get('a')).toMatchObject({ state: 'done' });
    await clock.advance(1000);
    expect(store.claim('c', by('c'))).toEqual({ won: true });
  });

  it('maxKeys makes room for any claim with repeatable work that has ended', async () => {
    const { store, finish } = start({ maxKeys: 2 });
    for (const key of ['a', 'b']) await finish(key, { repeatable: true });

    expect(store.claim('c', by('c'))).toEqual({ won: true });
    expect([store.get('a'), store.get('b')]).toMatchObject([null, { state: 'done' }]);
  });

  it('maxKeys forgets an unknown end only a day after its time', async () => {
    const { clock, store } = start({ maxKeys: 1, ttlMs: 1000 });
    await store.claim('a', by('a'));
    await store.complete('a', 'a', { state: 'unknown', answer: null });

    await clock.advance(86_400_999);
    expect(() => store.claim('b', by('b'))).toThrow('too many claims');
    await clock.advance(1);
    expect(store.claim('b', by('b'))).toEqual({ won: true });
  });

  it('remembers an end that became known after all like any other', async () => {
    const { clock, store } = start({ maxKeys: 2, ttlMs: 1000 });
    for (const key of ['a', 'b']) {
      await store.claim(key, by(key));
      await store.complete(key, key, { state: 'unknown', answer: null });
    }
    await store.complete('a', 'a', { ...answer(1), ttlMs: 1e9 });
    await clock.advance(86_401_000);

    expect(store.claim('c', by('c'))).toEqual({ won: true });
    expect([store.get('a'), store.get('b')]).toMatchObject([{ state: 'done' }, null]);
  });

  it('gives an owner back the room of what it gave up', async () => {
    const { store } = start({ maxKeys: 4 });
    for (let round = 0; round < 10; round += 1) {
      expect(store.claim('k', by('t', { owner: 'one' }))).toEqual({ won: true });
      expect(store.release('k', 't')).toBe(true);
    }
    await store.claim('k', by('t', { owner: 'one' }));
    await store.claim('l', by('t', { owner: 'one' }));

    expect(() => store.claim('m', by('t', { owner: 'one' }))).toThrow('too many claims');
    expect(store.claim('m', by('t', { owner: 'two' }))).toEqual({ won: true });
  });

  it('ttlMs holds where whoever completes does not say', async () => {
    const { clock, store, finish } = start({ ttlMs: 50 });
    await finish('a');
    await clock.advance(49);
    expect(store.get('a')).not.toBeNull();
    await clock.advance(1);
    expect(store.get('a')).toBeNull();
  });

  it.each([
    [null],
    [{ maxEntries: 0 }],
    [{ ttlMs: 1.5 }],
    [{ maxKeys: '5' }],
    [{ clock: 1 }],
    [{ maxEntires: 5 }],
  ])('refuses %j', (options) => {
    expect(() => memoryClaims(options as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error,
    );
  });
});
