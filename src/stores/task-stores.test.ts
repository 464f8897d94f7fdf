import { describe, expect, it } from 'vitest';
import { type TestClock, testClock } from '../../conformance/index.ts';
import { memoryTasks, type MemoryTasksOptions } from './memory/memory-tasks.ts';
import type { TaskAnswer, TaskRecord, TaskStore } from './task-store.ts';

type Bounds = Pick<MemoryTasksOptions, 'maxRunning' | 'maxKept' | 'ttlMs'>;
type MakeStore = (clock: TestClock, bounds: Bounds) => TaskStore;
const stores: readonly (readonly [string, MakeStore])[] = [
  ['memoryTasks', (clock, bounds) => memoryTasks({ clock, ...bounds })],
];

const task = (id: string, sessionId = 's') => ({
  id,
  toolName: 'build',
  sessionId,
  callId: `call-${id}`,
});
const answer = (text: string): TaskAnswer => ({
  status: 'ok',
  executed: 'yes',
  result: text,
  text,
  error: null,
});
const done = (text = 'built') => ({ state: 'completed' as const, answer: answer(text) });

describe.each(stores)('%s', (_name, make) => {
  const start = (bounds: Bounds = {}) => {
    const clock = testClock();
    return { clock, store: make(clock, bounds) };
  };

  it('keeps a task from its start to its end', async () => {
    const { clock, store } = start();

    expect(await store.open(task('a'))).toBe(true);
    expect(await store.get('a')).toEqual({
      ...task('a'),
      state: 'running',
      startedAt: expect.any(String) as unknown,
      endedAt: null,
      answer: null,
    });
    await clock.advance(5);
    expect(await store.settle('a', done())).toBe(true);
    const kept = (await store.get('a')) as TaskRecord;
    expect(kept).toMatchObject({ state: 'completed', answer: answer('built') });
    expect(Date.parse(kept.endedAt ?? '') - Date.parse(kept.startedAt)).toBe(5);
    expect(await store.get('b')).toBeNull();
  });

  it('lets the first end stay', async () => {
    const { store } = start();
    await store.open(task('a'));
    const ends = await Promise.all([
      store.settle('a', done('first')),
      store.settle('a', { state: 'cancelled', answer: answer('second') }),
    ]);

    expect(ends).toEqual([true, false]);
    expect(await store.get('a')).toMatchObject({ state: 'completed', answer: { text: 'first' } });
    expect(await store.settle('b', done())).toBe(false);
  });

  it('takes waiting for no end', async () => {
    const { store } = start();
    await store.open(task('a'));

    expect(await store.settle('a', { state: 'waiting', answer: answer('asks') })).toBe(true);
    expect(await store.get('a')).toMatchObject({ state: 'waiting', endedAt: null });
    expect(await store.settle('a', done())).toBe(true);
    expect(await store.get('a')).toMatchObject({ state: 'completed' });
  });

  it('takes no id twice, running or ended', async () => {
    const { store } = start();
    await store.open(task('a'));

    expect(await store.open(task('a'))).toBe(false);
    await store.settle('a', done());
    expect(await store.open(task('a'))).toBe(false);
  });

  it('runs so many at once, and a place that becomes free is taken', async () => {
    const { store } = start({ maxRunning: 2 });
    await store.open(task('a'));
    await store.open(task('b'));

    expect(await store.open(task('c'))).toBe(false);
    expect(await store.get('c')).toBeNull();
    await store.settle('a', done());
    expect(await store.open(task('c'))).toBe(true);
  });

  it('keeps so many that have ended, and never drops one that runs', async () => {
    const { store } = start({ maxKept: 2 });
    for (const id of ['a', 'b', 'c', 'd']) await store.open(task(id));
    for (const id of ['c', 'a', 'b']) await store.settle(id, done());

    expect(await store.get('c')).toBeNull();
    expect(await store.get('a')).toMatchObject({ state: 'completed' });
    expect(await store.get('b')).toMatchObject({ state: 'completed' });
    expect(await store.get('d')).toMatchObject({ state: 'running' });
  });

  it('keeps places for others where one session starts as many as it can', async () => {
    const { store } = start({ maxRunning: 8 });
    const flood = [];
    for (let nth = 0; nth < 20; nth += 1)
      flood.push(await store.open(task(`flood-${nth}`, 'flooder')));

    expect(flood.filter(Boolean)).toHaveLength(6);
    expect(await store.open(task('a', 'another'))).toBe(true);
  });

  it('keeps the answer of one session while another one ends a flood of tasks', async () => {
    const { store } = start({ maxKept: 10 });
    await store.open(task('a', 'another'));
    await store.settle('a', done());
    for (let nth = 0; nth < 50; nth += 1) {
      await store.open(task(`flood-${nth}`, 'flooder'));
      await store.settle(`flood-${nth}`, done());
    }

    expect(await store.get('a')).toMatchObject({ state: 'completed' });
    expect(await store.get('flood-49')).toMatchObject({ state: 'completed' });
    expect(await store.get('flood-0')).toBeNull();
  });

  it('forgets what has ended after a time, and what runs not', async () => {
    const { clock, store } = start({ ttlMs: 100 });
    await store.open(task('a'));
    await store.open(task('b'));
    await store.settle('a', done());

    await clock.advance(99);
    expect(await store.get('a')).not.toBeNull();
    await clock.advance(1);
    expect(await store.get('a')).toBeNull();
    expect(await store.get('b')).toMatchObject({ state: 'running' });
  });
});

describe('memoryTasks', () => {
  it('hands out records that nobody can change', async () => {
    const store = memoryTasks();
    await store.open(task('a'));

    expect(Object.isFrozen(await store.get('a'))).toBe(true);
  });

  it.each([{ maxRunning: 0 }, { maxKept: -1 }, { ttlMs: '5' }, { maxTasks: 3 }])(
    'refuses to be built with %o',
    (options) => {
      expect(() => memoryTasks(options as never)).toThrow(/memoryTasks/);
    },
  );
});
