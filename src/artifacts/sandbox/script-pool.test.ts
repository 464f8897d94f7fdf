import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { JsonValue } from '../../core/json/json-value.ts';
import { testClock } from '../../../conformance/test-kit.ts';
import { HostError, type HostFunction, StopScript } from './host-function.ts';
import { createScriptPool, type ScriptPool } from './script-pool.ts';
import type { ScriptRequest } from './script-request.ts';

let pool: ScriptPool;
beforeEach(() => {
  pool = createScriptPool({ maxBytes: 32 * 1024 * 1024 });
});
afterEach(() => pool.close());

const request = (source: string, more: Partial<ScriptRequest> = {}): ScriptRequest => ({
  ...{ source, file: 'tool.md', entry: { call: 'run', args: [] } },
  ...more,
});
const run = (source: string, more: Partial<ScriptRequest> = {}) => pool.run(request(source, more));
const returning = (body: string, more: Partial<ScriptRequest> = {}) =>
  run(`def run():\n    return ${body}\n`, more);
const failure = (kind: string) => ({ code: 'ERR_STARLARK', details: { kind } });
/** Threads take their time to come up on a busy machine. */
const PATIENCE = { timeout: 30_000 };
const FOREVER = 'def run():\n    for i in range(1000000000):\n        pass\n';
const forever: Partial<ScriptRequest> = { maxSteps: 1e15 };
/** Waits until it is let go, or its signal aborts. */
function gate() {
  const state = { entered: 0, aborted: 0, open: (): void => {} };
  const opened = new Promise<void>((resolve) => (state.open = resolve));
  const wait: HostFunction = async (_args, _kwargs, { signal }) => {
    state.entered += 1;
    signal.addEventListener('abort', () => (state.aborted += 1));
    await opened;
    return 'opened';
  };
  return { state, wait };
}

