import { describe, expect, it } from 'vitest';
import { makeCall, recordingSink, settle, testClock } from '../../conformance/index.ts';
import { redaction } from '../redaction/redaction.ts';
import { annotate, composeToolCallers, defineLayer, type ToolResult } from '../../src/index.ts';
import { answering, lineOf, payload, run } from './handoff.fixture.ts';
import { handoffArtifact } from './handoff-artifact.ts';

describe('handoffArtifact, option sink,', () => {
  it('is given the record and the call', async () => {
    const told: unknown[] = [];
    const result = await run(
      { handoff: payload },
      { sink: (record, call) => told.push(record, call.callId) },
    );

    expect(told).toEqual([result.audit?.handoff, 'call-1']);
  });

  it('is not told of an invalid handoff', async () => {
    const sink = recordingSink();
    await run({ handoff: { ...payload, task: '' } }, { sink });

    expect(sink.records).toEqual([]);
  });

  it.each([
    [
      'throws',
      (): never => {
        throw new Error('hunter2');
      },
    ],
    ['rejects', () => Promise.reject(new Error('hunter2'))],
  ])(
    'that %s changes no result, and is counted on the line of the next call',
    async (_name, sink) => {
      const stack = composeToolCallers([handoffArtifact({ sink })]);
      const first = await stack(makeCall(), answering({ handoff: payload }));
      await settle();
      const second = await stack(makeCall(), answering({ handoff: payload }));

      expect(first).toMatchObject({ status: 'ok' });
      expect(lineOf(first)).not.toHaveProperty('sinkErrors');
      expect(lineOf(second)).toMatchObject({ status: 'emitted', sinkErrors: 1 });
      expect(JSON.stringify([first.audit, second.audit])).not.toContain('hunter2');
    },
  );

  it('that hangs holds no call, and is not fed without end', async () => {
    let told = 0;
    const stack = composeToolCallers([
      handoffArtifact({ sink: () => new Promise(() => void (told += 1)) }),
    ]);
    let last: ToolResult | undefined;
    for (let calls = 0; calls < 1010; calls += 1)
      last = await stack(makeCall(), answering({ handoff: payload }));

    expect(told).toBe(1000);
    expect(last && lineOf(last)).toMatchObject({ status: 'emitted', sinkErrors: 9 });
  });

  it('that keeps up is told of all of them', async () => {
    const sink = recordingSink();
    const stack = composeToolCallers([handoffArtifact({ sink })]);
    for (let calls = 0; calls < 1010; calls += 1)
      await stack(makeCall(), answering({ handoff: payload }));

    expect(sink.records).toHaveLength(1010);
  });

  it('cannot change the audit record through what it is given', async () => {
    const scrubbing = defineLayer({
      name: 'scrubbing',
      scrub: (text) => text,
      caller: (call, next) => next(call),
    });
    const sink = (record: object) => void Object.assign(record, { task: 'forged' });

    for (const outside of [[], [scrubbing]]) {
      expect((await run({ handoff: payload }, { sink }, { outside })).audit?.handoff).toMatchObject(
        { task: payload.task },
      );
    }
  });

  it('is not told of a handoff that a layer outside has replaced', async () => {
    const sink = recordingSink();
    const twice = defineLayer({
      name: 'twice',
      async caller(call, next) {
        annotate(await next(call), { handoff: { mine: true } });
        return next(call);
      },
    });
    const result = await run({ handoff: payload }, { sink }, { outside: [twice] });

    expect(result.audit?.handoff).toEqual({ mine: true });
    expect(sink.records).toEqual([]);
  });
});

