import { afterAll, describe, expect, it } from 'vitest';
import { echoExecutor, makeCall } from '../../conformance/index.ts';
import {
  composeToolCallers,
  defineTool,
  fail,
  governTools,
  isAlliumError,
  type Next,
  ok,
  refuse,
  STATUSES,
  type ToolCall,
  type ToolResult,
  withResult,
} from '../../src/index.ts';
import { outputLimit, record, redaction, retry } from '../index.ts';
import { recorded, tempFolder } from './recording.fixture.ts';
import { replay } from './replay.ts';

const files = tempFolder();
afterAll(files.remove);

/**
 * Everything that must be the same; what ran, whose call it was and what the layers said are not.
 */
const told = ({
  executed: _ran,
  toolCallId: _id,
  audit: _audit,
  executionDurationMs: _time,
  ...rest
}: ToolResult) => JSON.parse(JSON.stringify(rest)) as object;

/** The observation says whether a tool ran, and a replayed one did not. */
const withoutObservation = (result: ToolResult) => ({ ...told(result), observation: null });

async function there(executor: Next, call: ToolCall = makeCall({ toolArgs: { a: 1 } })) {
  const file = files.path();
  const [first] = await recorded(file, [call], executor);
  const unused = echoExecutor();
  const again = await composeToolCallers([replay({ file })])(
    makeCall({ ...call, callId: 'new' }),
    unused,
  );
  return { first: first as ToolResult, again, runs: unused.calls.length };
}