describe('a script pool', () => {
  it('calls a function of a script with JSON, and answers with JSON', async () => {
    const args: JsonValue[] = [{ a: [1, 2.5, 'é', null, true] }];
    const source =
      'def run(x, times = 1):\n    return {"given": x, "times": times, "tuple": (1, 2)}\n';
    const { value, steps, bytes } = await run(source, {
      entry: { call: 'run', args, kwargs: { times: 3 } },
    });

    expect(value).toEqual({ given: args[0], times: 3, tuple: [1, 2] });
    expect(steps).toBeGreaterThan(0);
    expect(bytes).toBeGreaterThan(0);
  });

  it('evaluates expressions over names, and gives the variables of a module', async () => {
    const entry = {
      expression: 'event == "tool.pre" and payload["n"] > 2',
      names: { event: 'tool.pre', payload: { n: 3 } },
    };

    expect((await pool.run(request('', { entry }))).value).toBe(true);
    expect((await run('a = 1\ndef f(): return a\n', { entry: { globals: true } })).globals).toEqual(
      { a: 1 },
    );
  });

  it('runs each script as a module of its own', async () => {
    const source = 'state = []\ndef run():\n    state.append(1)\n    return len(state)\n';
    await expect(run(source)).rejects.toMatchObject(failure('eval'));

    const fresh = 'def run():\n    state = []\n    state.append(1)\n    return len(state)\n';
    expect([(await run(fresh)).value, (await run(fresh)).value]).toEqual([1, 1]);
  });

  it('calls functions of the host, which look synchronous', async () => {
    const seen: unknown[] = [];
    const twice: HostFunction = async (args, kwargs) => {
      seen.push([args, kwargs]);
      return Number(args[0]) * 2;
    };
    const predeclared = { twice, tools: { inner: { twice } }, config: { a: { b: 1 } } };
    const { value } = await returning(
      '[twice(2, why = "é"), tools.inner.twice(3), config["a"]["b"]]',
      { predeclared },
    );

    expect(value).toEqual([4, 6, 1]);
    expect(seen).toEqual([
      [[2], { why: 'é' }],
      [[3], {}],
    ]);
  });

  it('raises what the host throws inside of the script, and ends it with a value', async () => {
    const predeclared = {
      failing: () => Promise.reject(new HostError('fs.read: no such é file')),
      broken: () => Promise.reject(new Error('inside')),
      ending: () => Promise.reject(new StopScript({ ended: true })),
    };

    await expect(returning('failing()', { predeclared, firstLine: 10 })).rejects.toMatchObject({
      ...{ code: 'ERR_STARLARK', message: 'fs.read: no such é file', kind: 'eval', line: 11 },
      traceback: [
        expect.objectContaining({ name: 'run', file: 'tool.md', line: 11 }) as unknown,
        expect.anything() as unknown,
      ],
    });
    await expect(returning('broken()', { predeclared })).rejects.toMatchObject({
      message: 'broken: inside',
    });
    expect(
      (await run('def run():\n    ending()\n    fail("not reached")\n', { predeclared })).value,
    ).toEqual({ ended: true });
  });

  it('works for the host where the caller was', async () => {
    const context = new AsyncLocalStorage<string>();
    const who: HostFunction = async () => context.getStore() ?? 'nobody';
    const values = await Promise.all(
      ['a', 'b', 'c'].map((name) =>
        context.run(name, () => returning('who()', { predeclared: { who } })),
      ),
    );

    expect(values.map(({ value }) => value)).toEqual(['a', 'b', 'c']);
  });

  it('has the pure libraries, and adds what the host gives under the same name', async () => {
    const now: HostFunction = async () => 7;
    const body = '[json.decode("[1]"), time.now(), json.encode({"a": 1})]';

    expect(
      (await returning(body, { libraries: ['json'], predeclared: { time: { now } } })).value,
    ).toEqual([[1], 7, '{"a":1}']);
    await expect(returning('json.encode(1)')).rejects.toMatchObject(failure('resolve'));
  });

  it('tells what was printed, while it is printed and after', async () => {
    const heard: string[] = [];
    const onPrint = (text: string) => {
      heard.push(text);
      throw new Error('a listener decides nothing');
    };
    const { prints } = await run('def run():\n    print("a", 1)\n    print("é")\n', { onPrint });

    expect([prints, heard]).toEqual([
      ['a 1', 'é'],
      ['a 1', 'é'],
    ]);
  });

  it.each([
    ['def run(:\n', 'syntax', 5],
    ['def run():\n    return missing\n', 'resolve', 6],
    ['def run():\n    return 1 // 0\n', 'eval', 6],
    ['def run():\n    fail("said")\n', 'fail', 6],
    ['def other():\n    pass\n', 'eval', undefined],
  ])('says where %j went wrong', async (source, kind, line) => {
    await expect(run(source, { firstLine: 5, firstColumn: 3 })).rejects.toMatchObject({
      ...failure(kind),
      line,
      code: 'ERR_STARLARK',
    });
  });

  it.each([
    [{ source: 7 }, 'source'],
    [{ source: 'x'.repeat(2_000_000) }, 'source'],
    [{ entry: { run: 1 } }, 'entry'],
    [{ maxSteps: 0 }, 'maxSteps'],
    [{ libraries: ['os'] }, 'libraries'],
    [{ timeout: 1 }, 'timeout'],
  ])('refuses the request %j', async (wrong, option) => {
    const details = expect.objectContaining({ option }) as unknown;
    await expect(run('', wrong as never)).rejects.toMatchObject({
      code: 'ERR_INVALID_OPTION',
      details,
    });
  });

  it.each([{ size: 0 }, { maxBytes: -1 }, { workers: 2 }])('is not made of %j', (wrong) => {
    expect(() => createScriptPool(wrong as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }),
    );
  });
});

