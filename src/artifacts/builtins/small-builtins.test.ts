import { describe, expect, it } from 'vitest';
import { ok, refuse } from '../../core/onion/results.ts';
import { makeCall, testClock } from '../../../conformance/test-kit.ts';
import { StopScript } from '../sandbox/host-function.ts';
import { createScriptCaches } from './script-cache.ts';
import { useBuiltins } from './use.fixture.ts';

describe('cache', () => {
  it('keeps values from call to call, as they were when they were kept', async () => {
    const { call } = useBuiltins({});
    const value = { list: [1, { two: null }], __proto__: 'text' };

    expect(await call('cache.get', ['k'])).toBeNull();
    expect(await call('cache.get', ['k', 7])).toBe(7);
    expect(await call('cache.set', ['k', value])).toBe(true);
    expect(await call('cache.get', ['k'])).toEqual(value);
    expect(await call('cache.get', ['k'])).not.toBe(value);
    expect([
      await call('cache.has', ['k']),
      await call('cache.delete', ['k']),
      await call('cache.has', ['k']),
    ]).toEqual([true, true, false]);
  });

  it('keeps each tool its own, and false, 0 and None for what they are', async () => {
    const caches = createScriptCaches();
    const [one, other] = ['one', 'other'].map((tool) =>
      useBuiltins({}, { cache: caches.for(tool) }),
    );
    for (const value of [false, 0, '', null]) {
      await one?.call('cache.set', [`k${String(value)}`, value]);
      expect(await one?.call('cache.has', [`k${String(value)}`])).toBe(true);
      expect(await other?.call('cache.has', [`k${String(value)}`])).toBe(false);
    }

    expect(await one?.call('cache.get', ['kfalse', 'default'])).toBe(false);
    expect(await one?.call('cache.get', ['k0', 'default'])).toBe(0);
  });

  it('forgets by time, by number and by size', async () => {
    const clock = testClock();
    const cache = createScriptCaches({ clock, maxEntries: 2, maxBytes: 1000 }).for('tool');
    cache.set('short', 1, 100);
    await clock.advance(99);
    expect(cache.get('short')).toBe(1);
    await clock.advance(2);
    expect(cache.get('short')).toBeUndefined();

    for (const key of ['a', 'b', 'c']) cache.set(key, key);
    expect(['a', 'b', 'c'].map((key) => cache.has(key))).toEqual([false, true, true]);
    expect(cache.set('large', 'x'.repeat(2000))).toBe(false);
    expect(cache.has('c')).toBe(true);
  });

  it('refuses keys that are no short text', async () => {
    const { call } = useBuiltins({});

    await expect(call('cache.get', [7])).rejects.toThrow(
      'cache.get: "key" must be a string, got an int',
    );
    await expect(call('cache.set', ['x'.repeat(1025), 1])).rejects.toThrow(
      '"key" must be at most 1024 bytes long',
    );
    await expect(call('cache.set', ['k', 1], { ttl: 5 })).rejects.toThrow(
      'cache.set: has no argument "ttl"; it takes key, value, ttl_ms',
    );
  });
});

describe('log, time and env', () => {
  it('write lines of a bounded length', async () => {
    const use = useBuiltins({});
    expect(await use.call('log.info', ['hello'])).toBeNull();
    await use.call('log.warn', ['x'.repeat(10_000)]);

    expect(use.logged).toEqual(['info: hello', `warn: ${'x'.repeat(8192)}`]);
    await expect(use.call('log.info', [{ a: 1 }])).rejects.toThrow(
      'log.info: "text" must be a string, got a dict',
    );
  });

  it('tell the time of the host, as text and as a number', async () => {
    const clock = testClock();
    const { call } = useBuiltins({}, { clock });

    expect(await call('time.now')).toEqual({
      iso: new Date(clock.now()).toISOString(),
      epoch_ms: clock.now(),
    });
    await expect(call('time.now', [1])).rejects.toThrow('time.now: takes no arguments, got 1');
  });

  it('read the variables that were granted', async () => {
    const environment = { GIVEN: 'yes', SECRET: 'canary' };
    const use = useBuiltins({ env: ['GIVEN', 'UNSET', 'constructor'], environment });

    expect(await use.call('env.get', ['GIVEN'])).toBe('yes');
    expect(await use.call('env.get', ['UNSET'])).toBeNull();
    expect(await use.call('env.get', ['UNSET', 'other'])).toBe('other');
    expect(await use.call('env.get', ['constructor'])).toBeNull();
    await expect(use.call('env.get', ['SECRET'])).rejects.toThrow(
      'env.get: the variable is not granted; granted: GIVEN, UNSET, constructor',
    );
    expect(use.asked[0]).toEqual({ kind: 'custom.env.get', name: 'GIVEN' });
    await expect(
      useBuiltins({ env: ['GIVEN'], environment }, { denies: 'custom.env' }).call('env.get', [
        'GIVEN',
      ]),
    ).rejects.toThrow('not permitted');
  });
});

