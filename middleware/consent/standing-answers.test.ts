import { describe, expect, it } from 'vitest';
import { echoExecutor, makeCall, type PartialCall, settle } from '../../conformance/index.ts';
import { type ApprovalAnswer, type ApprovalPrompt, composeToolCallers } from '../../src/index.ts';
import { channel, start } from './asking.fixture.ts';
import { consent } from './consent.ts';

describe('consent with remember', () => {
  const always = (decision: ApprovalAnswer['decision']) => {
    const asked: unknown[] = [];
    const prompt: ApprovalPrompt = (question) => {
      asked.push(question.shown.args);
      return { decision, decidedBy: 'ada', reason: 'standing' };
    };
    return { prompt, asked };
  };

  it.each([
    ['allow_always', true, 1, 'ok'],
    ['allow_once', true, 2, 'ok'],
    ['allow_always', false, 2, 'ok'],
    ['reject_always', true, 1, 'consent_denied'],
    ['reject_once', true, 2, 'consent_denied'],
  ] as const)(
    'after %s with remember %s asks %i times about two equal calls',
    async (decision, remember, times, status) => {
      const { prompt, asked } = always(decision);
      const { ask } = start({ prompts: [prompt], remember }, { toolArgs: { a: 1, b: 2 } });
      const results = [
        await ask({ callId: 'one' }),
        await ask({ callId: 'two', toolArgs: { b: 2, a: 1 } }),
      ];

      expect(asked).toHaveLength(times);
      expect(results.map((result) => result.status)).toEqual([status, status]);
      expect(results[1]?.audit?.consent).toMatchObject({ decidedBy: 'ada', reason: 'standing' });
      expect(results[1]?.approval?.fingerprint).not.toBe(results[0]?.approval?.fingerprint);
      expect(results[1]?.audit?.layers[0]?.remembered).toBe(times === 1 ? true : undefined);
    },
  );

  it.each<[string, PartialCall]>([
    ['another argument', { toolArgs: { a: 2 } }],
    ['another type', { toolArgs: { a: '1' } }],
    ['one argument more', { toolArgs: { a: 1, b: null } }],
    ['another tool', { toolName: 'other' }],
    ['another description', { description: 'Deletes everything.' }],
    ['another schema', { schema: { type: 'object' } }],
    ['another session', { turn: { sessionId: 'session-2' } }],
  ])('asks again about %s', async (_name, changes) => {
    const { prompt, asked } = always('allow_always');
    const { ask } = start({ prompts: [prompt], remember: true }, { toolArgs: { a: 1 } });
    await ask();
    await ask(changes);

    expect(asked).toHaveLength(2);
  });

  it('asks again about another description of the same frozen schema, and about a schema that was changed inside', async () => {
    const { prompt, asked } = always('allow_always');
    const fixed = Object.freeze({ type: 'object' });
    const inner = { text: { type: 'string' } };
    const shell = Object.freeze({ type: 'object', properties: inner });
    const { ask } = start({ prompts: [prompt], remember: true });
    await ask({ schema: fixed });
    await ask({ schema: fixed, description: 'Deletes everything.' });
    expect(asked).toHaveLength(2);
    await ask({ schema: shell });
    inner.text.type = 'integer';
    await ask({ schema: shell });

    expect(asked).toHaveLength(4);
  });

  it('offers what it keeps', async () => {
    expect((await start({ remember: true }).ask()).interruption?.options).toEqual([
      'allow_once',
      'allow_always',
      'reject_once',
      'reject_always',
    ]);
  });

  it('does not keep an answer with edits, neither for the one call nor for the other', async () => {
    let asked = 0;
    const prompt: ApprovalPrompt = () => (
      (asked += 1), { decision: 'allow_always', args: { amount: 5 } }
    );
    const { ask } = start({ prompts: [prompt], remember: true });
    await ask({ toolArgs: { amount: 500 } });
    await ask({ toolArgs: { amount: 500 } });
    await ask({ toolArgs: { amount: 5 } });

    expect(asked).toBe(3);
  });

  it('asks about each of many equal calls at once', async () => {
    const person = channel();
    const { ask, executor } = start({ prompts: [person.prompt], remember: true });
    const calling = Promise.all(
      Array.from({ length: 100 }, (_, index) => ask({ callId: `call-${index}` })),
    );
    await settle();
    person.asked.forEach((_question, index) =>
      person.answer({ decision: index % 2 === 0 ? 'allow_once' : 'reject_once' }, index),
    );
    await calling;

    expect(person.asked).toHaveLength(100);
    expect(executor.calls).toHaveLength(50);
  });

  it('does not let a standing approval pass a rule that denies', async () => {
    const { prompt } = always('allow_always');
    let denies = false;
    const { ask, executor } = start({
      prompts: [prompt],
      remember: true,
      rules: [{ tool: '*', when: () => denies, decision: 'deny' }],
    });
    await ask();
    denies = true;

    expect((await ask()).status).toBe('consent_denied');
    expect(executor.calls).toHaveLength(1);
  });

  it('keeps a bounded number of answers, and none once it is closed', async () => {
    const { prompt, asked } = always('allow_always');
    const layer = consent({ default: 'ask', prompts: [prompt], remember: true });
    const ask = (n: number) =>
      composeToolCallers([layer])(makeCall({ toolArgs: { n } }), echoExecutor());
    for (let n = 0; n <= 1_000; n += 1) await ask(n);
    await ask(0);
    expect(asked).toHaveLength(1_002);
    await ask(1_000);
    expect(asked).toHaveLength(1_002);
    await layer.close?.();
    await ask(1_000);

    expect(asked).toHaveLength(1_003);
  });
});
