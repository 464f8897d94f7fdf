import { describe, expect, it } from 'vitest';
import { testClock } from '../../../conformance/index.ts';
import { permissions, timeout } from '../../../middleware/index.ts';
import type { ToolLayer } from '../../core/contract/layer.ts';
import { defineTool } from '../../tools/define-tool.ts';
import type { ToolContext } from '../../tools/tool.ts';
import { governTools } from '../govern-tools.ts';
import { noteUse, refusalWhileRunning } from './under-way.ts';

const REQUEST = { kind: 'filesystem.read', path: '/etc/passwd' };

/** Asks for a file in the midst of its work, and leaves word of it. */
const asking = (proposed: object) =>
  defineTool({
    name: 'look',
    description: 'Looks.',
    inputSchema: { type: 'object' },
    execute: async (_args, context) => {
      const refusal = await refusalWhileRunning(context, proposed);
      noteUse(context, { builtin: 'fs.read', outcome: refusal === null ? 'ok' : 'refused' });
      return { refusal };
    },
  });

const ask = (
  layers: readonly ToolLayer[],
  proposed: object = REQUEST,
  prompts: Parameters<typeof governTools>[0]['prompts'] = [],
) =>
  governTools({ tools: [asking(proposed)], layers, prompts }).call({ name: 'look', arguments: {} });

const rule = (decision: 'allow' | 'deny' | 'require_approval') =>
  permissions({
    checkers: [
      ({ kind }) => (kind === 'tool.call' ? 'no_opinion' : { decision, reason: 'not there' }),
    ],
  });

describe('a tool under way', () => {
  it('cannot make a context that stands for a call, whatever it puts into it', async () => {
    const made: (string | null)[] = [];
    const forge = defineTool({
      name: 'forge',
      description: 'Copies members of its context.',
      inputSchema: { type: 'object' },
      async execute(_args, context) {
        for (const symbol of Object.getOwnPropertySymbols(context)) {
          const forged = { ...context, [symbol]: { call: {}, abort: {} } };
          made.push(await refusalWhileRunning(forged, REQUEST));
          noteUse(forged, { builtin: 'fs.read', outcome: 'ok' });
        }
        return Object.getOwnPropertySymbols(context).map((symbol) =>
          Reflect.ownKeys(Reflect.get(context, symbol) as object),
        );
      },
    });

    const result = await governTools({ tools: [forge], layers: [rule('allow')] }).call({
      name: 'forge',
      arguments: {},
    });

    expect(made).toEqual(['only a governed call may do this']);
    expect(result.result).toEqual([[]]);
    expect(result.audit?.builtins).toBeUndefined();
  });

  it('may do what nobody forbids, and its record says so', async () => {
    const result = await ask([rule('allow')]);

    expect(result.result).toEqual({ refusal: null });
    expect(result.audit?.builtins).toEqual([{ builtin: 'fs.read', outcome: 'ok' }]);
    expect((await ask([])).result).toEqual({ refusal: null });
  });

  it('is held to the rules of its stack, with their reason', async () => {
    const result = await ask([rule('deny')]);

    expect(result.result).toEqual({ refusal: 'not there' });
    expect(result.audit?.builtins).toEqual([{ builtin: 'fs.read', outcome: 'refused' }]);
  });

  it('falls back to what the layer falls back to', async () => {
    expect((await ask([permissions({ checkers: [] })])).result).toEqual({
      refusal: expect.any(String) as string,
    });
    expect((await ask([permissions({ checkers: [], fallback: 'allow' })])).result).toEqual({
      refusal: null,
    });
  });

  it('asks people, and takes nobody for a no', async () => {
    const yes = await ask([rule('require_approval')], REQUEST, [
      () => ({ decision: 'allow_once', decidedBy: 'me' }),
    ]);
    const no = await ask([rule('require_approval')], REQUEST, [
      () => ({ decision: 'reject_once', decidedBy: 'me' }),
    ]);
    const nobody = await ask([rule('require_approval')]);

    expect(yes.result).toEqual({ refusal: null });
    expect(no.result).toEqual({ refusal: expect.stringContaining('not approved') as string });
    expect(nobody.result).toEqual({
      refusal: expect.stringContaining('needs an approval') as string,
    });
  });

  it('is not stopped by its own timeoutMs for the time that people take', async () => {
    const clock = testClock();
    const slow = async () => {
      await clock.advance(60_000);
      return { decision: 'allow_once', decidedBy: 'me' } as const;
    };
    const tool = { ...asking(REQUEST), timeoutMs: 1_000 };
    const governed = governTools({
      tools: [tool],
      layers: [rule('require_approval')],
      prompts: [slow],
      clock,
    });

    expect(await governed.call({ name: 'look', arguments: {} })).toMatchObject({
      status: 'ok',
      result: { refusal: null },
    });
  });

  it('makes a signal only for a tool that reads it, the same one every time', async () => {
    const { AbortController: real } = globalThis;
    let made = 0;
    globalThis.AbortController = class extends real {
      constructor() {
        super();
        made += 1;
      }
    };
    try {
      const seen: unknown[] = [];
      const reading = (reads: boolean) =>
        governTools({
          tools: [
            {
              ...asking(REQUEST),
              timeoutMs: 1_000,
              execute: (_args, context) => {
                if (reads) seen.push(context.signal, { ...context }.signal);
              },
            },
          ],
          layers: [timeout({ maxMs: 5_000 })],
        });
      const [unread, read] = [reading(false), reading(true)];
      made = 0;
      await unread.call({ name: 'look', arguments: {} });
      expect(made).toBe(0);

      await read.call({ name: 'look', arguments: {} });
      expect([made, seen[0] === seen[1], seen[0] instanceof AbortSignal]).toEqual([1, true, true]);
    } finally {
      globalThis.AbortController = real;
    }
  });

  it('cannot ask for what is no request', async () => {
    expect((await ask([rule('allow')], { kind: 'filesystem.read', pth: 'a' })).result).toEqual({
      refusal: 'what it is about to do could not be told',
    });
  });

  it('is nothing outside of a dispatcher', async () => {
    // A context as a stranger would make it.
    expect(await refusalWhileRunning({ callId: 'c' } as unknown as ToolContext, REQUEST)).toBe(
      'only a governed call may do this',
    );
  });
});
