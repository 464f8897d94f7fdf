import { describe, expect, it } from 'vitest';
import { echoExecutor } from '../../conformance/index.ts';
import { composeToolCallers, type ContentBlock, type Next, ok, refuse } from '../../src/index.ts';
import { SECRETS, seeded } from '../../src/redaction/corpus.fixture.ts';
import { answering, CARD, EMAIL, run, SECRET, shown } from './redaction.fixture.ts';
import { redaction, type RedactionOptions, type Redactor } from './redaction.ts';
import { telemetry } from '../telemetry/telemetry.ts';

describe('redaction detectors', () => {
  it('detectors looks for secrets where nothing is said, for nothing else, and for nothing in an empty list', async () => {
    const value = { secret: SECRET, mail: EMAIL, card: CARD };

    expect((await run(redaction(), {}, answering(value))).result).toEqual({
      ...value,
      secret: '[redacted:github]',
    });
    expect((await run(redaction({ detectors: [] }), {}, answering(value))).result).toEqual(value);
    expect(
      (await run(redaction({ detectors: ['email', 'card'] }), {}, answering(value))).result,
    ).toEqual({
      secret: SECRET,
      mail: '[redacted:email]',
      card: '[redacted:card]',
    });
  });

  it('detectors takes phone numbers, and leaves dates and plain numbers', async () => {
    const value = {
      call: '+49 171 1234567',
      or: '(555) 010-4477',
      at: '2026-01-01',
      id: 1_234_567_890,
    };
    const result = await run(redaction({ detectors: ['phone'] }), {}, answering(value));

    expect(result.result).toEqual({ ...value, call: '[redacted:phone]', or: '[redacted:phone]' });
  });

  it('detectors finds a card that is a number', async () => {
    const result = await run(redaction({ detectors: ['card'] }), {
      toolArgs: { number: 4_111_111_111_111_111 },
    });

    expect(result.arguments).toEqual({ number: '[redacted:card]' });
  });

  it('detectors hides the values in a list of variables by the names beside them', async () => {
    const result = await run(redaction(), {
      toolArgs: {
        env: [
          { name: 'DB_PASSWORD', value: 'abcdef' },
          { key: 'PORT', value: 'abcdef0' },
        ],
      },
    });

    expect(result.arguments).toEqual({
      env: [
        { name: 'DB_PASSWORD', value: '[redacted:password]' },
        { key: 'PORT', value: '[redacted:password]0' },
      ],
    });
  });

  it('detectors adds the rules of secretlint under secrets-deep', async () => {
    const url = `https://user:${SECRET.slice(4, 20)}@host.example`;
    // Repeated digits look like a placeholder to the own families, and like a token to secretlint.
    const key = ['sh', 'pat_', '01'.repeat(16)].join('');
    const plain = await run(redaction(), {}, answering({ key, url }));
    const deep = await run(redaction({ detectors: ['secrets-deep'] }), {}, answering({ key, url }));

    expect(shown(plain)).toContain(key);
    expect(shown(deep)).not.toContain(key);
    expect(deep.result).toMatchObject({ key: '[redacted:deep]' });
    expect(shown(deep)).not.toContain(SECRET.slice(4, 20));

    const long = `${'plain words. '.repeat(9_000)}${key} end`;
    expect(
      (await run(redaction({ detectors: ['secrets-deep'] }), {}, answering(long))).result,
    ).toBe(long.replace(key, '[redacted:deep]'));
  });

  it('detectors hides values by the name of their member, wherever it stands', async () => {
    const value = {
      password: 'hunter2!',
      db: { api_key: 'Zx81kkLmQ2vT77', nextPageToken: 'Qa19mmNpR3wU88bb' },
      env: [{ name: 'DB_PASSWORD', value: 'abcdef' }],
    };
    const result = await run(redaction(), {}, answering(value));

    expect(result.result).toEqual({
      password: '[redacted:password]',
      db: { api_key: '[redacted:secret]', nextPageToken: 'Qa19mmNpR3wU88bb' },
      env: [{ name: 'DB_PASSWORD', value: '[redacted:password]' }],
    });
  });
});

const strategic = (strategies: RedactionOptions['strategies'], more: RedactionOptions = {}) =>
  redaction({ detectors: ['secrets', 'email'], strategies: strategies ?? {}, ...more });

