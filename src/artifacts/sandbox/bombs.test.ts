import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createScriptPool, type ScriptPool } from './script-pool.ts';
import type { ScriptRequest } from './script-request.ts';

let pool: ScriptPool;
beforeAll(() => {
  pool = createScriptPool({ maxBytes: 32 * 1024 * 1024, maxSteps: 2_000_000 });
});
afterAll(() => pool.close());

let hostCalls = 0;
const predeclared = {
  host: async () => {
    hostCalls += 1;
    return 1;
  },
};
const run = (source: string, more: Partial<ScriptRequest> = {}) =>
  pool.run({
    source,
    file: 'tool.md',
    entry: { call: 'run', args: [] },
    predeclared,
    libraries: ['json', 're', 'string'],
    deadlineMs: 60_000,
    ...more,
  });
const loop = (before: string, body: string, after = 'return 1') =>
  `def run():\n    ${before}\n    for i in range(1000000000):\n        ${body}\n    ${after}\n`;

const BOMBS: readonly (readonly [name: string, source: string, kind: string])[] = [
  ['a loop without end', loop('x = 0', 'x += 1'), 'steps'],
  [
    'loops in loops',
    'def run():\n    for a in range(100000):\n        for b in range(100000):\n            pass\n',
    'steps',
  ],
  [
    'calls without end',
    'def f(x):\n    return x\ndef run():\n    for i in range(1000000000):\n        f(i)\n',
    'steps',
  ],
  [
    'a comprehension without end',
    'def run():\n    return [0 for i in range(1000000000)]\n',
    'steps|memory',
  ],
  ['a text that doubles', loop('x = "a"', 'x = x + x'), 'memory'],
  ['a list that doubles', loop('x = [1]', 'x = x + x'), 'memory'],
  ['a list that grows', loop('x = []', 'x.append("x" * 1000)'), 'memory'],
  ['a dict that grows', loop('x = {}', 'x[str(i) * 100] = i'), 'memory'],
  ['a text at once', 'def run():\n    return "a" * 1000000000\n', 'memory'],
  ['a list at once', 'def run():\n    return [0] * 1000000000\n', 'memory'],
  ['a tuple at once', 'def run():\n    return (0,) * 1000000000\n', 'memory'],
  ['a list of a range', 'def run():\n    return list(range(1000000000))\n', 'memory|steps'],
  ['an answer of too many values', 'def run():\n    return {"list": [0] * 300000}\n', 'memory'],
  ['a range as an answer', 'def run():\n    return range(1000000000)\n', 'memory'],
  ['a number at once', 'def run():\n    return 1 << 100000000\n', 'memory|eval'],
  ['a number that doubles', loop('x = 3', 'x = x * x'), 'memory|eval|steps'],
  [
    'a format',
    'def run():\n    return "%s" % ("a" * 20000000) + "%s" % ("a" * 20000000)\n',
    'memory',
  ],
  ['a join', 'def run():\n    return ("a" * 10000).join(["b"] * 100000)\n', 'memory'],
  ['a replacement', 'def run():\n    return ("a" * 10000).replace("a", "b" * 100000)\n', 'memory'],
  [
    'an answer that doubles',
    loop('x = [1]', 'x = [x, x]', 'return x').replace('1000000000', '60'),
    'memory|steps',
  ],
  [
    'an argument for the host that doubles',
    loop('x = [1]', 'x = [x, x]', 'return host(x)').replace('1000000000', '60'),
    'memory|steps',
  ],
  ['a long answer', 'def run():\n    return ["x" * 1000] * 1000000\n', 'memory'],
  [
    'an answer that holds itself',
    'def run():\n    x = []\n    x.append(x)\n    return x\n',
    'eval',
  ],
  [
    'an answer that nests',
    loop('x = []', 'x = [x]', 'return x').replace('1000000000', '100000'),
    'eval',
  ],
  [
    'a comparison of deep values',
    loop('x, y = [], []', 'x, y = [x], [y]', 'return x == y').replace('1000000000', '100000'),
    'eval',
  ],
  [
    'the text of a deep value',
    loop('x = []', 'x = [x]', 'return str(x)').replace('1000000000', '100000'),
    'eval',
  ],
  [
    'a deep key',
    loop('x = ()', 'x = (x,)', 'return {x: 1}').replace('1000000000', '100000'),
    'eval',
  ],
  [
    'a deep source',
    `def run():\n    return ${'('.repeat(50_000)}1${')'.repeat(50_000)}\n`,
    'syntax|eval|resolve',
  ],
  ['a deep sum', `def run():\n    return ${'1 + '.repeat(100_000)}1\n`, 'syntax|eval|resolve|none'],
  ['many minus signs', `def run():\n    return ${'-'.repeat(100_000)}1\n`, 'syntax|eval|resolve'],
  ['deep JSON', 'def run():\n    return json.decode("[" * 100000 + "]" * 100000)\n', 'eval'],
  [
    'a pattern that backtracks',
    'def run():\n    return re.search("(a+)+$", "a" * 50000 + "b")\n',
    'none|steps|memory|eval',
  ],
  ['a flood of calls to the host', loop('x = 0', 'host()'), 'host_calls'],
  ['a flood of text', loop('x = 0', 'print("x" * 1000)'), 'output'],
  ['one long text', 'def run():\n    print("x" * 1000000)\n', 'output'],
];

