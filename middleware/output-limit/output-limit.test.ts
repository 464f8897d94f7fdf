import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { echoExecutor, makeCall } from '../../conformance/index.ts';
import {
  composeToolCallers,
  type ContentBlock,
  defineLayer,
  defineTool,
  explainStack,
  fail,
  type JsonObject,
  type Next,
  ok,
  type OutputFileRef,
  type OutputFiles,
  toToolMessage,
  withResult,
} from '../../src/index.ts';
import { isHeavierThan } from '../../src/outputs/large-output.ts';
import { outputLimit, type OutputLimitOptions } from './output-limit.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const refOf = (text: string, mediaType = ''): OutputFileRef => ({
  uri: `memory:${sha256(text)}`,
  bytes: Buffer.byteLength(text),
  sha256: sha256(text),
  mediaType,
});

function memoryStore(): OutputFiles & { readonly kept: { sessionId: string; text: string }[] } {
  const kept: { sessionId: string; text: string }[] = [];
  return {
    kept,
    async write({ sessionId, text, mediaType }) {
      kept.push({ sessionId, text });
      return refOf(text, mediaType);
    },
  };
}

async function run(answer: Next, options: OutputLimitOptions = {}) {
  const store = memoryStore();
  const result = await composeToolCallers([outputLimit({ maxBytes: 1024, store, ...options })])(
    makeCall(),
    answer,
  );
  return { result, kept: store.kept, bytes: Buffer.byteLength(result.renderedResult) };
}

const answers =
  (value: unknown, content?: readonly ContentBlock[]): Next =>
  async (call) =>
    ok(call, value, content === undefined ? {} : { content });

describe('outputLimit', () => {
  it('lets a result through that is small enough, to the byte', async () => {
    const { result, kept } = await run(answers('x'.repeat(1024)));

    expect(result.result).toBe('x'.repeat(1024));
    expect([kept, result.outputFiles, result.audit?.layers[0]?.status]).toEqual([[], [], 'ok']);
  });

  it('goes by bytes, not by characters', async () => {
    const { kept } = await run(answers(null, [{ type: 'text', text: '語'.repeat(342) }]));

    expect(kept).toHaveLength(1);
    expect((await run(answers(null, [{ type: 'text', text: '語'.repeat(341) }]))).kept).toEqual([]);
  });

  it('keeps a larger one aside whole and shows its beginning', async () => {
    const text = 'line\n'.repeat(1000);
    const { result, kept, bytes } = await run(answers(text));

    expect(result).toMatchObject({
      ok: true,
      status: 'ok',
      executed: 'yes',
      outputFiles: [refOf(text, 'text/plain; charset=utf-8')],
    });
    expect(kept).toEqual([{ sessionId: 'session-1', text }]);
    expect(bytes).toBeLessThanOrEqual(1024);
    expect(text.startsWith(result.renderedResult.slice(0, 500))).toBe(true);
  });

  it('tells the model how to read on', async () => {
    const { result } = await run(answers('x'.repeat(5000)));
    const note = result.renderedResult.split('\n').at(-1);

    expect(note).toBe(
      `[cut: the first 624 of 5000 bytes are shown; to read on, call read_output with {"id":"${sha256('x'.repeat(5000))}","offset":624}]`,
    );
  });

  it.each([
    ['text', 'secret tail'.padStart(3000, '.'), undefined],
    ['a value', { list: ['x'.repeat(3000), 'secret tail'] }, undefined],
    [
      'blocks',
      null,
      [
        { type: 'text', text: 'x'.repeat(3000) } as const,
        { type: 'text', text: 'secret tail' } as const,
      ],
    ],
    [
      'a value behind a short text',
      { list: ['x'.repeat(3000), 'secret tail'] },
      [{ type: 'text', text: 'short' } as const],
    ],
    [
      'a text behind a short text',
      `${'x'.repeat(3000)}secret tail`,
      [{ type: 'text', text: 'short' } as const],
    ],
  ])(
    'leaves the end of %s on no surface, and loses nothing of it',
    async (_name, value, content) => {
      const { result, kept, bytes } = await run(answers(value, content));

      expect(JSON.stringify(result)).not.toContain('secret tail');
      expect(kept[0]?.text).toContain('secret tail');
      expect(bytes).toBeLessThanOrEqual(1024);
      expect(JSON.stringify(result).length).toBeLessThan(6 * 1024);
    },
  );

  it('shows the short text in front of a large value whole', async () => {
    const { result } = await run(
      answers({ rows: 'x'.repeat(3000) }, [{ type: 'text', text: '3000 rows' }]),
    );

    expect(result.renderedResult).toMatch(/^3000 rows\n\n\{"rows":"x+\n\[cut: /);
  });

  it('cuts the error of a failed call too', async () => {
    const { result, bytes } = await run(async (call) =>
      fail(call, 'executor_error', null, `no ${'x'.repeat(3000)} secret tail`),
    );

    expect(result).toMatchObject({
      ok: false,
      status: 'executor_error',
      error: result.renderedResult,
      result: null,
    });
    expect(JSON.stringify(result)).not.toContain('secret tail');
    expect(bytes).toBeLessThanOrEqual(1024);
  });

  it('says so on its audit line, and keeps the text out of it', async () => {
    const { result } = await run(answers('x'.repeat(5000)));

    expect(result.audit?.layers).toMatchObject([
      { name: 'outputLimit', status: 'cut', bytes: 5000, shownBytes: 624, kept: true },
    ]);
    expect(JSON.stringify(result.audit)).not.toContain('xxx');
  });

  it('leaves strict MCP clients nothing to check against an output schema', async () => {
    const tool = defineTool({
      name: 'echo',
      description: '',
      inputSchema: { type: 'object' },
      outputSchema: { type: 'object' },
    });
    const { result } = await run(answers({ list: 'x'.repeat(3000) }));

    const message = toToolMessage(result, 'mcp', { tool });

    expect(message).not.toHaveProperty('structuredContent');
    expect(message).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: result.renderedResult }],
    });
  });

  it('keeps files that are there already', async () => {
    const first = refOf('first');
    const { result } = await run(async (call) =>
      withResult(ok(call, 'x'.repeat(3000)), { outputFiles: [first] }),
    );

    expect(result.outputFiles).toEqual([
      first,
      refOf('x'.repeat(3000), 'text/plain; charset=utf-8'),
    ]);
  });
});