describe('redaction strategies', () => {
  it('strategies hash writes the same digest for the same value, and another with another key', async () => {
    const key = 'a key of sixteen or more';
    const value = [EMAIL, `to ${EMAIL}`, 'bob@example.org'];
    const first = (await run(strategic({ email: 'hash' }, { key }), {}, answering(value)))
      .result as string[];
    const again = (await run(strategic({ email: 'hash' }, { key }), {}, answering(value)))
      .result as string[];
    const other = (await run(strategic({ email: 'hash' }), {}, answering(value)))
      .result as string[];

    expect(first[0]).toMatch(/^\[hash:email:[0-9a-f]{16}\]$/);
    expect(first[1]).toBe(`to ${first[0]}`);
    expect(first[2]).not.toBe(first[0]);
    expect(again).toEqual(first);
    expect(other[0]).not.toBe(first[0]);
  });

  it('strategies tokenise keeps one token for one value, across calls of the layer', async () => {
    const layer = strategic({ email: 'tokenise' });
    const first = (await run(layer, {}, answering([EMAIL, 'bob@example.org', EMAIL]))).result;
    const second = (await run(layer, {}, answering(['bob@example.org']))).result;

    expect(first).toEqual(['[token:email:1]', '[token:email:2]', '[token:email:1]']);
    expect(second).toEqual(['[token:email:2]']);
  });

  it('strategies block keeps the call from running, and says where', async () => {
    const executor = echoExecutor();
    const result = await run(
      strategic({ secrets: 'block' }),
      { toolArgs: { headers: { token: SECRET } } },
      executor,
    );

    expect(executor.calls).toEqual([]);
    expect(result).toMatchObject({
      ok: false,
      status: 'redacted',
      errorCategory: 'redacted',
      executed: 'no',
    });
    expect(result.error).toContain('headers.token');
    expect(result.audit?.layers).toMatchObject([
      { status: 'redacted', because: 'blocked', found: { github: 1 } },
    ]);
    expect(shown(result)).not.toContain(SECRET);
  });

  it('strategies block withholds a result of a tool that ran', async () => {
    const result = await run(
      strategic({ secrets: 'block' }),
      {},
      answering({ more: 'than that', key: SECRET }),
    );

    expect(result).toMatchObject({ ok: false, status: 'redacted', executed: 'yes', result: null });
    expect(result.audit?.layers).toMatchObject([{ status: 'redacted', because: 'blocked' }]);
    expect(shown(result)).not.toContain(SECRET);
    expect(shown(result)).not.toContain('than that');
  });

  it('strategies block names the members of a result that it withheld, and no secret among them', async () => {
    const result = await run(
      strategic({ secrets: 'block' }),
      {},
      answering({ deep: [{ key: SECRET }], [SECRET]: SECRET }),
    );

    expect(result.audit?.metadata).toEqual({
      redactedIn: [],
      redactedOut: ['deep[0].key', '[redacted:github]'],
    });
    expect(shown(result)).not.toContain(SECRET);
  });

  it('strategies of the deep rules hold for all secrets where only those were asked for', async () => {
    const layer = redaction({
      detectors: ['secrets-deep'],
      strategies: { 'secrets-deep': 'block' },
    });

    const { secret } = SECRETS['jwt']?.(seeded(1)) ?? { secret: '' };

    expect((await run(layer, { toolArgs: { a: secret } })).status).toBe('redacted');
  });

  it.each(['mask', 'hash', 'tokenise'] as const)(
    'strategies %s changes nothing the second time',
    async (strategy) => {
      const layer = redaction({
        detectors: ['secrets', 'email', 'phone', 'card'],
        strategies: {
          secrets: strategy,
          email: strategy,
          card: strategy,
          paths: strategy,
          patterns: strategy,
        },
        paths: ['**.pin'],
        patterns: [{ name: 'employee', pattern: 'EMP-[0-9]+' }],
      });
      const value = {
        pin: 1234,
        text: `password=hunter22 and ${EMAIL}, ${CARD}, EMP-77, ${SECRET}`,
        password: 'abc123',
        url: `https://u:${'p'.repeat(9)}@h`,
      };
      const once = await run(layer, {}, answering(value));
      const twice = await run(layer, {}, answering(once.result, once.content));

      expect(once.result).not.toEqual(value);
      expect(twice.result).toEqual(once.result);
      expect(twice.renderedResult).toBe(once.renderedResult);
      expect(twice.audit?.metadata).toBeUndefined();
    },
  );

  it('strategies of the stricter kind hold where two findings overlap', async () => {
    const result = await run(strategic({ email: 'tokenise' }), {}, answering(`password=${EMAIL}`));

    const key = ['sk', 'live', '0123456789abcdef'].join('_');

    expect(result.result).toBe('password=[redacted:password]');
    expect(
      (await run(strategic({ email: 'tokenise' }), {}, answering(`${key}@example.org`))).result,
    ).toBe('[redacted:stripe]');
    expect(
      (await run(strategic({}), {}, answering('https://ada:hunter2@db.example/x'))).result,
    ).toBe('https://ada:[redacted:url-password]@db.example/x');
  });

  it('strategies hide what stands beside a marker that somebody wrote', async () => {
    const result = await run(
      redaction(),
      {},
      answering('password=[redacted:password]real-secret-1'),
    );

    expect(result.result).toBe('password=[redacted:password][redacted:password]');
  });
});