describe('handoffArtifact inside redaction', () => {
  const secretly = {
    ...payload,
    metadata: { password: 'hunter2 and more', note: 'it is hunter2 and more' },
  };

  it.each([
    ['a path that holds everywhere', { paths: ['**.password'] }],
    ['a path of the result', { paths: ['handoff.metadata.password'] }],
    ['a path of the record', { paths: ['metadata.password'] }],
    [
      'a redactor',
      ({ result }: { result: unknown }) => ({
        result: JSON.parse(JSON.stringify(result).replaceAll('hunter2 and more', '***')) as object,
      }),
    ],
  ])('shows nothing that is hidden by %s, nor does its sink', async (_name, options) => {
    const sink = recordingSink();
    const result = await run({ handoff: secretly }, { sink }, { outside: [redaction(options)] });

    expect(result.audit?.handoff).toMatchObject({ task: payload.task });
    expect(sink.records).toHaveLength(1);
    expect(JSON.stringify([result, sink.records])).not.toContain('hunter2');
  });

  it.each([
    ['blocked', { paths: ['**.password'], strategies: { paths: 'block' as const } }],
    [
      'not checked',
      ({ phase }: { phase: string }) => {
        if (phase === 'out') throw new Error('broken');
        return {};
      },
    ],
  ])('hands nothing over where the result is %s', async (_name, options) => {
    const sink = recordingSink();
    const result = await run({ handoff: secretly }, { sink }, { outside: [redaction(options)] });

    expect(result).toMatchObject({ status: 'redacted', audit: { handoff: { withheld: true } } });
    expect(sink.records).toEqual([]);
    expect(JSON.stringify(result)).not.toContain('hunter2');
  });
});

describe('handoffArtifact inside redaction with a rule for the record alone', () => {
  it('withholds the handoff and not the result where the rule blocks', async () => {
    const sink = recordingSink();
    const options = { paths: ['metadata.password'], strategies: { paths: 'block' as const } };
    const handoff = { ...payload, metadata: { password: 'pw' } };
    const result = await run({ handoff }, { sink }, { outside: [redaction(options)] });

    expect(result).toMatchObject({ status: 'ok', audit: { handoff: { withheld: true } } });
    expect(sink.records).toEqual([]);
  });

  it('drops a policy of which something was hidden: it may have lost a restriction', async () => {
    const handoff = { ...payload, policy_override: { tools: ['read_file'] } };
    const shown = await run({ handoff }, {}, { outside: [redaction({ paths: ['nothing'] })] });
    const hidden = await run(
      { handoff },
      {},
      { outside: [redaction({ paths: ['policyOverride.tools'] })] },
    );

    expect(shown.audit?.handoff).toHaveProperty('policyOverride');
    expect(hidden.audit?.handoff).toMatchObject({ task: payload.task });
    expect(hidden.audit?.handoff).not.toHaveProperty('policyOverride');
  });
});

describe('handoffArtifact leaves', () => {
  it('nothing uncleaned in the record, on its line or with the sink', async () => {
    const masked = (text: string) => text.replaceAll('hunter2', '***');
    const scrubbing = defineLayer({
      name: 'scrubbing',
      scrub: masked,
      caller: (call, next) => next(call),
    });
    const sink = recordingSink();
    const handoff = {
      ...payload,
      task: 'use hunter2',
      open_questions: ['is it hunter2?'],
      metadata: { hunter2: ['hunter2'] },
    };
    const result = await run({ handoff }, { sink }, { outside: [scrubbing] });

    expect(result.audit?.handoff).toMatchObject({
      task: 'use ***',
      openQuestions: ['is it ***?'],
      metadata: { '***': ['***'] },
    });
    expect(JSON.stringify([result.audit, sink.records])).not.toContain('hunter2');
    expect(sink.records).toHaveLength(1);
  });

  it('deliveries to finish when it is closed, and no timer', async () => {
    const clock = testClock();
    let finish = () => {};
    const sink = () => new Promise<void>((resolve) => (finish = resolve));
    const layer = handoffArtifact({ sink });
    await composeToolCallers([layer], { clock })(makeCall(), answering({ handoff: payload }));
    let closed = false;
    const closing = layer.close?.().then(() => (closed = true));

    await settle();
    expect(closed).toBe(false);
    finish();
    await closing;
    expect([closed, clock.pending]).toEqual([true, 0]);
  });

  it('a sink behind that never finishes', async () => {
    const clock = testClock();
    const layer = handoffArtifact({ sink: () => new Promise(() => {}) });
    await composeToolCallers([layer], { clock })(makeCall(), answering({ handoff: payload }));
    const closing = layer.close?.();
    await clock.advance(5_000);

    await closing;
    expect(clock.pending).toBe(0);
  });
});