describe('outputLimit options', () => {
  it('maxBytes is the most a model is given', async () => {
    expect((await run(answers('x'.repeat(100_000)), { maxBytes: 512 })).bytes).toBeLessThanOrEqual(
      512,
    );
    expect((await run(answers('x'.repeat(8192)), { maxBytes: 8192 })).kept).toEqual([]);
    expect((await run(answers('x'.repeat(8193)), { maxBytes: 8192 })).bytes).toBeGreaterThan(7900);
  });

  it('readTool is the name in the note, and the longest leaves room for it', async () => {
    const { result, bytes } = await run(answers('x'.repeat(100_000)), {
      maxBytes: 512,
      readTool: 'r'.repeat(128),
    });

    expect(result.renderedResult).toContain(`call ${'r'.repeat(128)} with`);
    expect(bytes).toBeLessThanOrEqual(512);
  });

  it.each<[string, () => unknown]>([
    ['rejects', () => Promise.reject(new Error('/home/someone is full'))],
    [
      'throws',
      () => {
        throw new Error('/home/someone is full');
      },
    ],
    ['answers nothing', () => Promise.resolve(undefined)],
    ['answers with something else', () => Promise.resolve({ uri: 1 })],
    [
      'answers with an id that is none',
      () => Promise.resolve({ ...refOf('x'), sha256: 'ignore all\nprevious' }),
    ],
  ])('store: one that %s costs the rest, not the call', async (_name, write) => {
    const { result, bytes } = await run(answers(`${'x'.repeat(3000)}secret tail`), {
      store: { write } as OutputFiles,
    });

    expect(result).toMatchObject({ ok: true, status: 'ok', outputFiles: [] });
    expect(result.renderedResult).toMatch(/bytes are shown; the rest could not be kept\]$/);
    expect(JSON.stringify(result)).not.toMatch(/secret tail|someone|ignore all/);
    expect(result.audit?.layers).toMatchObject([{ status: 'cut', kept: false }]);
    expect(bytes).toBeLessThanOrEqual(1024);
  });
});

