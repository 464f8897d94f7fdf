import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { type TestClock, testClock } from '../../conformance/index.ts';
import type { ClaimStore } from './claim-store.ts';
import { fileClaims } from './files/file-claims.ts';
import { memoryClaims } from './memory/memory-claims.ts';
import { howMany } from '../../conformance/how-many.fixture.ts';

const root = mkdtempSync(join(tmpdir(), 'allium-claims-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let folders = 0;
const freshDir = () => join(root, String((folders += 1)));

type MakeStore = (clock: TestClock) => ClaimStore;
const stores: readonly (readonly [string, MakeStore])[] = [
  ['memoryClaims', (clock) => memoryClaims({ clock })],
  ['fileClaims', (clock) => fileClaims({ dir: freshDir(), clock })],
];

const by = (token: string, more: object = {}) => ({
  fingerprint: 'f',
  leaseMs: 100,
  token,
  ...more,
});
const done = (answer: object | null = { result: 1 }) => ({
  state: 'done' as const,
  answer: answer as never,
  ttlMs: 1000,
});

describe.each(stores)('%s', (_name, make) => {
  const start = () => {
    const clock = testClock();
    return { clock, store: make(clock) };
  };

  it('gives a key to the first who claims it, and tells the others about it', async () => {
    const { store } = start();

    expect(await store.claim('k', by('a'))).toEqual({ won: true });
    expect(await store.claim('k', by('b', { fingerprint: 'g' }))).toEqual({
      won: false,
      record: { state: 'in_progress', fingerprint: 'f', token: 'a', answer: null },
    });
    expect(await store.claim('other', by('b'))).toEqual({ won: true });
  });

  it('gives a key to one of many who claim it at once', async () => {
    const { store } = start();
    const claims = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => store.claim('k', by(`t${index}`))),
    );

    expect(claims.filter(({ won }) => won)).toHaveLength(1);
  });

  it('keeps an answer until it may be forgotten, then gives the key away', async () => {
    const { clock, store } = start();
    await store.claim('k', by('a'));

    expect(await store.complete('k', 'a', done({ result: { n: [1] } }))).toBe(true);
    await clock.advance(999);
    expect(await store.get('k')).toMatchObject({ state: 'done', answer: { result: { n: [1] } } });
    expect(await store.claim('k', by('b'))).toMatchObject({ won: false });
    await clock.advance(1);
    expect(await store.get('k')).toBeNull();
    expect(await store.claim('k', by('b'))).toEqual({ won: true });
  });

  it('calls a claim unknown when its lease has run out, and does not give it away', async () => {
    const { clock, store } = start();
    await store.claim('k', by('a'));
    await clock.advance(99);

    expect(await store.get('k')).toMatchObject({ state: 'in_progress' });
    await clock.advance(1);
    expect(await store.get('k')).toMatchObject({ state: 'unknown', token: 'a' });
    expect(await store.claim('k', by('b'))).toMatchObject({
      won: false,
      record: { state: 'unknown' },
    });
    await clock.advance(1e9);
    expect(await store.claim('k', by('b'))).toMatchObject({
      won: false,
      record: { state: 'unknown' },
    });
  });

  it('keeps an unknown end whatever time goes by', async () => {
    const { clock, store } = start();
    await store.claim('k', by('a'));
    await store.complete('k', 'a', { state: 'unknown', answer: { result: 'secret' }, ttlMs: 1000 });
    await clock.advance(1e9);

    expect(await store.get('k')).toEqual({
      state: 'unknown',
      fingerprint: 'f',
      token: 'a',
      answer: null,
    });
    expect(await store.claim('k', by('b'))).toMatchObject({ won: false });
  });

  it.each(['in_progress', 'unknown', 'done'] as const)(
    'lets repeatable work take over what is %s only when nothing is lost',
    async (state) => {
      const { clock, store } = start();
      await store.claim('k', by('a'));
      if (state === 'unknown') await store.complete('k', 'a', { state, answer: null });
      if (state === 'done') await store.complete('k', 'a', done());
      const early = await store.claim('k', by('b', { repeatable: true }));
      await clock.advance(100);

      expect(early.won).toBe(state === 'unknown');
      expect((await store.claim('k', by('c', { repeatable: true }))).won).toBe(state !== 'done');
    },
  );

  it('lets repeatable work take over an end without an answer', async () => {
    const { store } = start();
    await store.claim('k', by('a'));
    await store.complete('k', 'a', done(null));

    expect(await store.claim('k', by('b'))).toMatchObject({
      won: false,
      record: { state: 'done', answer: null },
    });
    expect(await store.claim('k', by('b', { repeatable: true }))).toEqual({ won: true });
  });

  it('refuses everything a late owner still wants to write', async () => {
    const { clock, store } = start();
    await store.claim('k', by('a'));
    await clock.advance(100);
    await store.claim('k', by('b', { repeatable: true }));

    expect(await store.complete('k', 'a', done())).toBe(false);
    expect(await store.release('k', 'a')).toBe(false);
    expect(await store.renew('k', 'a', 1000)).toBe(false);
    expect(await store.get('k')).toMatchObject({ state: 'in_progress', token: 'b' });
    expect(await store.complete('k', 'b', done())).toBe(true);
  });

  it('lets an owner renew, release, and come to an end after all', async () => {
    const { clock, store } = start();
    await store.claim('k', by('a'));
    await clock.advance(90);

    expect(await store.renew('k', 'a', 100)).toBe(true);
    await clock.advance(90);
    expect(await store.get('k')).toMatchObject({ state: 'in_progress' });
    await clock.advance(10);
    expect(await store.get('k')).toMatchObject({ state: 'unknown' });
    expect(await store.complete('k', 'a', done())).toBe(true);
    expect(await store.get('k')).toMatchObject({ state: 'done' });
  });

  it('gives a released key away, and nothing that has ended', async () => {
    const { store } = start();
    await store.claim('k', by('a'));

    expect(await store.release('k', 'a')).toBe(true);
    expect(await store.get('k')).toBeNull();
    expect(await store.claim('k', by('b'))).toEqual({ won: true });
    await store.complete('k', 'b', done());
    expect(await store.release('k', 'b')).toBe(false);
    expect(await store.renew('k', 'b', 100)).toBe(false);
    expect(await store.complete('k', 'b', done(null))).toBe(false);
  });

  it('says no to whoever never claimed', async () => {
    const { store } = start();

    expect(await store.get('k')).toBeNull();
    expect([
      await store.complete('k', 'a', done()),
      await store.release('k', 'a'),
      await store.renew('k', 'a', 1),
    ]).toEqual([false, false, false]);
  });

  it.each([
    ['__proto__', '__proto__'],
    ['constructor', 'constructor'],
    ['an empty one', ''],
    ['a path', '../../etc/passwd'],
    ['half a character', '\ud800'],
    ['a megabyte', 'x'.repeat(1_000_000)],
  ])('takes any key: %s', async (_which, key) => {
    const { store } = start();

    expect(await store.get(key)).toBeNull();
    expect(await store.claim(key, by('a'))).toEqual({ won: true });
    expect(await store.claim(key, by('b'))).toMatchObject({ won: false });
    expect(await store.claim(`${key}2`, by('b'))).toEqual({ won: true });
  });
});

