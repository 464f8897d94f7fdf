import { describe, expect, it } from 'vitest';
import { evaluateStarlark } from './evaluate-starlark.ts';

describe('evaluateStarlark', () => {
  it('answers with the variables of a source, as plain values', async () => {
    const source =
      'a = 1 + 2\nb = [1.5, "é", None, True]\nc = {"__proto__": {"x": 1}}\nbig = 1 << 100\ndef f(): return 1\nt = (1, 2)\nprint("said", a)';
    const { globals, steps, prints, ...rest } = await evaluateStarlark(source);

    const c: unknown = JSON.parse('{"__proto__": {"x": 1}}');
    expect(globals).toEqual({ a: 3, b: [1.5, 'é', null, true], c, big: 1n << 100n, t: [1, 2] });
    expect(steps).toBeGreaterThan(0);
    expect(prints).toEqual(['said 3']);
    expect(rest).toEqual({});
  });

  it('calls a function, with a list of arguments or with named ones', async () => {
    const source = 'def add(a, b = 1):\n    return a + b + extra["n"]\n';
    const predeclared = { extra: { n: 100 } };

    expect(
      await evaluateStarlark(source, { call: 'add', args: [1, 2], predeclared }),
    ).toMatchObject({ value: 103, globals: {} });
    expect(
      (await evaluateStarlark(source, { call: 'add', args: { a: 5 }, predeclared })).value,
    ).toBe(106);
  });

  it('calls functions of the host', async () => {
    const predeclared = { host: { twice: async ([n = 0]: readonly unknown[]) => Number(n) * 2 } };

    expect((await evaluateStarlark('x = host.twice(4)', { predeclared })).globals).toEqual({
      x: 8,
    });
  });

  it('rejects with the place and the open calls', async () => {
    const place = { line: 2, column: 14 };
    const failed = evaluateStarlark('def f():\n    return 1 // 0\nx = f()\n');

    await expect(failed).rejects.toMatchObject({
      code: 'ERR_STARLARK',
      ...place,
      details: { kind: 'eval', ...place },
    });
    await expect(failed).rejects.toHaveProperty('traceback.length', 2);
    await expect(evaluateStarlark('x = (')).rejects.toMatchObject({
      code: 'ERR_STARLARK',
      kind: 'syntax',
      line: 1,
    });
  });

  it.each([
    [{ maxSteps: 100 }, 'steps'],
    [{ maxBytes: 1000 }, 'memory'],
    [{ maxSteps: 1e15, maxBytes: 1e15, deadlineMs: 50 }, 'deadline'],
  ])('stops at %j', async (limits, kind) => {
    await expect(
      evaluateStarlark(
        'def f():\n    for i in range(1000000000):\n        x = str(i) + "x"\nf()',
        limits,
      ),
    ).rejects.toMatchObject({ kind });
    expect((await evaluateStarlark('x = 1')).globals).toEqual({ x: 1 });
  });

  it.each([{ maxStep: 1 }, { args: 'x' }, { call: 7 }, { libraries: ['os'] }])(
    'refuses the options %j',
    async (wrong) => {
      await expect(evaluateStarlark('x = 1', wrong as never)).rejects.toMatchObject({
        code: 'ERR_INVALID_OPTION',
      });
    },
  );
});