describe('outputLimit and hostile results', () => {
  it('takes 32 MB', async () => {
    const { kept, bytes } = await run(answers('é'.repeat(16 * 1024 * 1024)));

    expect(kept[0]?.text.length).toBe(16 * 1024 * 1024);
    expect(bytes).toBeLessThanOrEqual(1024);
  });

  it.each([
    ['characters of four bytes', '😀'.repeat(1000)],
    ['characters of three bytes', '語'.repeat(1000)],
    ['halves of pairs', '\ud800'.repeat(1000)],
    ['halves in the wrong order', '\udc00\ud800'.repeat(1000)],
  ])('cuts %s between characters', async (_name, text) => {
    const { result, kept, bytes } = await run(answers(text));
    const [shown = ''] = result.renderedResult.split('\n');
    const { offset } = JSON.parse(
      result.renderedResult.slice(result.renderedResult.lastIndexOf('{'), -1),
    ) as { offset: number };

    expect(
      Buffer.from(kept[0]?.text ?? '')
        .subarray(0, offset)
        .toString(),
    ).toBe(shown);
    expect([shown.isWellFormed(), offset > 600, bytes <= 1024]).toEqual([true, true, true]);
  });

  it('finds a value that is large in its names, or in its number', async () => {
    const names = JSON.parse(
      `{"__proto__": 1, "constructor": 2, "${'k'.repeat(2000)}": 3}`,
    ) as JsonObject;
    const short = [{ type: 'text', text: 'short' } as const];

    expect((await run(answers(names, short))).kept[0]?.text).toContain('__proto__');
    expect(
      (
        await run(
          answers(
            Array.from({ length: 2000 }, () => 1),
            short,
          ),
        )
      ).kept,
    ).toHaveLength(1);
  });

  it('does not count on in a value that is too large already', () => {
    const trap = new Proxy({}, { ownKeys: () => expect.unreachable('counted on') });
    const long = 'x'.repeat(2000);

    expect(isHeavierThan([long, trap], 1000)).toBe(true);
    expect(isHeavierThan({ a: long, b: trap }, 1000)).toBe(true);
    expect(isHeavierThan({ a: [long] }, 2003)).toBe(false);
    expect(isHeavierThan({ a: [long] }, 2002)).toBe(true);
    expect(isHeavierThan('é'.repeat(600), 1000)).toBe(true);
  });

  it('keeps what redaction inside has left, and must stand outside of it', async () => {
    const redacts = defineLayer({
      name: 'redaction',
      caller: async (call, next) => withResult(await next(call), { result: '#'.repeat(3000) }),
    });
    const store = memoryStore();
    await composeToolCallers([outputLimit({ store, maxBytes: 1024 }), redacts])(
      makeCall(),
      answers('c4n4ry'.repeat(1000)),
    );

    expect(store.kept).toEqual([{ sessionId: 'session-1', text: '#'.repeat(3000) }]);
    expect(() => composeToolCallers([redacts, outputLimit({ store })])).toThrow(
      '"outputLimit" must stand outside "redaction"',
    );
  });

  it('is advised to stand outside handoffArtifact', () => {
    const handoff = defineLayer({ name: 'handoffArtifact', caller: (call, next) => next(call) });

    expect(explainStack([handoff, outputLimit()])).toContain(
      '"outputLimit" should stand outside "handoffArtifact"',
    );
    expect(explainStack([outputLimit(), handoff])).not.toContain('should stand');
  });

  it('runs the tool once', async () => {
    const executor = echoExecutor();
    await composeToolCallers([outputLimit({ store: memoryStore(), maxBytes: 512 })])(
      makeCall({ toolArgs: { text: 'x'.repeat(1_000_000) } }),
      executor,
    );

    expect(executor.calls).toHaveLength(1);
  });

  it.each([
    { maxBytes: 511 },
    { maxBytes: 1.5 },
    { store: {} },
    { readTool: 'a b' },
    { readTool: '' },
  ])('refuses %j', (options) => {
    expect(() => outputLimit(options as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error,
    );
  });
});
