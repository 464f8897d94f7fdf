import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { testClock } from '../../../conformance/index.ts';
import { systemClock } from '../../core/time/clock.ts';
import { AlliumError, isAlliumError } from '../../core/contract/errors.ts';
import { describePattern } from './describe-grant.ts';
import { fileGrants, memoryGrants } from './grant-stores.ts';
import type { GrantRequest } from './create-grant.ts';
import type { Grant, GrantStore } from './grant.ts';
import { grantOf, HOUR_MS, QUERY } from './grants.fixture.ts';

type Start = () => { readonly store: GrantStore; readonly clock: ReturnType<typeof testClock> };

const inMemory: Start = () => {
  const clock = testClock();
  return { clock, store: memoryGrants({ clock }) };
};

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'allium-grants-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

const inFiles: Start = () => {
  const dir = folder();
  const clock = testClock();
  // Waiting for a lock takes real time; what a grant is judged by does not.
  return {
    clock,
    store: fileGrants({
      dir: join(dir, 'grants'),
      clock: { ...systemClock, now: () => clock.now() },
    }),
  };
};

const withGrants = async (start: Start, ...grants: readonly Grant[]) => {
  const started = start();
  for (const grant of grants) await started.store.add(grant);
  return started;
};

describe.each([
  ['memoryGrants', inMemory],
  ['fileGrants', inFiles],
] as const)('%s', (_name, start) => {
  it('finds the grant of a call and takes a use of it', async () => {
    const grant = grantOf();
    const { store } = await withGrants(start, grant);

    expect(await store.use(QUERY)).toEqual({ ...grant, uses: 1 });
    expect(await store.get(grant.id)).toEqual({ ...grant, uses: 1 });
    expect(await store.use(QUERY)).toMatchObject({ uses: 2 });
  });

  it.each([
    ['tool', { toolName: 'write_file' }],
    ['arguments', { args: { path: 'src/b.ts' } }],
    ['further argument', { args: { path: 'src/a.ts', force: true } }],
    ['definition', { definition: 'sha256:two' }],
    ['session', { sessionId: 'session-2' }],
    ['workspace', { workspace: '/else' }],
  ])('finds nothing for another %s', async (_what, changes) => {
    const { store } = await withGrants(start, grantOf());

    expect(await store.use({ ...QUERY, ...changes })).toBeNull();
    expect(await store.list()).toMatchObject([{ uses: 0 }]);
  });

  it('holds in every session of a workspace where that is its scope, and in no other workspace', async () => {
    const { store } = await withGrants(start, grantOf({ scope: 'workspace' }));

    expect(await store.use({ ...QUERY, sessionId: 'session-2' })).not.toBeNull();
    expect(await store.use({ ...QUERY, workspace: '/else' })).toBeNull();
  });

  it('holds for one call where that is its scope', async () => {
    const { store } = await withGrants(start, grantOf({ scope: 'call' }));

    expect(await store.use(QUERY)).not.toBeNull();
    expect(await store.use(QUERY)).toBeNull();
  });

  it('gives as many uses as there are, to whoever comes, and then keeps no arguments', async () => {
    const grant = grantOf({ maxUses: 3 });
    const { store } = await withGrants(start, grant);
    const found = await Promise.all(Array.from({ length: 6 }, async () => store.use(QUERY)));

    expect(found.filter((each) => each !== null)).toHaveLength(3);
    expect(await store.get(grant.id)).toMatchObject({ uses: 3, pattern: null, shown: null });
  });

  it('holds until it expires', async () => {
    const { store, clock } = await withGrants(start, grantOf());
    await clock.advance(HOUR_MS - 1);
    expect(await store.use(QUERY)).not.toBeNull();
    await clock.advance(1);

    expect(await store.use(QUERY)).toBeNull();
    expect(await store.list()).toEqual([]);
    expect(await store.list({ ended: true })).toHaveLength(1);
  });

  it('does not hold before it was given, unless it rejects: a clock that was set back opens nothing', async () => {
    const later = testClock(testClock().now() + 60_000);
    const { store } = await withGrants(start, grantOf({}, later));
    expect(await store.use(QUERY)).toBeNull();
    await store.add(grantOf({ decision: 'reject' }, later));

    expect(await store.use(QUERY)).toMatchObject({ decision: 'reject' });
  });

  it('is not used once it is revoked, and keeps who did that', async () => {
    const grant = grantOf();
    const { store } = await withGrants(start, grant);

    expect(await store.revoke(grant.id, 'bob')).toBe(true);
    expect(await store.use(QUERY)).toBeNull();
    expect(await store.revoke(grant.id, 'eve')).toBe(false);
    expect(await store.revoke('unheard', 'bob')).toBe(false);
    expect(await store.get(grant.id)).toMatchObject({
      pattern: null,
      shown: null,
      revoked: { by: 'bob' },
    });
  });

  it('uses what is there, or revokes it, never both in the wrong order', async () => {
    const grant = grantOf();
    const { store } = await withGrants(start, grant);
    const [first, , second] = await Promise.all([
      (async () => store.use(QUERY))(),
      (async () => store.revoke(grant.id, 'bob'))(),
      (async () => store.use(QUERY))(),
    ]);
    const counted = [first, second].filter((each) => each !== null).length;

    expect(await store.get(grant.id)).toMatchObject({ uses: counted, revoked: { by: 'bob' } });
    expect(await store.use(QUERY)).toBeNull();
  });

  it.each([0, 1])('lets a grant that rejects win, whichever came first (%i)', async (first) => {
    const both = [grantOf(), grantOf({ decision: 'reject' })];
    const { store } = await withGrants(start, ...(first === 0 ? both : both.toReversed()));

    expect(await store.use(QUERY)).toMatchObject({ decision: 'reject', uses: 1 });
    expect(await store.list()).toMatchObject(
      both.map(({ decision }) => ({ uses: decision === 'reject' ? 1 : 0 })),
    );
  });

  it('spends the narrowest grant first', async () => {
    const pattern = { arguments: { path: { glob: 'src/*' } } };
    const wide = grantOf({ pattern, shown: describePattern(pattern) });
    const { store } = await withGrants(start, wide, grantOf({ maxUses: 1 }));

    expect(await store.use(QUERY)).toMatchObject({ maxUses: 1 });
    expect(await store.use(QUERY)).toMatchObject({ id: wide.id });
  });

  it('lists by tool, oldest first', async () => {
    const later = grantOf({}, testClock(testClock().now() + 1));
    const { store } = await withGrants(start, later, grantOf({ toolName: 'other' }), grantOf());

    expect((await store.list({ toolName: 'other' })).map(({ toolName }) => toolName)).toEqual([
      'other',
    ]);
    expect((await store.list({ ended: true })).map(({ grantedAt }) => grantedAt)).toEqual(
      [...(await store.list({ ended: true }))].map(({ grantedAt }) => grantedAt).sort(),
    );
    expect(await store.get('unheard')).toBeNull();
  });

  it.each(['constructor', '__proto__', '../../etc/passwd', 'a\u0000b', 'x'.repeat(5000)])(
    'takes any name of a tool, session and id: %j',
    async (name) => {
      const grant = { ...grantOf({ toolName: name, sessionId: name, workspace: name }), id: name };
      const { store } = await withGrants(start, grant);

      expect(
        await store.use({ ...QUERY, toolName: name, sessionId: name, workspace: name }),
      ).toMatchObject({ id: name });
      expect(await store.revoke(name, 'bob')).toBe(true);
    },
  );

  it('does not take an id twice', async () => {
    const grant = grantOf();
    const { store } = await withGrants(start, grant);

    await expect((async () => store.add(grant))()).rejects.toThrow('of that id');
    await expect((async () => store.add({ ...grant, toolName: 'other' }))()).rejects.toThrow(
      'of that id',
    );
  });

  it('takes nothing that is no grant', async () => {
    const grant = grantOf();
    const { store } = start();
    const wrong = [
      null,
      {},
      { ...grant, more: 1 },
      { ...grant, pattern: null },
      { ...grant, pattern: { arguments: { a: { glob: '../*' } } } },
      { ...grant, expiresAt: '9999-12-31T23:59:59.999Z' },
      { ...grant, expiresAt: 'never' },
      { ...grant, expiresAt: grant.grantedAt },
      { ...grant, uses: -1 },
      { ...grant, uses: 0.5 },
      { ...grant, maxUses: 0 },
      { ...grant, scope: 'call' },
      { ...grant, decision: 'maybe' },
      { ...grant, definition: '' },
      { ...grant, revoked: {} },
    ];

    for (const each of wrong) {
      await expect((async () => store.add(each as never))()).rejects.toThrow(
        expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error,
      );
    }
    expect(await store.list({ ended: true })).toEqual([]);
  });

  it('keeps a copy: a grant that is changed after it was added stays what it was', async () => {
    const entry = { glob: 'src/*' };
    const { store } = await withGrants(start, {
      ...grantOf(),
      pattern: { arguments: { path: entry } },
    });
    entry.glob = 'etc/*';

    expect(await store.use({ ...QUERY, args: { path: 'etc/passwd' } })).toBeNull();
  });
});