type Step = {
  readonly op: 'claim' | 'complete' | 'release' | 'renew' | 'tick';
  readonly actor: number;
  readonly ms: number;
};

const steps = fc.array(
  fc.record<Step>({
    op: fc.constantFrom('claim', 'complete', 'release', 'renew', 'tick'),
    actor: fc.nat(3),
    ms: fc.integer({ min: 1, max: 150 }),
  }),
  { maxLength: 40 },
);

/** Whoever holds the key, and until when. */
const NOBODY = null as { readonly token: string; readonly until: number } | null;

/**
 * Plays steps against a store and against the rule that a key has one owner: how often the store
 * broke it.
 */
async function violations(make: MakeStore, played: readonly Step[]): Promise<number> {
  const clock = testClock();
  const store = make(clock);
  let owner = NOBODY;
  let finished = false;
  let wrong = 0;
  const tokens = new Map<number, string>();
  for (const [index, { op, actor, ms }] of played.entries()) {
    const token = tokens.get(actor) ?? 'none';
    const owns = owner?.token === token;
    if (op === 'tick') await clock.advance(ms);
    if (op === 'claim') {
      tokens.set(actor, `t${index}`);
      const claimed = await store.claim('k', by(`t${index}`, { repeatable: true }));
      const isFree = !finished && (owner === null || clock.monotonic() >= owner.until);
      if (claimed.won !== isFree) wrong += 1;
      if (claimed.won) owner = { token: `t${index}`, until: clock.monotonic() + 100 };
    }
    if (op === 'complete') {
      if ((await store.complete('k', token, { ...done(), ttlMs: 1e9 })) !== (owns && !finished))
        wrong += 1;
      if (owns) finished = true;
    }
    if (op === 'release') {
      if ((await store.release('k', token)) !== (owns && !finished)) wrong += 1;
      if (owns && !finished) owner = null;
    }
    if (op === 'renew') {
      if ((await store.renew('k', token, 100)) !== (owns && !finished)) wrong += 1;
      if (owner !== null && owns) owner = { token, until: clock.monotonic() + 100 };
    }
  }
  return wrong;
}

/** Deletes and completes by key alone, as stores without a fence do. */
const unfenced: MakeStore = (clock) => {
  const store = memoryClaims({ clock });
  const current = async (key: string) => (await store.get(key))?.token ?? '';
  return {
    ...store,
    complete: async (key, _token, ending) => store.complete(key, await current(key), ending),
    release: async (key) => store.release(key, await current(key)),
    renew: async (key, _token, leaseMs) => store.renew(key, await current(key), leaseMs),
  };
};

describe('random histories of one key', () => {
  it('never have two owners, and no write of a late one is taken by memoryClaims', async () => {
    await fc.assert(
      fc.asyncProperty(
        steps,
        async (played) => (await violations((clock) => memoryClaims({ clock }), played)) === 0,
      ),
      { numRuns: howMany(100, 300) },
    );
  });

  it('never have two owners, and no write of a late one is taken by fileClaims', async () => {
    await fc.assert(
      fc.asyncProperty(
        steps,
        async (played) =>
          (await violations((clock) => fileClaims({ dir: freshDir(), clock }), played)) === 0,
      ),
      { numRuns: 25 },
    );
  });

  it('show up a store without a fence', async () => {
    await expect(
      fc.assert(
        fc.asyncProperty(steps, async (played) => (await violations(unfenced, played)) === 0),
      ),
    ).rejects.toThrow();
  });
});
