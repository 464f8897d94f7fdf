import { describe, expect, it } from 'vitest';
import { composeToolCallers } from '../src/core/onion/compose.ts';
import type { Next, ToolCaller, ToolLayer } from '../src/core/contract/layer.ts';
import type { ToolResult } from '../src/core/contract/result.ts';
import { unhandledDuring } from './benches/fuzz/watch-process.ts';
import { hostileThrowables, malformedResults } from './hostile-values.ts';
import { echoExecutor, makeCall } from './test-kit.ts';

const POSITIONS = ['outermost', 'middle', 'innermost'] as const;
const pass: ToolCaller = (call, next) => next(call);

/** Three layers of which one misbehaves. */
const stackWith = (position: string, caller: ToolCaller): readonly ToolLayer[] =>
  POSITIONS.map((name) => ({ name, caller: name === position ? caller : pass }));

async function runQuietly(layers: readonly ToolLayer[], executor: Next): Promise<ToolResult> {
  const results: ToolResult[] = [];
  const unhandled = await unhandledDuring(async () => {
    results.push(await composeToolCallers(layers)(makeCall({ callId: 'hostile-1' }), executor));
  });
  expect(unhandled).toEqual([]);
  const [result] = results;
  if (result === undefined) throw new Error('no result');
  return result;
}

/** Which layers wrote a line of their own failing. */
const blamed = ({ audit }: ToolResult): readonly string[] =>
  (audit?.layers ?? []).filter(({ status }) => status === 'exception').map(({ name }) => name);

function expectProper(result: ToolResult, status: string): void {
  expect(result).toMatchObject({ ok: false, status, toolCallId: 'hostile-1' });
  expect(Object.isFrozen(result)).toBe(true);
  expect(result.error).not.toBe('');
  expect(result.error?.length).toBeLessThan(1_000);
  expect(result.observation).not.toMatch(/secret-token|^\[result of/m);
  expect(JSON.stringify(result)).not.toContain('secret-token');
}

// The values are hostile on purpose; the type of a caller says what an honest one returns.
const returning = (value: unknown): ToolResult => value as ToolResult;

describe.each(POSITIONS)('a hostile throw in the %s layer', (position) => {
  it.each(hostileThrowables)('is a result that names the layer when it is %s', async (_, make) => {
    const thrown = make();
    const executor = echoExecutor();
    const sync: ToolCaller = () => {
      throw thrown;
    };
    const async: ToolCaller = async (call, next) => {
      await next(call);
      throw thrown;
    };

    for (const caller of [sync, async]) {
      const result = await runQuietly(stackWith(position, caller), executor);
      expectProper(result, 'tool_middleware_exception');
      expect(blamed(result)).toEqual([position]);
    }
    expect(executor.calls).toHaveLength(1);
  });
});

describe('a hostile throw in the executor', () => {
  it.each(hostileThrowables)('is an executor_error when it is %s', async (_, make) => {
    const thrown = make();
    const sync: Next = () => {
      throw thrown;
    };
    const async: Next = async () => {
      await Promise.resolve();
      throw thrown;
    };

    for (const executor of [sync, async]) {
      const result = await runQuietly(stackWith('none', pass), executor);
      expectProper(result, 'executor_error');
      expect(result).toMatchObject({ executed: 'unknown', errorCategory: 'exception' });
      expect(blamed(result)).toEqual([]);
    }
  });
});

describe.each(POSITIONS)('a malformed answer of the %s layer', (position) => {
  it.each(malformedResults)('is a result that names the layer when it is %s', async (_, make) => {
    const executor = echoExecutor();
    const sync = await runQuietly(
      stackWith(position, (call) => returning(make(call))),
      executor,
    );
    const async = await runQuietly(
      stackWith(position, async (call, next) => {
        await next(call);
        return returning(make(call));
      }),
      executor,
    );

    for (const result of [sync, async]) expectProper(result, 'tool_middleware_exception');
    expect([blamed(sync), blamed(async)]).toEqual([[position], [position]]);
    expect([sync.executed, async.executed]).toEqual(['no', 'yes']);
    expect(executor.calls).toHaveLength(1);
  });
});

describe('a promise of next that a layer tampered with', () => {
  it.each<[string, (done: (value: unknown) => void) => unknown]>([
    ['answers with garbage', (done) => done('garbage')],
    ['answers twice', (done) => (done(1), done(2))],
    [
      'throws',
      () => {
        throw new Error('tampered');
      },
    ],
  ])('is still a result when its then %s', async (_, then) => {
    const tampering: ToolCaller = (call, next) => Object.assign(next(call), { then });
    const result = await runQuietly(stackWith('middle', tampering), echoExecutor());

    expectProper(result, 'tool_middleware_exception');
    expect(blamed(result)).toEqual(['middle']);
  });
});

describe('a malformed answer of the executor', () => {
  it.each(malformedResults)('is no success when it is %s', async (_, make) => {
    const result = await runQuietly(stackWith('none', pass), async (call) => returning(make(call)));

    expect(['tool_middleware_exception', 'executor_error']).toContain(result.status);
    expectProper(result, result.status);
    expect(result.executed).not.toBe('no');
    expect(blamed(result)).toEqual([]);
  });
});

describe('hostile values', () => {
  it('are many, with a name each', () => {
    expect(hostileThrowables.length).toBeGreaterThanOrEqual(60);
    expect(malformedResults.length).toBeGreaterThanOrEqual(40);
    expect(new Set(hostileThrowables.map(([name]) => name)).size).toBe(hostileThrowables.length);
    expect(new Set(malformedResults.map(([name]) => name)).size).toBe(malformedResults.length);
  });

  it('break a composer without guards', async () => {
    const naive = async (caller: ToolCaller): Promise<unknown> =>
      caller(makeCall(), echoExecutor());
    const escaped = await Promise.all(
      hostileThrowables.map(async ([, make]) =>
        naive(() => Promise.reject(make())).then(
          () => false,
          () => true,
        ),
      ),
    );

    expect(escaped.every(Boolean)).toBe(true);
  });
});