/** Whether the store took it. */
const added = async (store: GrantStore, grant: Grant): Promise<boolean> => {
  try {
    await store.add(grant);
    return true;
  } catch (thrown) {
    if (isAlliumError(thrown, 'ERR_STORE_FULL')) return false;
    throw thrown;
  }
};

const ROOMS: readonly (readonly [string, (maxGrants: number) => GrantStore])[] = [
  ['memoryGrants', (maxGrants) => memoryGrants({ clock: testClock(), maxGrants })],
  [
    'fileGrants',
    (maxGrants) => fileGrants({ dir: join(folder(), 'grants'), clock: testClock(), maxGrants }),
  ],
];

describe.each(ROOMS)('the room of %s', (_name, start) => {
  const ofSession = (sessionId: string, changes: Partial<GrantRequest> = {}) =>
    grantOf({ sessionId, ...changes });
  const flood = async (store: GrantStore, count: number, changes: Partial<GrantRequest> = {}) => {
    let kept = 0;
    for (let nth = 0; nth < count; nth += 1)
      if (await added(store, ofSession('flooder', changes))) kept += 1;
    return kept;
  };

  it('is not for one session alone', async () => {
    const store = start(10);
    const before = ofSession('another');
    await store.add(before);

    expect(await flood(store, 20)).toBe(5);
    expect(await added(store, ofSession('another'))).toBe(true);
    expect(await store.get(before.id)).not.toBeNull();
  });

  it('is made by what has ended before anybody is refused', async () => {
    const store = start(10);
    await flood(store, 20);
    const [ended] = await store.list();
    await store.revoke(ended?.id ?? '', 'bob');

    expect(await flood(store, 2)).toBe(1);
  });

  it('is taken from the session that holds most where many fill it, and never with a grant that rejects', async () => {
    const store = start(4);
    const rejecting = ofSession('most', { decision: 'reject' });
    const allowing = ofSession('most');
    for (const grant of [rejecting, allowing, ofSession('b'), ofSession('c')])
      await store.add(grant);

    expect(await added(store, ofSession('d'))).toBe(true);
    expect([await store.get(rejecting.id), await store.get(allowing.id)]).toEqual([
      rejecting,
      null,
    ]);
  });

  it('is for nobody else where all that is left rejects', async () => {
    const store = start(2);
    for (const session of ['a', 'b']) await store.add(ofSession(session, { decision: 'reject' }));

    expect(await added(store, ofSession('c'))).toBe(false);
  });
});

/** A table with a cap, whoever fills it. */
function cappedGrants(maxGrants: number): GrantStore {
  const store = memoryGrants({ clock: testClock() });
  return {
    ...store,
    async add(grant) {
      if ((await store.list()).length >= maxGrants) throw new AlliumError('ERR_STORE_FULL', 'full');
      return store.add(grant);
    },
  };
}

describe('memoryGrants', () => {
  it('would keep another session out as a table with a cap', async () => {
    const store = cappedGrants(10);
    for (let nth = 0; nth < 20; nth += 1) await added(store, grantOf({ sessionId: 'flooder' }));

    expect(await added(store, grantOf({ sessionId: 'another' }))).toBe(false);
  });

  it.each([[{ maxGrants: 0 }], [{ clock: 1 }], [{ maxGrant: 1 }]])('refuses %j', (options) => {
    expect(() => memoryGrants(options as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error,
    );
  });
});
