import { describe, expect, it } from 'vitest';
import { ok, raise, refuse, withResult } from './results.ts';
import { echoExecutor, makeCall } from '../../../conformance/index.ts';
import { composeToolCallers } from './compose.ts';
import { defineLayer, type ToolCaller } from '../contract/layer.ts';

const CANARY = 'canary-7f3a';
const cleaner = defineLayer({
  name: 'cleaner',
  caller: (call, next) => next(call),
  scrub: (text) => text.replaceAll(CANARY, '[gone]'),
});

const run = (caller: ToolCaller, layers = [cleaner]) =>
  composeToolCallers([defineLayer({ name: 'outer', caller }), ...layers])(
    makeCall({ toolArgs: { [CANARY]: [CANARY] } }),
    echoExecutor(),
  );

describe('a result that a layer outside the cleaning ones gives', () => {
  it.each<[string, ToolCaller]>([
    ['a refusal', (call) => refuse(call, 'policy_blocked', `No ${CANARY}.`)],
    ['an answer of its own', (call) => ok(call, { [CANARY]: CANARY })],
    [
      'a preview with content',
      (call) =>
        ok(call, null, {
          status: 'dry_run',
          content: [{ type: 'text', text: `Would send ${CANARY}` }],
        }),
    ],
    [
      'metadata',
      (call) => withResult(refuse(call, 'rate_limited', 'No.'), { metadata: { note: CANARY } }),
    ],
  ])('is cleaned where it is %s', async (_name, caller) => {
    const result = await run(caller);

    expect(JSON.stringify(result)).not.toContain(CANARY);
    expect(result.arguments).toEqual({ '[gone]': ['[gone]'] });
  });

  it('keeps the kind of its content blocks, whatever a scrub does to text', async () => {
    const blunt = defineLayer({ ...cleaner, scrub: () => 'x' });
    const result = await run(
      (call) => ok(call, null, { content: [{ type: 'text', text: CANARY }] }),
      [blunt],
    );

    expect(result.content).toEqual([{ type: 'text', text: 'x' }]);
    expect(result.arguments).toEqual({ x: ['x'] });
  });

  it('is withheld where a scrub fails', async () => {
    const broken = defineLayer({
      ...cleaner,
      scrub: () => {
        throw new Error('broken');
      },
    });
    const result = await run((call) => refuse(call, 'policy_blocked', CANARY), [broken]);

    expect(JSON.stringify(result)).not.toContain(CANARY);
    expect(result.error).toContain('withheld');
  });

  it('is cleaned before it is thrown', async () => {
    const raised = run((call) => raise(refuse(call, 'policy_blocked', `No ${CANARY}.`)));

    await expect(raised).rejects.toThrow('policy_blocked: No [gone].');
  });

  it('shows a person what they decide about', async () => {
    const interruption = {
      kind: 'approval_required',
      id: '1',
      fingerprint: 'f',
      shown: { to: CANARY },
      options: [],
    } as const;
    const result = await run((call) => refuse(call, 'approval_required', 'Ask.', { interruption }));

    expect(result.interruption?.shown).toEqual({ to: CANARY });
  });

  it('is left alone where the call ran, because the cleaning layer has seen it', async () => {
    expect((await run((call, next) => next(call))).result).toEqual({ [CANARY]: [CANARY] });
  });
});