describe('a recorded answer', () => {
  it.each(Object.entries(STATUSES))('comes back as it was with status %s', async (status, row) => {
    const { first, again, runs } = await there(async (call) =>
      row.ok
        ? ok(call, { value: status }, { status })
        : fail(call, status, new Error('inside'), `It was ${status}.`),
    );

    expect(first.status).toBe(status);
    expect(withoutObservation(again)).toEqual(withoutObservation(first));
    expect([again.toolCallId, again.executed, runs]).toEqual(['new', 'no', 0]);
    expect(again.audit?.layers).toMatchObject([
      { name: 'replay', status: 'replayed', line: 1, recorded: { executed: first.executed } },
    ]);
  });

  it.each<[string, Next]>([
    ['nothing', async (call) => ok(call)],
    ['an empty text', async (call) => ok(call, '')],
    ['unicode', async (call) => ok(call, 'Grüße 🌍 \u2028\u2029\u0000\u202e \ud83d שלום')],
    [
      'a member called __proto__',
      async (call) => ok(call, JSON.parse('{"__proto__":{"admin":true},"constructor":1}')),
    ],
    ['three megabytes', async (call) => ok(call, { text: 'é"\n'.repeat(600_000) })],
    ['deep nesting', async (call) => ok(call, JSON.parse('['.repeat(400) + ']'.repeat(400)))],
    [
      'every kind of block',
      async (call) =>
        ok(
          call,
          { n: 1 },
          {
            content: [
              { type: 'text', text: 'see', annotations: { audience: ['user'] } },
              {
                type: 'image',
                data: Buffer.alloc(3_000, 7).toString('base64'),
                mimeType: 'image/png',
              },
              { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
              {
                type: 'resource',
                resource: { uri: 'file:///a', mimeType: 'text/plain', text: 'a' },
              },
              {
                type: 'resource_link',
                uri: 'file:///b',
                name: 'b',
                description: 'c',
                mimeType: 'text/plain',
              },
            ],
          },
        ),
    ],
    [
      'a text of its own',
      async (call) => withResult(ok(call, { secret: 1 }), { renderedResult: 'hidden' }),
    ],
    ['a status of its own', async (call) => refuse(call, 'closed_for_lunch', 'Come back at two.')],
    [
      'a finer category',
      async (call) =>
        fail(call, 'executor_error', null, 'No.', {
          category: 'http_503',
          errorClass: 'retryable',
        }),
    ],
    [
      'a failure with a value',
      async (call) => withResult(refuse(call, 'timeout', 'Late.'), { result: { partial: [1] } }),
    ],
    [
      'a time to wait',
      async (call) => refuse(call, 'rate_limited', 'Later.', { retryAfterMs: 1_500 }),
    ],
    [
      'an output file',
      async (call) =>
        withResult(ok(call, 'cut'), {
          outputFiles: [{ uri: 'file:///o', bytes: 9, sha256: 'ab', mediaType: 'text/plain' }],
        }),
    ],
    [
      'an interruption',
      async (call) =>
        refuse(call, 'approval_required', 'Ask.', {
          interruption: {
            kind: 'approval_required',
            id: 'i',
            fingerprint: 'f',
            shown: { some_name: 1 },
            options: ['allow_once'],
          },
        }),
    ],
  ])('comes back as it was with %s', async (_what, executor) => {
    const { first, again } = await there(executor);

    expect(told(again)).toEqual({ ...told(first), observation: again.observation });
    expect(again.status).toBe(first.status);
  });

  it('comes back as it was after the tool threw', async () => {
    const { first, again } = await there(() => Promise.reject(new Error('no connection')));

    expect(first.executed).toBe('unknown');
    expect(withoutObservation(again)).toEqual(withoutObservation(first));
  });

  it('is matched by canonical arguments, whatever their order and spelling', async () => {
    const file = files.path();
    await recorded(
      file,
      [makeCall({ toolArgs: { b: 1e3, a: { d: 'é', c: [1, 2] } } })],
      echoExecutor(),
    );
    const result = await composeToolCallers([replay({ file })])(
      makeCall({ toolArgs: { a: { c: [1, 2], d: '\u00e9' }, b: 1_000 } }),
      echoExecutor(),
    );

    expect(result.result).toEqual({ b: 1_000, a: { d: 'é', c: [1, 2] } });
  });

  it('does not come back where it was too large for a line', async () => {
    const { first, again } = await there(async (call) => ok(call, 'x'.repeat(33 * 1024 * 1024)));

    expect(first.status).toBe('ok');
    expect([again.status, again.errorCategory]).toEqual(['executor_error', 'replay_missing']);
    expect(again.error).toContain('the answer in line 1 was too large');
  });
});

/** Answers with a number that no other answer has. */
function counting(): Next {
  let count = 0;
  return async (call) => ok(call, { ...call.toolArgs, count: (count += 1) });
}

describe('a recorded run', () => {
  it('is replayed in the order in which its calls came, not in which they ended', async () => {
    const file = files.path();
    const layer = record({ file });
    const stack = composeToolCallers([layer]);
    const release: (() => void)[] = [];
    const waiting: Next = (call) =>
      new Promise((resolve) => release.push(() => resolve(ok(call, call.toolArgs))));
    const running = [0, 1, 2, 3].map((n) => stack(makeCall({ toolArgs: { n } }), waiting));
    while (release.length < 4) await new Promise((resolve) => setImmediate(resolve));
    for (const end of release.reverse()) {
      end();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(running);
    await layer.close?.();
    const strict = composeToolCallers([replay({ file })]);
    const answers: unknown[] = [];
    for (const n of [0, 1, 2, 3])
      answers.push((await strict(makeCall({ toolArgs: { n } }), echoExecutor())).result);

    expect(answers).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }, { n: 3 }]);
  });

  it('gives parallel calls exactly one answer each', async () => {
    const file = files.path();
    const calls = Array.from({ length: 200 }, (_, index) =>
      makeCall({ toolArgs: { same: index % 2 } }),
    );
    await recorded(file, calls, counting());
    const stack = composeToolCallers([replay({ file, mode: 'ordered' })]);
    const tool = echoExecutor();
    const results = await Promise.all(calls.map((call) => stack(call, tool)));

    expect(results.map(({ result }) => (result as { count: number }).count)).toEqual(
      calls.map((_, index) => index + 1),
    );
    expect((await stack(calls[0] as ToolCall, tool)).errorCategory).toBe('replay_exhausted');
    expect(tool.calls.length).toBe(0);
  });

  it('is not a last answer per tool: a naive twin gives other answers', async () => {
    const file = files.path();
    const calls = [{ q: 'a' }, { q: 'b' }, { q: 'a' }].map((toolArgs) => makeCall({ toolArgs }));
    const results = await recorded(file, calls, counting());
    const last = new Map(results.map((result) => [result.toolName, result.result]));
    const stack = composeToolCallers([replay({ file, mode: 'ordered' })]);
    const answers: unknown[] = [];
    for (const call of calls) answers.push((await stack(call, echoExecutor())).result);

    expect(answers).toEqual(results.map(({ result }) => result));
    expect(calls.map(({ toolName }) => last.get(toolName))).not.toEqual(answers);
  });

  it('leaves out the calls that a tool made itself', async () => {
    const file = files.path();
    const inputSchema = { type: 'object' } as const;
    const tools = [
      defineTool({ name: 'inner', description: 'd', inputSchema, execute: () => 'in' }),
      defineTool({
        ...{ name: 'outer', description: 'd', inputSchema },
        execute: async (_args, { call }) =>
          `out of ${(await call({ name: 'inner', arguments: {} })).renderedResult}`,
      }),
    ];
    const recording = governTools({ tools, layers: [record({ file })] });
    for (const name of ['outer', 'inner', 'outer']) await recording.call({ name, arguments: {} });
    await recording.close();
    const replaying = governTools({ tools, layers: [replay({ file, onUnused: 'throw' })] });
    const answers: string[] = [];
    for (const name of ['outer', 'inner', 'outer'])
      answers.push((await replaying.call({ name, arguments: {} })).renderedResult);

    expect(answers).toEqual(['out of in', 'in', 'out of in']);
    await replaying.close();
  });

  it('goes on through the same layers, redaction and output limit included', async () => {
    const file = files.path();
    const around = () => [
      outputLimit({ maxBytes: 512, store: { write: () => Promise.reject(new Error('full')) } }),
      redaction({ paths: ['**.pin'] }),
    ];
    const call = makeCall({ toolArgs: { pin: '1234', text: 'x'.repeat(2_000) } });
    const [first] = await recorded(file, [call], echoExecutor(), around());
    const again = await composeToolCallers([...around(), replay({ file })])(call, echoExecutor());

    expect(again.renderedResult).toBe(first?.renderedResult);
    expect(again.executed).toBe('no');
  });

  it.each(['record', 'replay'])(
    'cannot be made or given with %s outside redaction or inside retry',
    (name) => {
      const file = files.written('');
      const layer = name === 'record' ? record({ file }) : replay({ file });
      const isOrder = (error: unknown) => isAlliumError(error, 'ERR_LAYER_ORDER');

      for (const wrong of [
        [layer, redaction()],
        [retry(), layer],
      ]) {
        expect(() => composeToolCallers(wrong)).toThrow(expect.toSatisfy(isOrder));
      }
      expect(composeToolCallers([redaction(), layer, retry()]).layers.length).toBe(3);
    },
  );
});