describe('redaction paths', () => {
  it.each([
    [
      'headers.authorization',
      { headers: { Authorization: 'x', other: 'y' } },
      { headers: { Authorization: '[redacted:path]', other: 'y' } },
    ],
    [
      '**.token',
      { a: [{ token: 1 }], token: true },
      { a: [{ token: '[redacted:path]' }], token: '[redacted:path]' },
    ],
    [
      'items[*].secret',
      { items: [{ secret: 'a' }, { secret: 'b' }] },
      { items: [{ secret: '[redacted:path]' }, { secret: '[redacted:path]' }] },
    ],
    ['items[*].x', { items: { a: { x: 1 } } }, { items: { a: { x: 1 } } }],
    ['items[1]', { items: ['a', 'b'] }, { items: ['a', '[redacted:path]'] }],
    [
      '*.x',
      { a: { x: 1 }, b: { x: 2, y: 3 } },
      { a: { x: '[redacted:path]' }, b: { x: '[redacted:path]', y: 3 } },
    ],
    ['a.**', { a: { b: { c: 'd' } }, e: 'f' }, { a: '[redacted:path]', e: 'f' }],
    ['["a.b"]', { 'a.b': 'c', a: { b: 'd' } }, { 'a.b': '[redacted:path]', a: { b: 'd' } }],
    [
      '__proto__',
      JSON.parse('{"__proto__":"x","a":1}'),
      JSON.parse('{"__proto__":"[redacted:path]","a":1}'),
    ],
    ['constructor', { constructor: 'x' }, { constructor: '[redacted:path]' }],
    ['gone', { gone: null, a: 1 }, { gone: null, a: 1 }],
  ])('paths hides %s in arguments and results', async (path, value: object, expected) => {
    const result = await run(redaction({ detectors: [], paths: [path] }), { toolArgs: value });

    expect(result.arguments).toEqual(expected);
    expect(
      (await run(redaction({ detectors: [], paths: [path] }), {}, answering(value))).result,
    ).toEqual(expected);
  });

  it('paths hides the value where it stands again as text, also in JSON', async () => {
    const value = { user: 'ada', pin: 'seven "three" nine', short: 'xy' };
    const content: readonly ContentBlock[] = [
      { type: 'text', text: JSON.stringify(value, null, 2) },
      { type: 'text', text: 'She said seven "three" nine.' },
    ];
    const result = await run(redaction({ paths: ['pin', 'short'] }), {}, answering(value, content));

    expect(result.content[0]).toMatchObject({
      text: JSON.stringify({ ...value, pin: '[redacted:path]', short: '[redacted:path]' }, null, 2),
    });
    expect(result.content[1]).toMatchObject({ text: 'She said [redacted:path].' });
    expect(result.renderedResult).not.toContain('seven');
  });

  it('paths holds for a result that is only JSON text', async () => {
    const result = await run(redaction({ paths: ['pin'] }), {}, answering('{"pin": 12, "a": 1}'));

    expect(result.result).toBe('{"pin":"[redacted:path]","a":1}');
    expect(result.renderedResult).toBe('{"pin":"[redacted:path]","a":1}');
  });

  it('paths hides a value of four characters in other members too', async () => {
    const args = { pin: '7391', copy: '7391', number: 7391 };

    expect((await run(redaction({ paths: ['pin'] }), { toolArgs: args })).arguments).toEqual({
      pin: '[redacted:path]',
      copy: '[redacted:path]',
      number: 7391,
    });
  });

  it('paths leaves a text alone that is JSON too deep to walk', async () => {
    const text = '['.repeat(50_000) + ']'.repeat(50_000);

    expect((await run(redaction({ paths: ['pin'] }), {}, answering(text))).result).toBe(text);
  });

  it('paths of the tool itself are added', async () => {
    const annotations = { safety: { redaction: ['patient.name'] } };
    const result = await run(redaction(), {
      annotations,
      toolArgs: { patient: { name: 'Ada', age: 36 } },
    });

    expect(result.arguments).toEqual({ patient: { name: '[redacted:path]', age: 36 } });
  });

  it('paths of the tool that cannot be read keep the call from running', async () => {
    const executor = echoExecutor();
    const result = await run(
      redaction(),
      { annotations: { safety: { redaction: ['a..b'] } }, toolArgs: { a: 'x' } },
      executor,
    );

    expect(result).toMatchObject({ status: 'redacted', executed: 'no', arguments: {} });
    expect(executor.calls).toEqual([]);
  });
});