describe('a bomb', () => {
  it.each(BOMBS)(
    'that is %s stops at its limit, and the next script runs',
    async (_name, source, kinds) => {
      const kind = await run(source).then(
        () => 'none',
        (error: unknown) => (error as { kind: string }).kind,
      );

      expect(kinds.split('|')).toContain(kind);
      expect((await run('def run():\n    return "next"\n')).value).toBe('next');
    },
  );

  it('of calls to the host is stopped at the very limit', async () => {
    hostCalls = 0;
    await expect(run(loop('x = 0', 'host()'), { maxHostCalls: 20 })).rejects.toMatchObject({
      kind: 'host_calls',
    });
    expect(hostCalls).toBe(20);
    await expect(run('def run():\n    return host()\n', { maxHostCalls: 0 })).rejects.toMatchObject(
      { kind: 'host_calls' },
    );
  });

  it('of text is heard up to its limit', async () => {
    const heard: string[] = [];
    await expect(
      run(loop('x = 0', 'print("x" * 99)'), {
        maxPrintBytes: 1000,
        onPrint: (text) => void heard.push(text),
      }),
    ).rejects.toMatchObject({ kind: 'output' });

    expect(heard.length).toBe(10);
  });

  it('that the language counts as nothing ends with its thread, not with the process', async () => {
    // Far beyond what a worker may have: what stops it is the thread's own limit.
    const error = await run(loop('x = []', 'x.append([i])'), {
      maxBytes: 2 ** 50,
      maxSteps: 2 ** 50,
    }).catch((thrown: unknown) => thrown);

    expect(error).toMatchObject({ code: 'ERR_STARLARK', kind: 'memory' });
    expect((await run('def run():\n    return "next"\n')).value).toBe('next');
  });

  it('leaves no thread behind', async () => {
    const own = createScriptPool({ maxBytes: 1024 * 1024 });
    await Promise.allSettled(
      Array.from({ length: 6 }, () =>
        own.run({
          source: loop('x = 0', 'x += 1'),
          file: 'f',
          entry: { call: 'run', args: [] },
          maxSteps: 1e15,
          deadlineMs: 50,
        }),
      ),
    );
    await own.close();

    expect(own.counts()).toEqual({ workers: 0, running: 0, waiting: 0 });
    expect(
      process.getActiveResourcesInfo().filter((name) => /Worker|MessagePort/.test(name)),
    ).toEqual([]);
  });
});