describe('the answers of a hook', () => {
  it('are dicts that say what was decided', async () => {
    const { call } = useBuiltins({});

    expect(await call('allow')).toEqual({ action: 'allow' });
    expect(await call('block', ['no'])).toEqual({ action: 'block', reason: 'no' });
    expect(await call('modify', [{ a: 1 }])).toEqual({ action: 'modify', payload: { a: 1 } });
    await expect(call('block')).rejects.toThrow('block: missing argument "reason", a string');
    await expect(call('modify', ['x'])).rejects.toThrow(
      'modify: "payload" must be a dict, got a string',
    );
  });
});

describe('task, delegate and meta', () => {
  it('ask the task board', async () => {
    const tasks = {
      poll: async (id: string) => ({ id, status: 'running' }),
      await: async (id: string, { timeoutMs }: { timeoutMs: number }) => ({ id, timeoutMs }),
    };
    const use = useBuiltins({}, { tasks });

    expect(await use.call('task.poll', ['t1'])).toEqual({ id: 't1', status: 'running' });
    expect(await use.call('task.await', ['t1'], { timeout_ms: 50 })).toEqual({
      id: 't1',
      timeoutMs: 50,
    });
    expect(use.asked.map(({ kind }) => kind)).toEqual(['custom.task.poll', 'custom.task.await']);
    await expect(useBuiltins({}).call('task.poll', ['t1'])).rejects.toThrow(
      'task.poll: there are no tasks here',
    );
  });

  it('call other tools through the stack, and tell what came of it', async () => {
    const requests: unknown[] = [];
    const call = makeCall({});
    const use = useBuiltins(
      {},
      {
        call: async (request) => {
          requests.push(request);
          return request.name === 'echo'
            ? ok(call, { said: 1 })
            : refuse(call, 'policy_blocked', 'No.');
        },
      },
    );

    expect(await use.call('delegate', ['echo', { a: 1 }])).toMatchObject({
      ok: true,
      status: 'ok',
      result: { said: 1 },
      error: null,
    });
    expect(await use.call('delegate', ['other'])).toMatchObject({
      ok: false,
      status: 'policy_blocked',
      error: 'No.',
    });
    expect(requests).toEqual([
      { name: 'echo', arguments: { a: 1 } },
      { name: 'other', arguments: {} },
    ]);
    await expect(useBuiltins({}).call('delegate', ['echo'])).rejects.toThrow(
      'delegate: no other tool can be called from here',
    );
  });

  it('register nothing unless it was granted', async () => {
    const taken: unknown[] = [];
    const register = async (kind: string, definition: unknown) => {
      taken.push([kind, definition]);
      return true;
    };
    const use = useBuiltins({ meta: true }, { register });

    await expect(
      useBuiltins({}, { register }).call('meta.tool_register', [{ name: 'x' }]),
    ).rejects.toThrow('meta.tool_register: not granted');
    await expect(
      useBuiltins({ meta: true }).call('meta.hook_register', [{ name: 'x' }]),
    ).rejects.toThrow('meta.hook_register: not granted');
    await expect(
      useBuiltins({ meta: true }, { register, denies: 'custom.meta' }).call('meta.tool_register', [
        {},
      ]),
    ).rejects.toThrow('not permitted');
    expect(taken).toEqual([]);
    expect(await use.call('meta.tool_register', [{ name: 'x' }])).toBe(true);
    expect(use.asked).toEqual([{ kind: 'custom.meta.tool_register', name: 'x' }]);
  });
});

describe('every built-in', () => {
  it('is recorded by name and outcome, whatever it came to', async () => {
    const use = useBuiltins({});
    await use.call('allow');
    await use.call('env.get', ['X']).catch(() => {});
    await use.call('log.info').catch(() => {});

    expect(use.recorded.map(({ builtin, outcome }) => `${builtin} ${outcome}`)).toEqual([
      'allow ok',
      'env.get failed',
      'log.info failed',
    ]);
  });

  it('tells a script nothing of an error that was not made for it, and lets an ending pass', async () => {
    const thrown = (error: unknown) =>
      useBuiltins(
        {},
        { tasks: { poll: () => Promise.reject(error), await: async () => null } },
      ).call('task.poll', ['t']);

    await expect(
      thrown(Object.assign(new Error('token canary'), { config: 'canary' })),
    ).rejects.toThrow(/^task\.poll: failed$/);
    await expect(thrown(new StopScript({ a: 1 }))).rejects.toMatchObject({
      name: 'StopScript',
      value: { a: 1 },
    });
  });

  it('does nothing for a call that has gone', async () => {
    const use = useBuiltins({});
    use.controller.abort();

    await expect(use.call('log.info', ['x'])).rejects.toThrow('log.info: cancelled');
    expect(use.logged).toEqual([]);
    expect(use.recorded).toMatchObject([{ outcome: 'cancelled' }]);
  });
});
