import { afterAll, describe, expect, it } from 'vitest';
import { echoExecutor, makeCall } from '../../conformance/index.ts';
import { composeToolCallers, isAlliumError } from '../../src/index.ts';
import { lines, lineWith, tempFolder } from './recording.fixture.ts';
import { type ReplayOptions, replay } from './replay.ts';

const files = tempFolder();
afterAll(files.remove);

const file = files.written(
  lines(
    lineWith({ seq: 0, tool: 'read', args: { path: 'a' }, answer: { result: 'first' } }),
    lineWith({ seq: 1, tool: 'list', args: {}, answer: { result: ['a'] } }),
    lineWith({ seq: 2, tool: 'read', args: { path: 'a' }, answer: { result: 'second' } }),
  ),
);

function replaying(options: Partial<ReplayOptions> = {}) {
  const layer = replay({ file, ...options });
  const stack = composeToolCallers([layer]);
  const tool = echoExecutor();
  return {
    layer,
    tool,
    ask: (toolName: string, toolArgs: object, signal?: AbortSignal) =>
      stack(
        makeCall(signal === undefined ? { toolName, toolArgs } : { toolName, toolArgs, signal }),
        tool,
      ),
  };
}

const a = { path: 'a' };

describe('replay, strict,', () => {
  it('answers calls that come as they were recorded', async () => {
    const { ask, tool } = replaying();
    const answers = [await ask('read', a), await ask('list', {}), await ask('read', a)];

    expect(answers.map(({ result }) => result)).toEqual(['first', ['a'], 'second']);
    expect(
      answers.every(({ executed, toolCallId }) => executed === 'no' && toolCallId === 'call-1'),
    ).toBe(true);
    expect(tool.calls.length).toBe(0);
  });

  it('refuses another tool, and says which it expects', async () => {
    const { ask, tool } = replaying();
    const result = await ask('list', {});

    expect(result).toMatchObject({
      ok: false,
      status: 'executor_error',
      errorCategory: 'replay_mismatch',
      errorClass: 'fatal',
      executed: 'no',
    });
    expect(result.error).toBe(
      'list was not called. Answers come from a recording: it expects read (line 1), and list came. Do not repeat the call unchanged.',
    );
    expect(result.audit?.layers).toMatchObject([{ name: 'replay', status: 'mismatch' }]);
    expect(tool.calls.length).toBe(0);
  });

  it('refuses other arguments, and names what differs but not what it is', async () => {
    const { ask } = replaying();
    const { error, errorCategory } = await ask('read', { path: 'canary-1', more: 'canary-2' });

    expect(errorCategory).toBe('replay_mismatch');
    expect(error).toContain(
      'it expects read (line 1) with other arguments; different: path, more.',
    );
    expect(error).not.toMatch(/canary|first/);
  });

  it('names no more than five differences', async () => {
    const { ask } = replaying();
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`m${index}`, index]));

    expect((await ask('read', many)).error).toContain('different: path, m0, m1, m2, m3 and more.');
  });

  it('takes nothing for a call it refuses', async () => {
    const { ask } = replaying();
    await ask('list', {});
    await ask('read', { path: 'b' });

    expect((await ask('read', a)).result).toBe('first');
  });

  it('refuses calls after the last one', async () => {
    const { ask, tool } = replaying();
    for (const [name, args] of [
      ['read', a],
      ['list', {}],
      ['read', a],
    ] as const)
      await ask(name, args);
    const result = await ask('read', a);

    expect([result.status, result.errorCategory]).toEqual(['executor_error', 'replay_exhausted']);
    expect(result.error).toContain('it ended after 3 calls, and read came');
    expect(tool.calls.length).toBe(0);
  });

  it('refuses arguments that have no canonical form', async () => {
    const { ask } = replaying();

    expect((await ask('read', { path: '\ud800' })).errorCategory).toBe('replay_mismatch');
  });

  it('answers nobody who has gone, and keeps the answer', async () => {
    const { ask } = replaying();

    expect((await ask('read', a, AbortSignal.abort())).status).toBe('cancelled');
    expect((await ask('read', a)).result).toBe('first');
  });
});

describe('replay, ordered,', () => {
  it('gives the answers of the same call in their order, whatever comes in between', async () => {
    const { ask, tool } = replaying({ mode: 'ordered' });
    const answers = [await ask('list', {}), await ask('read', a), await ask('read', a)];

    expect(answers.map(({ result }) => result)).toEqual([['a'], 'first', 'second']);
    expect(tool.calls.length).toBe(0);
  });

  it('refuses what was never recorded, and what was not recorded as often', async () => {
    const { ask, tool } = replaying({ mode: 'ordered' });
    await ask('list', {});
    const again = await ask('list', {});
    const other = await ask('read', { path: 'canary' });
    const unequal = await ask('read', { path: '\ud800' });

    expect([again, other, unequal].map(({ errorCategory }) => errorCategory)).toEqual([
      'replay_exhausted',
      'replay_missing',
      'replay_missing',
    ]);
    expect(again.error).toContain('every answer of list to these arguments was given');
    expect(other.error).toContain('it has no call of read with these arguments');
    expect(other.error).not.toContain('canary');
    expect(tool.calls.length).toBe(0);
  });

  it('tells tools apart whose names are those of everything', async () => {
    const { ask } = replaying({ mode: 'ordered' });

    expect((await ask('constructor', {})).errorCategory).toBe('replay_missing');
    expect((await ask('__proto__', {})).errorCategory).toBe('replay_missing');
  });

  it('lets the tool run for the rest if it is told to', async () => {
    const { ask, tool } = replaying({ mode: 'ordered', onMissing: 'pass' });
    const [known, unknown] = [await ask('list', {}), await ask('read', { path: 'b' })];

    expect([known.executed, unknown.executed]).toEqual(['no', 'yes']);
    expect(unknown.audit?.layers).toMatchObject([{ name: 'replay', status: 'passed' }]);
    expect(tool.calls.map(({ toolArgs }) => toolArgs)).toEqual([{ path: 'b' }]);
  });
});

describe('replay, closed,', () => {
  it.each(['strict', 'ordered'] as const)(
    'tells which answers nobody asked for (%s)',
    async (mode) => {
      const told: unknown[] = [];
      const { ask, layer } = replaying({
        mode,
        onUnused: (unused) => told.push(unused.map(({ line, toolName }) => [line, toolName])),
      });
      await ask('read', a);
      await layer.close?.();

      expect(told).toEqual([
        [
          [2, 'list'],
          [3, 'read'],
        ],
      ]);
    },
  );

  it('rejects with the first of them if it is told to', async () => {
    const { layer, ask } = replaying({ onUnused: 'throw' });
    await ask('read', a);
    const error: unknown = await layer.close?.().catch((thrown: unknown) => thrown);

    expect(isAlliumError(error, 'ERR_UNUSED_ANSWERS') && error.message).toBe(
      `replay: 2 recorded answers were not asked for; the first is list at ${file}:2`,
    );
  });

  it('says nothing where all were asked for, or nobody wants to know', async () => {
    const { layer, ask } = replaying({ onUnused: 'throw' });
    for (const [name, args] of [
      ['read', a],
      ['list', {}],
      ['read', a],
    ] as const)
      await ask(name, args);

    await expect(layer.close?.()).resolves.toBeUndefined();
    await expect(replaying().layer.close?.()).resolves.toBeUndefined();
  });
});

describe('replay', () => {
  it('is not made of what is no recording', () => {
    const made = () => replay({ file: files.written(lines(lineWith(), 'hello')) });

    expect(made).toThrow(/\.jsonl:2: the line is not JSON$/);
  });
});
