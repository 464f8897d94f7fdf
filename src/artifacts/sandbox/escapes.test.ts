import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ScriptError } from './script-error.ts';
import { createScriptPool, type ScriptPool } from './script-pool.ts';

let pool: ScriptPool;
beforeAll(() => {
  vi.stubEnv('ESCAPE_CANARY', 'canary-of-the-host');
  pool = createScriptPool({ size: 1 });
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await pool.close();
});

/** Every kind of value that a script can get hold of, the host's own included. */
const VALUES: Readonly<Record<string, string>> = {
  ...{
    none: 'None',
    bool: 'True',
    int: '7',
    big: '(1 << 200)',
    float: '1.5',
    text: '"text"',
    list: '[1]',
    dict: '{"a": 1}',
    tuple: '(1, 2)',
  },
  ...{
    range: 'range(3)',
    builtin: 'len',
    method: '[].append',
    lambda: '(lambda x: x)',
    host: 'host',
    module: 'tools',
    nested: 'tools.inner',
  },
  ...{
    answer: 'host()',
    given: 'given',
    function: 'inner',
    library: 'json',
    bound: '"".join',
    elems: '"abc".elems()',
  },
};
/** What leads from a value to its realm in JavaScript and in Python. */
const ATTRIBUTES: readonly string[] = [
  ...[
    '__proto__',
    'constructor',
    'prototype',
    '__class__',
    '__globals__',
    '__code__',
    '__defineGetter__',
    'toString',
    'valueOf',
    'call',
    'apply',
  ],
  ...[
    'bind',
    'caller',
    'arguments',
    'items_',
    'map',
    'members',
    'code',
    'globals',
    'receiver',
    'value',
    'frozen',
    '__subclasses__',
    '__import__',
  ],
];

/** Whole scripts, each of which tries one thing. */
const SCRIPTS: readonly string[] = [
  // Names of the realm.
  ...[
    'process',
    'globalThis',
    'global',
    'require',
    'module',
    'Function',
    'eval',
    'Object',
    'Reflect',
    'Proxy',
    'console',
    'Buffer',
    'fetch',
  ],
  ...[
    'Atomics',
    'SharedArrayBuffer',
    'WebAssembly',
    'setTimeout',
    'queueMicrotask',
    'this',
    'self',
    'parentPort',
    'workerData',
    'import_meta',
  ],
  ...[
    '__builtins__',
    '__import__("os")',
    'exec("1")',
    'eval("1")',
    'open("/etc/passwd")',
    'compile("1", "", "eval")',
    'globals()',
    'vars()',
  ],
  // Attributes by name.
  ...[
    'getattr({}, "__proto__")',
    'getattr(host, "constructor")',
    'getattr(len, "call")',
    'getattr(tools, "__proto__", None)',
  ],
  ...[
    'getattr(tools, "toString", "none")',
    'getattr([], "constructor", 1)',
    'hasattr({}, "__proto__")',
    'hasattr(host, "call")',
  ],
  ...[
    '[hasattr(v, n) for v in [None, 1, "", [], {}, (), len, tools] for n in ["__proto__", "constructor", "prototype"]]',
    'dir(host)',
    'dir(tools)',
  ],
  // Keys that mean something to JavaScript.
  ...[
    '{"__proto__": {"polluted": True}}',
    '{"constructor": {"prototype": {"polluted": True}}}',
    'dict([("__proto__", 1)])',
    'dict(__proto__ = {"polluted": 1})',
  ],
  ...[
    'host({"__proto__": {"polluted": True}})',
    'host(**{"__proto__": {"polluted": True}})',
    'host(__proto__ = {"polluted": True})',
    'host(constructor = 1)',
  ],
  ...[
    'json.decode("{\\"__proto__\\": {\\"polluted\\": true}}")',
    'json.decode("{\\"constructor\\": {\\"prototype\\": {\\"polluted\\": 1}}}")',
    '{}.get("__proto__")',
  ],
  ...[
    '{}["__proto__"]',
    '"constructor" in {}',
    '"__proto__" in given',
    '[k for k in given]',
    'given["constructor"]',
    '{}.setdefault("__proto__", {})',
  ],
  // Formats.
  ...[
    '"{0.__class__}".format("")',
    '"{0.constructor}".format(host)',
    '"{0[__proto__]}".format({})',
    '"{a.b}".format(a = tools)',
    '"%(__proto__)s" % {}',
  ],
  ...[
    '"%s %r" % (host, tools)',
    '"{} {!r}".format(host, tools)',
    '"{constructor}".format(**{"constructor": host})',
    '"%d" % host',
    '"{:>{w}}".format(1, w = 9)',
  ],
  // Functions and modules where data is expected.
  ...[
    'host(host)',
    'host([len])',
    'host(tools)',
    'json.encode(host)',
    'json.encode({"a": tools})',
    'host(lambda: 1)',
    '{host: 1}',
    'sorted([host, len])',
  ],
  ...[
    'host == len',
    'str(host)',
    'repr(tools)',
    'type(host)',
    'hash("a")',
    'host.name',
    'tools.inner.missing',
    '[host][0]()',
    'sorted([1], key = host)',
  ],
  // Numbers, texts and errors that carry more than they should.
  ...[
    '1 << 100000000',
    'int("9" * 5000) % 7',
    'float("nan")',
    'float("inf")',
    'int(1.5e300)',
    '"\\u0000\\uffff"',
    '"\\ud800"',
    'chr(0x110000)',
    'chr(-1)',
  ],
  ...[
    'fail(host)',
    'fail(tools, {"a": host})',
    'fail("${process.exit()}")',
    'fail("\\x1b[2J", [host])',
    'throwing()',
    'hostile()',
    'tools.inner.hostile()',
  ],
  // Syntax of other languages.
  ...[
    '`${process.env}`',
    '(() => process)()',
    'new Function("return process")()',
    'a?.b',
    '[...host]',
    'import("node:fs")',
    '/x/.constructor',
    'async_()',
  ],
];

