import { Environment } from '@marcbachmann/cel-js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeRequest } from '../make-request.fixture.ts';
import { createExpressions } from './compile-expression.ts';
import { ANNOTATION_NAMES, scopeOf, VARIABLES } from './expression-values.ts';
import { howMany } from '../../../conformance/how-many.fixture.ts';

/** What the condition comes to: true, false, or that nobody can say. */
function holds(source: string, args: object = {}, partial: object = {}): boolean | 'error' {
  const expression = createExpressions()(source);
  try {
    return expression.holds(scopeOf(makeRequest({ ...partial, toolArgs: args })));
  } catch {
    return 'error';
  }
}

const refusal = (source: string): string => {
  try {
    createExpressions()(source);
  } catch (thrown) {
    return (thrown as Error).message;
  }
  return 'taken';
};

describe('an expression', () => {
  it.each<[string, object, boolean]>([
    ['args.path.startsWith("/work/")', { path: '/work/a' }, true],
    ['args.path.startsWith("/work/")', { path: '/etc/passwd' }, false],
    ['args.count > 3 && args.count <= 10', { count: 7 }, true],
    ['args.count == 3', { count: 3 }, true],
    ['int(args.count) + 1 == 4', { count: 3 }, true],
    ['args.mode in ["fast", "slow"]', { mode: 'slow' }, true],
    ['has(args.force) && args.force', {}, false],
    ['args.force', { force: true }, true],
    ['!has(args.tags) || args.tags.all(t, t.size() < 4)', { tags: ['a', 'bcd'] }, true],
    ['args.tags.exists(t, t == "x")', { tags: ['y'] }, false],
    ['args.tags.filter(t, t.startsWith("a")).size() == 1', { tags: ['ab', 'b'] }, true],
    ['args["a b"] == null', { 'a b': null }, true],
    ['type(args.n) == double', { n: 1 }, true],
    ['args.host.asciiLower() == "kernel.org"', { host: 'Kernel.ORG' }, true],
    ['args.host.asciiLower() == "kernel.org"', { host: '\u212aernel.org' }, false],
    ['args.n == 1 ? args.m : false', { n: 1, m: true }, true],
    ['args.mail.rematches("^[a-z]+@example\\\\.org$")', { mail: 'a@example.org' }, true],
    ['args.mail.rematches("^[a-z]+@example\\\\.org$")', { mail: 'a@example.org\n' }, false],
    [
      'args.items.all(i, i.parts.all(p, p > 0))',
      { items: [{ parts: [1, 2] }, { parts: [] }] },
      true,
    ],
  ])('%s of %j is %s', (source, args, expected) => {
    expect(holds(source, args)).toBe(expected);
  });

  it('sees the tool, the kind, the session, the annotations and the fields of the request', () => {
    const request = makeRequest(
      { toolName: 'write', annotations: { readOnly: true, kind: 'edit' } },
      { kind: 'filesystem.write', path: '/tmp/a' },
    );
    const source =
      'tool == "write" && kind == "filesystem.write" && request.path == "/tmp/a" && session == "session-1" && annotations.kind == "edit"' +
      ' && annotations.readOnly && !annotations.destructive && annotations.sideEffectLevel == null && size(request) == 1';

    expect(createExpressions()(source).holds(scopeOf(request))).toBe(true);
  });

  it('says what it reads, by the names the rule has', () => {
    const source =
      'args.a.b == 1 && args["c"].exists(x, x == args.list[0]) && request.host != tool && has(args.d)';

    expect(createExpressions()(source).reads).toEqual([
      'args.a.b',
      'args.c',
      'args.list',
      'request.host',
      'args.d',
    ]);
  });

  it.each<[string, object]>([
    ['args.path == "a"', {}],
    ['args.path.startsWith("a")', { path: 7 }],
    ['args.path.startsWith("a")', { path: ['a'] }],
    ['args.n + 1 == 2', { n: 1 }],
    ['args.flag', { flag: 'true' }],
    ['args.list[3] == 1', { list: [] }],
    ['has(args.a.b)', {}],
    ['args.n < 3', { n: '2' }],
    ['1 / int(args.n) == 1', { n: 0 }],
    ['int(args.n) > 0', { n: 'abc' }],
  ])('%s of %j cannot be decided', (source, args) => {
    expect(holds(source, args)).toBe('error');
  });

  it('finds nothing under names that every object inherits', () => {
    for (const name of [
      'constructor',
      'toString',
      'hasOwnProperty',
      'valueOf',
      '__defineGetter__',
    ]) {
      expect(holds(`has(args.${name})`)).toBe(false);
      expect(holds(`"${name}" in args`)).toBe(false);
      expect(holds(`args["${name}"] == null`)).toBe('error');
      expect(holds(`args["${name}"] == "mine"`, { [name]: 'mine' })).toBe(true);
    }
  });

  it('takes an own member of any name for a key, where plain objects do not', () => {
    const args = JSON.parse('{"a":{"constructor":"x","b":1},"__proto__":{"b":2}}') as object;
    const naive = new Environment()
      .registerVariable('args', 'map<string, dyn>')
      .parse('args.a == args.a && args.a.b == 1');

    expect(holds('args.a.b == 1 && args["__proto__"].b == 2', args)).toBe(true);
    expect(() => naive({ args }) as unknown).toThrow(/Unsupported type/);
  });

  it('decides any JSON without throwing anything but that it cannot', () => {
    const sources = [
      'args.a == args.b',
      'args.a.contains("x")',
      'args.a.all(x, x == args.b)',
      '"a" in args',
      'args.a < args.b',
      'args.a[0]',
    ];
    fc.assert(
      fc.property(fc.constantFrom(...sources), fc.jsonValue(), fc.jsonValue(), (source, a, b) => {
        const outcome = holds(source, { a, b });
        return typeof outcome === 'boolean' || outcome === 'error';
      }),
      { numRuns: howMany(250, 1_000) },
    );
  });

  it('runs patterns in time that grows with the text', () => {
    const text = 'a'.repeat(200_000);

    expect(holds('args.text.rematches("^(a+)+$")', { text: `${text}b` })).toBe(false);
    expect(holds('args.text.rematches("(x+x+)+y")', { text: 'x'.repeat(200_000) })).toBe(false);
    expect(holds('args.text.rematches("^(a|a)*$")', { text })).toBe(true);
  });

  it('gives up on a text that is too long for its pattern', () => {
    const pattern = '[a-q][^u-z]{200}x'.repeat(8);

    expect(holds(`args.text.rematches("${pattern}")`, { text: 'a'.repeat(1_000_000) })).toBe(
      'error',
    );
  });

  it('goes through the arguments inside a loop only where they are small', () => {
    const source = 'args.list.all(x, args.list.exists(y, y == x))';

    expect(holds(source, { list: Array.from({ length: 500 }, (_, n) => n) })).toBe(true);
    expect(holds(source, { list: Array.from({ length: 50_000 }, (_, n) => n) })).toBe('error');
    expect(
      holds('args.list.all(x, x in [1.0])', { list: Array.from({ length: 50_000 }, () => 1) }),
    ).toBe(true);
    expect(
      holds('args.list.all(x, x.contains("a"))', {
        list: Array.from({ length: 50_000 }, () => 'ab'),
      }),
    ).toBe(true);
    expect(
      holds('args.list.all(x, args.text.contains(x))', {
        list: Array.from({ length: 5_000 }, () => 'b'),
        text: 'a'.repeat(9_000),
      }),
    ).toBe('error');
  });

  it('does not look at a request with more values than a call can carry', () => {
    const shared = Array.from({ length: 1_200 }, () => 1);

    expect(holds('args.a == 1', { a: 1, list: Array.from({ length: 1_200 }, () => shared) })).toBe(
      'error',
    );
  });

  it.each([
    ['arg.path == "a"', /names "arg".*did you mean "args"\?/],
    ['args.p.matches("a")', /use rematches/],
    ['"a".matches("a")', /use rematches/],
    ['args.a.all(x, args.b.exists(y, y.matches(x)))', /use rematches/],
    ['[args.a].exists(x, x.matches("a"))', /use rematches/],
    ['args.a ? "a".matches("b") : false', /use rematches/],
    ['args.p.rematches(args.pattern)', /pattern is not written out/],
    ['args.p.rematches("a" + "b")', /pattern is not written out/],
    ['rematches(args.p, "a")', /without the text/],
    ['args.p.rematches("(a")', /cannot be compiled/],
    ['args.p.rematches("(a)\\\\1")', /cannot be compiled/],
    ['args.p.startWith("a")', /did you mean "startsWith"/],
    ['args.list.map(x, x).size() > 0', /calls "map"/],
    ['args.list.join() == ""', /calls "join"/],
    ['args.host.lowerAscii() == "a"', /use asciiLower/],
    ['cel.bind(x, args.a, x == 1)', /calls "bind"/],
    ['{"a": 1}.a == 1', /a map/],
    ['b"abc" == bytes("abc")', /has a literal/],
    ['google.protobuf == null', /names "google"/],
    ['timestamp("2026-01-01T00:00:00Z") > timestamp(0)', /calls "timestamp"/],
    ['annotations.readonly', /did you mean "readOnly"/],
    ['annotations["destructiv"]', /did you mean "destructive"/],
    ['args.a.exists(args, true)', /something else already/],
    ['args.a.exists(x, args.b.exists(y, args.c.exists(z, z == y)))', /loop inside a loop/],
    ['args.a.all(x, x.all(y, y.all(z, z.all(w, w))))', /more than 3 loops/],
    ['1', /is int, not true or false/],
    ['"yes"', /is string/],
    ['tool + 1 == 2', /is wrong/],
    ['tool.size() > "a"', /is wrong/],
    ['!tool', /is wrong/],
    ['args.path ==', /cannot be read/],
    ['', /cannot be read/],
    ['args.?path == 1', /cannot be read/],
    ['(() => 1)()', /cannot be read/],
    ['args.a.all(x)', /needs all\(item, condition\)/],
  ])('%s is refused when it is read', (source, message) => {
    expect(refusal(source)).toMatch(message);
  });

  it.each([
    ['text', `args.a == "${'x'.repeat(5_000)}"`],
    ['nodes', Array.from({ length: 300 }, (_, n) => `args.a == ${n}`).join(' || ')],
    ['depth', `${'('.repeat(200)}true${')'.repeat(200)}`],
    ['depth without brackets', `${'!'.repeat(600)}true`],
    ['a list', `args.a in [${Array.from({ length: 400 }, (_, n) => n).join(',')}]`],
  ])('is refused when it is too large: %s', (_what, source) => {
    expect(refusal(source)).not.toBe('taken');
  });

  it('is read or refused, whatever it is, and never does anything else', () => {
    const words = [
      ...Object.keys(VARIABLES),
      ...ANNOTATION_NAMES,
      'has',
      'all',
      'exists',
      'rematches',
      'x',
      '"a"',
      '1',
      '(',
      ')',
      '[',
      ']',
      '.',
    ];
    const pieces = fc.array(
      fc.constantFrom(...words, ',', '&&', '==', '!', '+', '{', '}', ':', 'in', '?'),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(
        fc.oneof(
          pieces.map((list) => list.join(' ')),
          fc.string(),
        ),
        (source) => {
          try {
            createExpressions()(source);
            return true;
          } catch (thrown) {
            return (thrown as Error).name === 'ExpressionRefused';
          }
        },
      ),
      { numRuns: howMany(125, 500) },
    );
  });
});
