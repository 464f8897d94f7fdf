import { describe, expect, it } from 'vitest';
import { echoExecutor, makeCall } from '../../conformance/index.ts';
import {
  annotate,
  causeOf,
  composeToolCallers,
  type ContentBlock,
  defineLayer,
  type Next,
  ok,
  refuse,
  type ToolProgress,
  type ToolResult,
  withResult,
} from '../../src/index.ts';
import { SECRETS, seeded } from '../../src/redaction/corpus.fixture.ts';
import { answering, CARD, EMAIL, run, SECRET, shown } from './redaction.fixture.ts';
import { redaction } from './redaction.ts';

describe('redaction', () => {
  it('hands on the very same arguments and result where there is nothing to hide', async () => {
    const executor = echoExecutor();
    let inner: ToolResult | null = null;
    const spy = defineLayer({
      name: 'spy',
      caller: async (call, next) => (inner = await next(call)),
    });
    const call = makeCall({ toolArgs: { path: '/a', nested: { list: [1, 'two', null] } } });
    const result = await composeToolCallers([redaction(), spy])(call, executor);

    expect(executor.calls[0]?.toolArgs).toBe(call.toolArgs);
    expect(result.result).toBe((inner as ToolResult | null)?.result);
    expect(result.audit?.metadata).toBeUndefined();
    expect(result.status).toBe('ok');
  });

  it('hides arguments before anything inside sees them', async () => {
    const executor = echoExecutor();
    const result = await run(
      redaction(),
      { toolArgs: { note: `use ${SECRET} now`, keep: 'me' } },
      executor,
    );

    expect(executor.calls[0]?.toolArgs).toEqual({ note: 'use [redacted:github] now', keep: 'me' });
    expect(result.arguments).toEqual({ note: 'use [redacted:github] now', keep: 'me' });
    expect(result.audit?.metadata).toEqual({ redactedIn: ['note'], redactedOut: [] });
    expect(shown(result)).not.toContain(SECRET);
  });

  it('hides it on every surface of a result', async () => {
    const content: readonly ContentBlock[] = [
      { type: 'text', text: `see ${SECRET}`, annotations: { note: SECRET } },
      {
        type: 'resource',
        resource: {
          uri: `file:///x?t=${SECRET}`,
          text: `in ${SECRET}`,
          blob: Buffer.from(`x ${SECRET}`).toString('base64'),
        },
      },
      {
        type: 'resource_link',
        uri: `https://a.example/?q=${SECRET}`,
        name: SECRET,
        description: SECRET,
      },
      {
        type: 'image',
        data: Buffer.from(`not a picture ${SECRET}`).toString('base64'),
        mimeType: 'image/png',
      },
    ];
    const result = await run(redaction(), {}, async (call) =>
      withResult(ok(call, { deep: [{ value: SECRET }], [SECRET]: 1 }, { content }), {
        metadata: { note: SECRET },
        outputFiles: [{ uri: `file:///${SECRET}`, bytes: 1, sha256: '', mediaType: 'text/plain' }],
        approval: {
          id: 'a',
          decision: 'approved',
          decidedBy: SECRET,
          decidedAt: '',
          fingerprint: 'f',
          reason: SECRET,
        },
        renderedResult: `rendered ${SECRET}`,
      }),
    );

    expect(shown(result)).not.toContain(SECRET);
    expect(shown(result)).not.toContain(Buffer.from(SECRET).toString('base64').slice(4, -4));
    expect(result.result).toEqual({
      deep: [{ value: '[redacted:github]' }],
      '[redacted:github]': 1,
    });
    expect(result.observation).toContain('rendered [redacted:github]');
    expect(result.content[1]).toMatchObject({
      resource: { blob: Buffer.from('[redacted]').toString('base64') },
    });
    expect(result.content[3]).toMatchObject({ data: Buffer.from('[redacted]').toString('base64') });
    expect(result.content[0]).toEqual({
      type: 'text',
      text: 'see [redacted:github]',
      annotations: { note: '[redacted:github]' },
    });
  });

  it('is needed on every surface: one expression on the result alone leaks on the others', async () => {
    const naive = defineLayer({
      name: 'naive',
      async caller(call, next) {
        const result = await next(call);
        const cleaned = JSON.parse(
          JSON.stringify(result.result).replaceAll(/gh[pousr]_\w+/g, '***'),
        ) as unknown;
        return withResult(result, { result: cleaned });
      },
    });
    const executor: Next = async (call) =>
      ok(call, { a: SECRET }, { content: [{ type: 'text', text: SECRET }] });

    expect(shown(await run(naive, {}, executor))).toContain(SECRET);
    expect(shown(await run(redaction(), {}, executor))).not.toContain(SECRET);
  });

  it('hides an error, what it is made of, and the cause that a host would log', async () => {
    const thrown = Object.assign(new Error('connect failed'), {
      config: { headers: { authorization: `Bearer ${SECRET}` } },
    });
    const result = await run(redaction(), {}, () => Promise.reject(thrown));
    const named = await run(redaction(), {}, () =>
      Promise.reject(new Error(`bad token ${SECRET}`, { cause: SECRET })),
    );

    expect(result).toMatchObject({
      status: 'executor_error',
      executed: 'unknown',
      errorCategory: 'exception',
      error: 'connect failed',
    });
    expect(JSON.stringify(Object.getOwnPropertyDescriptors(causeOf(result)))).not.toContain(SECRET);
    expect(named.error).toBe('bad token [redacted:github]');
    expect(named.observation).toContain('[redacted:github]');
    expect(String((causeOf(named) as Error).stack)).not.toContain(SECRET);
  });

  it('leaves the cause of a failure alone that holds nothing to hide', async () => {
    const thrown = new Error('plain');
    const result = await run(redaction(), {}, () => Promise.reject(thrown));

    expect(causeOf(result)).toBe(thrown);
  });

  it('hides what a person is shown and keeps what lets the call go on', async () => {
    const interruption = {
      kind: 'approval_required',
      id: 'i-1',
      fingerprint: 'f-1',
      shown: { args: { token: SECRET } },
      options: ['allow_once'],
    } as const;
    const result = await run(redaction(), {}, async (call) =>
      refuse(call, 'approval_required', 'ask', { interruption }),
    );

    expect(result.interruption).toEqual({
      ...interruption,
      shown: { args: { token: '[redacted:github]' } },
    });
  });

  it('hides progress, and lets its numbers through', async () => {
    const told: ToolProgress[] = [];
    await run(redaction(), { report: (progress) => void told.push(progress) }, async (call) => {
      call.report({ progress: 1, total: 2, message: `sent ${SECRET}` });
      call.report({ progress: 2 });
      return ok(call);
    });

    expect(told).toEqual([
      { progress: 1, total: 2, message: 'sent [redacted:github]' },
      { progress: 2 },
    ]);
  });

  it('scrubs what other layers write into the record, inside and outside', async () => {
    const writes = (name: string) =>
      defineLayer({
        name,
        caller: async (call, next) =>
          annotate(await next(call), { [name]: `by ${SECRET}` }, { told: SECRET }),
      });
    const result = await composeToolCallers([writes('summary'), redaction(), writes('reason')])(
      makeCall(),
      echoExecutor(),
    );

    expect(result.audit).toMatchObject({
      summary: 'by [redacted:github]',
      reason: 'by [redacted:github]',
    });
    expect(result.audit?.layers).toMatchObject([
      { told: '[redacted:github]' },
      { name: 'redaction' },
      { told: '[redacted:github]' },
    ]);
  });

  it('hides on one surface what only another gave away', async () => {
    const value = 'plain-looking-value-1';
    const text = `the password is in the list: {"password": "${value}"}`;
    const result = await run(
      redaction(),
      {},
      answering({ copied: value, count: 1 }, [{ type: 'text', text }]),
    );

    expect(shown(result)).not.toContain(value);
    expect(result.result).toEqual({ copied: '[redacted:password]', count: 1 });
  });

  it('records paths and counts, never values', async () => {
    const value = { items: [{ token: SECRET }, { ok: true }], mail: EMAIL };
    const result = await run(
      redaction({ detectors: ['secrets', 'email'] }),
      { toolArgs: { headers: { auth: SECRET } } },
      answering(value),
    );

    expect(result.audit?.metadata).toEqual({
      redactedIn: ['headers.auth'],
      redactedOut: ['items[0].token', 'mail'],
    });
    expect(result.audit?.layers).toMatchObject([
      { name: 'redaction', status: 'ok', found: { github: 1, email: 1 } },
    ]);
    expect(shown(result)).not.toContain(SECRET);
  });

  it('joins its lists to those of a redaction inside', async () => {
    const stack = composeToolCallers([
      redaction({ detectors: ['email'] }),
      redaction({ detectors: ['card'] }),
    ]);
    const result = await stack(makeCall(), answering({ mail: EMAIL, card: CARD }));

    expect(result.audit?.metadata).toEqual({ redactedIn: [], redactedOut: ['card', 'mail'] });
  });
});