/** What a host gives may hold more than JSON: it must not get through. */
class Secretive {
  readonly shown = 1;
  get env(): string {
    return process.env.ESCAPE_CANARY ?? '';
  }
}
const predeclared = {
  host: async () => ({ answer: 1 }),
  hostile: async () => Object.assign(new Secretive(), { own: 2 }) as never,
  throwing: () =>
    Promise.reject(
      Object.assign(new Error('thrown'), { config: { token: 'canary-in-error' }, process }),
    ),
  tools: {
    inner: {
      hostile: async () =>
        JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}') as never,
    },
  },
  given: { constructor: 'text', a: [1] },
};

const attempt = (body: string) =>
  pool
    .run({
      source: `def inner(x = 1):\n    return x\ndef run():\n    return ${body}\n`,
      ...{
        file: 'tool.md',
        entry: { call: 'run', args: [] },
        predeclared,
        libraries: ['json', 're', 'string'],
        maxSteps: 100_000,
      },
      ...{ maxBytes: 1024 * 1024, deadlineMs: 30_000 },
    })
    .then(
      ({ value }) => ({ value }),
      (error: unknown) => ({ error }),
    );

/** Whether what came out is JSON or an error of the language, without a word of the inside. */
function leakOf(outcome: { readonly value?: unknown; readonly error?: unknown }): string | null {
  if (outcome.error !== undefined && !(outcome.error instanceof ScriptError))
    return 'an error of another kind';
  if (outcome.error instanceof ScriptError && ['crashed', 'deadline'].includes(outcome.error.kind))
    return `ended as ${outcome.error.kind}`;
  const text =
    outcome.error instanceof ScriptError
      ? `${outcome.error.message} ${JSON.stringify(outcome.error)}`
      : JSON.stringify(outcome.value);
  const leak =
    /canary|native code|\[object|=>|node:|worker_threads|node_modules|\.js:\d|\bat .+\(|Symbol\(|process\.binding/.exec(
      text ?? 'undefined',
    );
  if (leak !== null) return `shows ${leak[0]}`;
  return holdsMore(outcome.value) ? 'more than JSON' : null;
}

function holdsMore(value: unknown): boolean {
  if (typeof value === 'function' || typeof value === 'symbol') return true;
  if (typeof value !== 'object' || value === null) return false;
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  return !isPlain || Object.values(value).some(holdsMore);
}

const isPolluted = () =>
  'polluted' in {} || 'polluted' in [] || Object.keys(Object.prototype).length > 0;

describe('attempts to get out', () => {
  it('are told when they succeed: a value of the realm is seen as one', () => {
    expect(leakOf({ value: process })).not.toBeNull();
    expect(leakOf({ value: [() => 1] })).not.toBeNull();
    expect(leakOf({ value: { a: new Secretive() } })).not.toBeNull();
    expect(leakOf({ value: 'function () { [native code] }' })).not.toBeNull();
    expect(leakOf({ error: new TypeError('x is not a function') })).not.toBeNull();
    expect(leakOf({ value: { a: [1, 'text', null] } })).toBeNull();
  });

  it(`by ${Object.keys(VALUES).length * ATTRIBUTES.length} attributes of all kinds of values reach no object of the host`, async () => {
    const bodies = Object.values(VALUES).flatMap((value) =>
      ATTRIBUTES.map((attribute) => `${value}.${attribute}`),
    );
    const got = await Promise.all(bodies.map(attempt));
    const readable = bodies.filter((_body, index) => 'value' in (got[index] ?? {}));

    expect(bodies.filter((_body, index) => leakOf(got[index] ?? {}) !== null)).toEqual([]);
    expect(readable).toEqual([]);
  });

  it.each(SCRIPTS)('by %s reach no object of the host', async (body) => {
    const outcome = await attempt(body);

    expect(leakOf(outcome)).toBeNull();
    expect(isPolluted()).toBe(false);
  });

  it('are more than sixty', () => {
    expect(SCRIPTS.length).toBeGreaterThan(60);
  });

  it('leave the worker as it was: nothing that one script did is seen by the next', async () => {
    const { value } = await attempt(
      '[{}.get("polluted"), len({}), [k for k in {}], host(), hasattr([], "polluted")]',
    ).then((got) => got as { value: unknown });

    expect(value).toEqual([null, 0, [], { answer: 1 }, false]);
    expect(isPolluted()).toBe(false);
  });

  it('find an answer of the host as data alone', async () => {
    expect(await attempt('[hostile(), tools.inner.hostile()]')).toEqual({
      value: [
        { shown: 1, own: 2 },
        JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}') as unknown,
      ],
    });
  });
});