describe('a script that does not end', () => {
  it('is stopped at its deadline, and the next one runs', async () => {
    await returning('1');
    const startedAt = performance.now();

    await expect(run(FOREVER, { ...forever, deadlineMs: 100 })).rejects.toMatchObject(
      failure('deadline'),
    );
    expect(performance.now() - startedAt).toBeLessThan(2000);
    expect((await returning('"next"')).value).toBe('next');
  });

  it('is stopped after a minute without a word where it has no deadline, and a word begins another one', async () => {
    const clock = testClock();
    const { state, wait } = gate();
    const own = createScriptPool({ clock, maxBytes: 32 * 1024 * 1024 });
    onTestFinished(() => own.close());
    const source = `def run():\n    wait()\n    for i in range(1000000000):\n        pass\n`;
    const running = own.run(request(source, { ...forever, predeclared: { wait } }));
    const ended = running.then(
      () => 'ok',
      (error: unknown) => error,
    );
    await vi.waitFor(() => expect(state.entered).toBe(1), PATIENCE);
    await clock.advance(600_000);
    state.open();
    await vi.waitFor(() => expect(clock.pending).toBe(1), PATIENCE);
    await clock.advance(59_999);

    expect(own.counts()).toMatchObject({ running: 1 });
    await clock.advance(1);
    expect(await ended).toMatchObject(failure('deadline'));
  });

  it('is stopped when its caller has gone, also while it waits for a place', async () => {
    const controller = new AbortController();
    const running = Array.from({ length: 4 }, () =>
      run(FOREVER, { ...forever, signal: controller.signal }),
    );
    for (const each of running) each.catch(() => {});
    await vi.waitFor(
      () => expect(pool.counts()).toMatchObject({ running: 2, waiting: 2 }),
      PATIENCE,
    );
    controller.abort();

    for (const each of running) await expect(each).rejects.toMatchObject(failure('cancelled'));
    expect(pool.counts()).toMatchObject({ running: 0, waiting: 0 });
    await expect(run('', { signal: controller.signal })).rejects.toMatchObject(
      failure('cancelled'),
    );
    expect((await returning('"next"')).value).toBe('next');
  });

  it('is not waited for while the host works for it: the work is aborted', async () => {
    const controller = new AbortController();
    const { state, wait } = gate();
    const running = returning('wait()', { predeclared: { wait }, signal: controller.signal });
    running.catch(() => {});
    await vi.waitFor(() => expect(state.entered).toBe(1), PATIENCE);
    controller.abort();

    await expect(running).rejects.toMatchObject(failure('cancelled'));
    expect(state.aborted).toBe(1);
    const clock = testClock();
    const own = createScriptPool({ clock });
    onTestFinished(() => own.close());
    const late = own.run(
      request('def run():\n    return wait()\n', { predeclared: { wait }, deadlineMs: 50 }),
    );
    late.catch(() => {});
    await vi.waitFor(() => expect(state.entered).toBe(2), PATIENCE);
    await clock.advance(50);
    await expect(late).rejects.toMatchObject(failure('deadline'));
    expect(state.aborted).toBe(2);
    state.open();
    expect((await returning('wait()', { predeclared: { wait } })).value).toBe('opened');
  });

  it('does not hold up those behind it', async () => {
    const stuck = Array.from({ length: 2 }, () => run(FOREVER, { ...forever, deadlineMs: 300 }));
    for (const each of stuck) each.catch(() => {});
    const behind = await Promise.all(
      Array.from({ length: 10 }, (_, index) => returning(String(index))),
    );

    expect(behind.map(({ value }) => value)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });
});

describe('scripts that wait for the host', () => {
  it('leave their places to others', async () => {
    const { state, wait } = gate();
    const sleeping = Array.from({ length: 4 }, () =>
      returning('wait()', { predeclared: { wait } }),
    );
    for (const each of sleeping) each.catch(() => {});
    await vi.waitFor(() => expect(state.entered).toBe(4), PATIENCE);

    expect((await returning('"past them"')).value).toBe('past them');
    state.open();
    expect((await Promise.all(sleeping)).map(({ value }) => value)).toEqual(
      Array.from({ length: 4 }, () => 'opened'),
    );
  });

  it('may wait for scripts that wait for scripts, however many do', async () => {
    const down: HostFunction = async ([depth = 0]) =>
      (
        await run('def run(n):\n    return n if n == 0 else down(n - 1) + 1\n', {
          entry: { call: 'run', args: [depth] },
          predeclared: { down },
        })
      ).value;
    const all = await Promise.all(
      Array.from({ length: 6 }, () => returning('down(3)', { predeclared: { down } })),
    );

    expect(all.map(({ value }) => value)).toEqual(Array.from({ length: 6 }, () => 3));
    await expect(returning('down(100)', { predeclared: { down } })).rejects.toThrow(
      'deeper than 16',
    );
  });
});

describe('sessions that share a pool', () => {
  /** How many of a flood had ended when the one script of another session did. */
  async function endedBefore(own: (name: string) => Partial<ScriptRequest>): Promise<number> {
    let ended = 0;
    const flood = Array.from({ length: 200 }, () =>
      returning('1', own('flooder')).then(() => (ended += 1)),
    );
    await returning('2', own('another'));
    const before = ended;
    await Promise.all(flood);
    return before;
  }

  it('take turns: two hundred scripts of one do not keep another one waiting', async () => {
    expect(await endedBefore((owner) => ({ owner }))).toBeLessThan(20);
  });

  it('do not where nobody says whose a script is, and the same scripts find it', async () => {
    expect(await endedBefore(() => ({}))).toBeGreaterThan(150);
  });

  it('leave places to each other while scripts of one sleep', async () => {
    const { state, wait } = gate();
    const sleeping = Array.from({ length: 40 }, () =>
      returning('wait()', { predeclared: { wait }, owner: 'flooder' }),
    );
    await vi.waitFor(() => expect(state.entered).toBe(8), PATIENCE);

    expect((await returning('"past them"', { owner: 'another' })).value).toBe('past them');
    state.open();
    expect(await Promise.all(sleeping)).toHaveLength(40);
  });

  it('are told apart when too many wait: the one that floods is refused, and the other one runs', async () => {
    const small = createScriptPool({ maxWaiting: 10 });
    onTestFinished(() => small.close());
    const { state, wait } = gate();
    const give = (owner: string) =>
      small.run(request('def run():\n    return wait()\n', { predeclared: { wait }, owner }));
    const flood = Array.from({ length: 40 }, () => give('flooder'));
    const settled = Promise.allSettled(flood);
    const other = give('another');
    state.open();

    expect((await other).value).toBe('opened');
    const kinds = (await settled).map((each) =>
      each.status === 'rejected' ? (each.reason as { kind: string }).kind : 'done',
    );
    expect([...new Set(kinds)].toSorted()).toEqual(['busy', 'done']);
    expect(small.counts().waiting).toBe(0);
  });
});

describe('a pool that is closed', () => {
  it('has ended what ran and waited, and takes nothing more', async () => {
    const all = Array.from({ length: 3 }, () => run(FOREVER, forever));
    const ended = Promise.allSettled(all);
    await vi.waitFor(() => expect(pool.counts().running).toBe(2), PATIENCE);
    await pool.close();

    expect(
      (await ended).map((each) =>
        each.status === 'rejected' ? (each.reason as { kind: string }).kind : '',
      ),
    ).toEqual(['cancelled', 'cancelled', 'cancelled']);
    expect(pool.counts()).toEqual({ workers: 0, running: 0, waiting: 0 });
    await expect(returning('1')).rejects.toMatchObject({ code: 'ERR_CLOSED' });
  });

  it('has nothing left: no thread, no timer, no listener', async () => {
    const before = process.getActiveResourcesInfo().length;
    const controller = new AbortController();
    await returning('1', { signal: controller.signal, deadlineMs: 60_000 });
    await run(FOREVER, { ...forever, deadlineMs: 20, signal: controller.signal }).catch(() => {});
    await pool.close();

    expect(
      process.getActiveResourcesInfo().filter((name) => /Worker|MessagePort/.test(name)),
    ).toEqual([]);
    expect(process.getActiveResourcesInfo().length).toBeLessThanOrEqual(before);
  });

  it('need not be: workers without work end by themselves, and keep no process alive', async () => {
    const brief = createScriptPool({ idleMs: 1 });
    await brief.run(request('def run():\n    return 1\n'));

    await vi.waitFor(() => expect(brief.counts().workers).toBe(0), PATIENCE);
    await returning('1');
    expect(pool.counts().workers).toBe(1);
    expect(
      process.getActiveResourcesInfo().filter((name) => /Worker|MessagePort/.test(name)),
    ).toEqual([]);
  });
});
