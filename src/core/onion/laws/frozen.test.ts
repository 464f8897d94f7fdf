import { describe, expect, it } from 'vitest';
import { annotate, ok, refuse, withResult } from '../results.ts';
import { withCall } from '../own-call.ts';
import { echoExecutor, makeCall, settle } from '../../../../conformance/test-kit.ts';
import type { ToolCall } from '../../contract/call.ts';
import { composeToolCallers } from '../compose.ts';
import { type ToolCaller } from '../../contract/layer.ts';
import { layer, pass } from './layers.fixture.ts';

describe('law 8: calls and results are frozen', () => {
  it('so that a layer and an executor cannot change them', async () => {
    const attempts: string[] = [];
    const attempt = (what: string, change: () => void) => {
      expect(change).toThrow(TypeError);
      attempts.push(what);
    };
    const meddling: ToolCaller = async (call, next) => {
      // The types forbid it; a layer in JavaScript has none.
      const open = call as { -readonly [K in keyof ToolCall]: ToolCall[K] } & {
        toolArgs: { list: number[] };
      };
      attempt('name', () => (open.toolName = 'other'));
      attempt('argument', () => Object.assign(open.toolArgs, { more: 1 }));
      attempt('inside an argument', () => open.toolArgs.list.push(3));
      attempt('turn', () => Object.assign(open.turn, { iteration: 9 }));
      attempt('annotations', () => Object.assign(open.annotations, { readOnly: true }));
      const result = await next(call);
      attempt('result', () => Object.assign(result, { ok: false }));
      attempt('value', () => Object.assign(result.result ?? {}, { more: 1 }));
      attempt('content', () => Object.assign(result.content[0] ?? {}, { text: 'forged' }));
      return result;
    };
    const result = await composeToolCallers([meddling])(
      makeCall({ toolArgs: { list: [1, 2] } }),
      echoExecutor(),
    );

    expect(result).toMatchObject({ ok: true, result: { list: [1, 2] } });
    expect(attempts).toHaveLength(8);
    expect(() => Object.assign(result.audit ?? {}, { summary: 'forged' })).toThrow(TypeError);
  });

  it('and what is put into a result later is frozen, too', () => {
    const metadata = { list: [1] };
    const result = withResult(ok(makeCall()), {
      metadata,
      outputFiles: [{ uri: 'u', bytes: 1, sha256: 's', mediaType: 'm' }],
    });
    metadata.list.push(2);

    expect(result.metadata).toEqual({ list: [1] });
    expect(Object.isFrozen(result.outputFiles[0])).toBe(true);
  });

  it('and the same call handed in twice at once has two records', async () => {
    const call = makeCall();
    const slow = layer('slow', async (given, next) => {
      await settle();
      return annotate(await next(given), { sum: given.toolArgs['n'] });
    });
    const stack = composeToolCallers([layer('outer'), slow]);
    const results = await Promise.all(
      [1, 2, 3].map((n) => stack(withCall(call, { toolArgs: { n } }), echoExecutor())),
    );
    const [first, second] = await Promise.all([
      stack(call, echoExecutor()),
      stack(call, echoExecutor()),
    ]);

    expect(results.map(({ audit }) => audit?.['sum'])).toEqual([1, 2, 3]);
    expect(results.map(({ audit }) => audit?.layers.length)).toEqual([2, 2, 2]);
    expect(first?.audit).not.toBe(second?.audit);
    expect(first?.audit?.layers).toHaveLength(2);
  });

  it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])(
    'and a tool may be called %s',
    async (toolName) => {
      const result = await composeToolCallers([pass])(makeCall({ toolName }), echoExecutor());
      const refused = await composeToolCallers([
        (call) => refuse(call, toolName, 'A status of that name.'),
      ])(makeCall(), echoExecutor());

      expect(result).toMatchObject({ ok: true, toolName });
      expect(result.observation).toBe(`[result of ${toolName}]\n{}\n[end of ${toolName} result]\n`);
      expect(refused).toMatchObject({ ok: false, status: toolName, errorClass: null });
    },
  );

  it('and an audit key called __proto__ changes nobody', async () => {
    const patch = JSON.parse('{"__proto__":{"polluted":true},"constructor":"x"}') as object;
    const result = await composeToolCallers([
      async (call, next) => annotate(await next(call), patch, patch as { status: string }),
    ])(makeCall(), echoExecutor());

    expect(Reflect.get({}, 'polluted')).toBeUndefined();
    expect(Reflect.get(result.audit ?? {}, 'polluted')).toBeUndefined();
    expect(result.audit).toMatchObject({ constructor: 'x' });
  });
});