describe('redaction patterns', () => {
  it('patterns hides what an expression matches, under its name', async () => {
    const layer = redaction({
      patterns: ['EMP-[0-9]{4}', /ord-\d+/i, { name: 'iban', pattern: '^DE[0-9]{20}$' }],
    });
    const value = {
      a: 'EMP-1234 or EMP-12',
      b: 'ORD-77',
      iban: 'DE12345678901234567890',
      not: 'xDE12345678901234567890',
    };
    const result = await run(layer, {}, answering(value));

    expect(result.result).toEqual({
      a: '[redacted:pattern] or EMP-12',
      b: '[redacted:pattern]',
      iban: '[redacted:iban]',
      not: 'x[redacted:iban]',
    });
  });

  it('patterns that are tied to the ends of a text hold for the texts of a value', async () => {
    const result = await run(
      redaction({ patterns: ['^[0-9]{3}$'] }),
      {},
      answering({ pin: '123', not: '1234' }),
    );

    expect(result.result).toEqual({ pin: '[redacted:pattern]', not: '1234' });
    expect(
      (
        await run(
          redaction({ patterns: ['^[0-9]{8}$'] }),
          {},
          answering({ id: '12345678', not: 'x12345678' }),
        )
      ).result,
    ).toEqual({
      id: '[redacted:pattern]',
      not: 'x[redacted:pattern]',
    });
  });

  it('patterns takes linear time for an expression that would never end otherwise', async () => {
    const result = await run(
      redaction({ patterns: ['(a+)+$'] }),
      {},
      answering(`${'a'.repeat(5_000)}!`),
    );

    expect(result.status).toBe('ok');
  });

  it.each(['(?=x)', '(', '\\1', 'x*', ''])('patterns refuses %j', (pattern) => {
    expect(() => redaction({ patterns: [pattern] })).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error,
    );
  });
});

describe('redaction in', () => {
  it('in report gives the tool what the model sent, records where and what it was, and shows it nowhere else', async () => {
    const executor = echoExecutor();
    const told: unknown[] = [];
    const call = {
      toolArgs: { file: 'a.env', body: `TOKEN=${SECRET}` },
      report: (progress: unknown) => void told.push(progress),
    };
    const result = await run(redaction({ in: 'report' }), call, async (inner) => {
      inner.report({ message: `writing ${SECRET}` });
      return executor(inner);
    });

    expect(executor.calls[0]?.toolArgs).toEqual({ file: 'a.env', body: `TOKEN=${SECRET}` });
    expect(result.audit?.metadata).toMatchObject({ redactedIn: ['body'] });
    expect(result.audit?.layers).toMatchObject([{ found: { github: 1 } }]);
    expect(shown(result) + JSON.stringify(told)).not.toContain(SECRET);
  });

  it.each<[string, Next]>([
    ['fails', () => Promise.reject(new Error(`cannot write ${SECRET}`))],
    [
      'is refused inside',
      async (call) => refuse(call, 'policy_blocked', `not ${JSON.stringify(call.toolArgs)}`),
    ],
    ['cannot be checked', async (call) => ok(call, { a: SECRET })],
  ])('in report shows nothing where the call %s', async (name, executor) => {
    const redactor: Redactor = ({ phase }) => {
      if (name === 'cannot be checked' && phase === 'out') throw new Error(SECRET);
      return {};
    };
    const result = await run(
      redaction({ detectors: ['secrets'], in: 'report', redactor }),
      { toolArgs: { body: SECRET } },
      executor,
    );

    expect(result.ok).toBe(false);
    expect(shown(result)).not.toContain(SECRET);
  });

  it('in report hides what a name or a path gives away in the result too', async () => {
    const layer = redaction({ in: 'report', paths: ['pin'] });
    const result = await run(layer, { toolArgs: { password: 'correct-horse-1', pin: '73914' } });

    expect(result.result).toEqual({ password: '[redacted:password]', pin: '[redacted:path]' });
    expect(result.arguments).toEqual({ password: '[redacted:password]', pin: '[redacted:path]' });
  });

  it('in report still blocks what must not be passed on', async () => {
    const executor = echoExecutor();
    const layer = redaction({ in: 'report', strategies: { secrets: 'block' } });
    const result = await run(layer, { toolArgs: { body: SECRET } }, executor);

    expect(executor.calls).toEqual([]);
    expect(shown(result)).not.toContain(SECRET);
  });

  it('in report refuses a layer inside that keeps or sends on arguments', () => {
    const outside = [telemetry(() => {}), redaction({ in: 'report' })];
    const inside = [
      redaction({ in: 'report' }),
      telemetry({ sink: () => {}, captureContent: true }),
    ];

    expect(() => composeToolCallers(outside)).not.toThrow();
    expect(() => composeToolCallers(inside)).toThrow(
      expect.objectContaining({ code: 'ERR_LAYER_ORDER' }) as Error,
    );
  });
});