describe('redaction against hostile input', () => {
  it.each(['__proto__', 'constructor', 'toString', 'a.b[0]', ''])(
    'takes a member called %j for a member',
    async (name) => {
      const args = JSON.parse(
        `{${JSON.stringify(name)}: ${JSON.stringify(SECRET)}, "x": {${JSON.stringify(name)}: {}}}`,
      ) as object;
      const result = await run(redaction(), { toolName: '__proto__', toolArgs: args });

      expect(Object.keys(result.arguments)).toEqual(Object.keys(args));
      expect(shown(result)).not.toContain(SECRET);
      expect(Object.prototype).not.toHaveProperty('x');
    },
  );

  it('keeps two members apart whose names are both hidden', async () => {
    const other = SECRETS['github']?.(seeded(9)).secret ?? '';
    const result = await run(redaction(), { toolArgs: { [SECRET]: 1, [other]: 2 } });

    expect(result.arguments).toEqual({ '[redacted:github]': 1, '[redacted:github]#2': 2 });
  });

  it.each([
    '\ud800',
    `\udfff${'x'.repeat(40)}`,
    '\u0000'.repeat(30),
    '%'.repeat(99),
    '\\'.repeat(99),
    '&#99999999;',
  ])('takes %j as it is', async (text) => {
    const result = await run(redaction(), {}, answering({ text }));

    expect(result.result).toEqual({ text });
  });

  it('finds a secret at the end of a megabyte, and one that lies across the border of two slices', async () => {
    const filler = 'plain words and nothing else. '.repeat(40_000).slice(0, 1_000_000);
    const across = filler.slice(0, 65_536 - 20) + ` ${SECRET} ` + filler.slice(65_536);
    const result = await run(redaction(), {}, answering(`${across} ${SECRET}`));

    expect(shown(result)).not.toContain(SECRET);
    expect(result.renderedResult.match(/\[redacted:github\]/g)).toHaveLength(2);
  });

  it('lets others have their turn while it looks through a megabyte', async () => {
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    const calling = run(
      redaction(),
      {},
      async (call) => (
        setImmediate(count), ok(call, 'plain words and nothing else. '.repeat(35_000))
      ),
    );
    await calling;
    isDone = true;

    expect(turns).toBeGreaterThanOrEqual(15);
  });
});

describe('redaction is built', () => {
  it.each([
    [null],
    ['secrets'],
    [{ detector: ['secrets'] }],
    [{ detectors: ['secret'] }],
    [{ detectors: 'secrets' }],
    [{ strategies: { secrets: 'hide' } }],
    [{ strategies: { tokens: 'mask' } }],
    [{ paths: ['a..b'] }],
    [{ paths: [''] }],
    [{ paths: ['.a'] }],
    [{ paths: ['a]'] }],
    [{ patterns: [{ name: 'Bad Name', pattern: 'x' }] }],
    [{ patterns: [{ pattern: 'x' }] }],
    [{ redactor: 'x' }],
    [{ key: 'too short' }],
  ])('not from %j', (options) => {
    expect(() => redaction(options as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error,
    );
  });

  it('as a layer that rewrites arguments and scrubs the record', () => {
    expect(redaction()).toMatchObject({ name: 'redaction', rewrites: true });
    expect(redaction().scrub?.(`x ${SECRET}`)).toBe('x [redacted:github]');
    expect(redaction(() => ({})).scrub?.(`x ${SECRET}`)).toBe(`x ${SECRET}`);
  });
});
