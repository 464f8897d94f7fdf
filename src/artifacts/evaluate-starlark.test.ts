import { describe, expect, it } from 'vitest';
import { evaluateStarlark } from './evaluate-starlark.ts';

describe('evaluateStarlark', () => {
  it('answers with the variables of a source, as plain values', async () => {
    const source =
      'a = 1 + 2\nb = [1.5, "é", None, True]\nc = {"__proto__": {"x": 1}}\nbig = 1 << 100\ndef f(): return 1\nt = (1, 2)\nprint("said", a)';
    const { globals, steps, prints, ...rest } = await evaluateStarlark(source);

    expect(globals).toEqual({
      a: 3,
      b: [1.5, 'é', null, true],
      c: JSON.parse('{"__proto__": {"x": 1}}') as unknown,
      big: 1n << 100n,
      t: [1, 2],
    });
    expect(steps).toBeGreaterThan(0);
    expect(prints).toEqual(['said 3']);
    expect(rest).toEqual({});
  });
});
