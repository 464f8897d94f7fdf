import { describe, expect, it } from 'vitest';
import { settle } from '../../conformance/index.ts';
import {
  defineLayer,
  fail,
  type Next,
  ok,
  refuse,
  type ToolResult,
  toWire,
} from '../../src/index.ts';
import { answering, lineOf, payload, run } from './handoff.fixture.ts';
import { handoffArtifact } from './handoff-artifact.ts';

/** What a call that raised came to. */
async function raisedBy(running: Promise<unknown>): Promise<ToolResult> {
  const thrown: unknown = await running.then(
    () => null,
    (error: unknown) => error,
  );
  expect(thrown).toMatchObject({ code: 'ERR_CALL_REFUSED' });
  return (thrown as { result: ToolResult }).result; // Every raise carries its result.
}

const text = { type: 'text', text: JSON.stringify({ handoff: payload }) } as const;
const listBesideText: Next = async (call) => ok(call, [1], { content: [text] });
const twoTexts: Next = async (call) => ok(call, null, { content: [text, text] });

describe('handoffArtifact lets through', () => {
  it.each([
    ['nothing', null],
    ['a text', 'done'],
    ['a list', [{ handoff: payload }]],
    ['other members', { answer: 1, audit: { handoff: payload } }],
    ['a handoff that is null', { handoff: null }],
    ['a broken text', '{"handoff":{'],
    ['a name that objects inherit', { constructor: payload }],
    ['a list beside the text of a handoff', listBesideText],
    ['two texts', twoTexts],
    [
      'a text too long to be searched',
      JSON.stringify({ handoff: payload, rest: 'x'.repeat(256 * 1024) }),
    ],
  ])('a result with %s', async (_name, value) => {
    const result = await run(value);

    expect(result).toMatchObject({
      status: 'ok',
      executed: 'yes',
      ...(typeof value === 'function' ? {} : { result: value }),
    });
    expect(result.audit).not.toHaveProperty('handoff');
    expect(lineOf(result)).toMatchObject({ status: 'ok' });
  });

  it.each<[string, Next]>([
    ['refused', async (call) => refuse(call, 'policy_blocked', 'No.')],
    [
      'failed',
      async (call) => fail(call, 'executor_error', null, JSON.stringify({ handoff: payload })),
    ],
    ['only previewed', answering({ handoff: payload }, 'dry_run')],
  ])('a call that was %s, and looks for nothing in it', async (_name, executor) => {
    let asked = 0;
    const result = await run(executor, { detect: () => void (asked += 1) });

    expect(result.audit).not.toHaveProperty('handoff');
    expect(asked).toBe(0);
  });

  it('a handoff that is no object', async () => {
    const result = await run({ handoff: 'tomorrow' });

    expect(result).toMatchObject({ status: 'ok', result: { handoff: 'tomorrow' } });
    expect(lineOf(result)).not.toHaveProperty('fields');
  });
});

describe('handoffArtifact', () => {
  it('writes a checked record and leaves the result as it is', async () => {
    const result = await run({ handoff: payload, answer: 42 });

    expect(result).toMatchObject({
      status: 'ok',
      executed: 'yes',
      result: { handoff: payload, answer: 42 },
    });
    expect(result.audit).toMatchObject({
      kind: 'handoff',
      handoff: {
        _type: 'handoff_artifact',
        id: 'handoff_id-1',
        sourcePersona: 'merge_captain',
        targetPersonaOrHuman: { kind: 'persona', id: 'review_captain' },
        task: 'Review the change before landing',
        createdAt: '2026-01-01T00:00:00.000Z',
      },
    });
    expect(lineOf(result)).toMatchObject({
      status: 'emitted',
      handoffId: 'handoff_id-1',
      leftOut: [],
      policyTightened: false,
    });
  });

  it.each<[string, unknown]>([
    ['a structured result', { handoff: payload }],
    ['a JSON text', `\n ${JSON.stringify({ handoff: payload })} `],
    [
      'the only text block of a result',
      async (call: Parameters<Next>[0]) =>
        ok(call, null, { content: [{ type: 'text', text: JSON.stringify({ handoff: payload }) }] }),
    ],
  ])('finds the handoff in %s', async (_name, value) => {
    expect((await run(value)).audit?.handoff).toMatchObject({ sourcePersona: 'merge_captain' });
  });

  it('looks under __handoff before handoff', async () => {
    const result = await run({
      handoff: { ...payload, task: 'second' },
      __handoff: { ...payload, task: 'first' },
    });

    expect(result.audit?.handoff).toMatchObject({ task: 'first' });
  });

  it('looks further where a member is null', async () => {
    expect((await run({ __handoff: null, handoff: payload })).audit?.handoff).toMatchObject({
      task: payload.task,
    });
  });

  it('has a wire form in snake_case', async () => {
    const { audit } = await run({
      handoff: { ...payload, metadata: { keptAsIs: 1, kept_too: 2 } },
    });

    expect(toWire(audit ?? {}).handoff).toMatchObject({
      source_persona: 'merge_captain',
      target_persona_or_human: { kind: 'persona' },
      metadata: { keptAsIs: 1, kept_too: 2 },
    });
  });

  it('notes which fields keep a handoff from being valid, and none of their values', async () => {
    const result = await run({
      handoff: { ...payload, task: ' ', reason: 'hunter2'.repeat(2000) },
    });

    expect(result).toMatchObject({ ok: true, status: 'ok' });
    expect(lineOf(result)).toMatchObject({ status: 'invalid', fields: ['task', 'reason'] });
    expect(result.audit).not.toHaveProperty('handoff');
    expect(JSON.stringify(result.audit)).not.toContain('hunter2');
  });

  it('takes the run from the call, whatever the tool says', async () => {
    const forged = {
      handoff: { ...payload, parent_run_id: 'forged', id: 'forged', created_at: 'forged' },
    };
    const known = await run(forged, {}, { call: { turn: { runId: 'run-7' } } });

    expect(known.audit?.handoff).toMatchObject({
      parentRunId: 'run-7',
      id: 'handoff_id-1',
      createdAt: '2026-01-01T00:00:00.000Z',
    });
    expect((await run(forged)).audit?.handoff).toMatchObject({ parentRunId: 'forged' });
  });

  it('is advised to stand inside auditLog', () => {
    expect(handoffArtifact().order).toMatchObject([{ insideOf: 'auditLog', level: 'should' }]);
  });
});

describe('handoffArtifact, option detect,', () => {
  it('comes before the keys', async () => {
    const result = await run(
      { handoff: payload, next: 'ada' },
      {
        detect: (_call, { result: value }) => ({
          ...payload,
          task: `for ${(value as { next: string }).next}`,
        }),
      },
    );

    expect(result.audit?.handoff).toMatchObject({ task: 'for ada' });
  });

  it.each<[string, () => unknown]>([
    ['finds nothing', () => undefined],
    ['answers null', () => null],
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
    ['rejects', () => Promise.reject(new Error('broken'))],
    ['answers later', () => Promise.resolve({ ...payload, task: 'late' })],
  ])('that %s leaves it to the keys', async (_name, detect) => {
    const result = await run({ handoff: payload }, { detect });
    await settle();

    expect(result.audit?.handoff).toMatchObject({ task: payload.task });
  });

  it('may hand back what no JSON is, and it is invalid', async () => {
    const hostile = new Proxy(payload, {
      ownKeys: () => {
        throw new Error('hunter2');
      },
    });
    const cycle: Record<string, unknown> = { ...payload };
    cycle.metadata = cycle;

    for (const found of [hostile, cycle, { ...payload, task: () => 1 }]) {
      expect(lineOf(await run({}, { detect: () => found }))).toMatchObject({
        status: 'invalid',
        fields: ['handoff'],
      });
    }
  });
});

describe('handoffArtifact, option keys,', () => {
  it('adds names to look under, after its own', async () => {
    const keys = ['transfer', '__proto__'];

    expect((await run({ transfer: payload }, { keys })).audit).toHaveProperty('handoff');
    expect(
      (await run({ transfer: { ...payload, task: 'other' }, handoff: payload }, { keys })).audit
        ?.handoff,
    ).toMatchObject({
      task: payload.task,
    });
    expect((await run({ transfer: payload })).audit).not.toHaveProperty('handoff');
  });

  it('finds a member called __proto__ only where a result has one', async () => {
    const own = `{"__proto__":${JSON.stringify(payload)}}`;

    expect(lineOf(await run({}, { keys: ['__proto__', 'toString'] }))).toMatchObject({
      status: 'ok',
    });
    expect((await run(own, { keys: ['__proto__'] })).audit).toHaveProperty('handoff');
  });
});

describe('handoffArtifact, option source,', () => {
  const { source_persona: _, ...anonymous } = payload;

  it('fills in who hands over, only where nobody is named', async () => {
    const source = '  ship\ncaptain ';

    expect((await run({ handoff: anonymous }, { source })).audit?.handoff).toMatchObject({
      sourcePersona: 'ship captain',
    });
    expect(
      (await run({ handoff: { ...payload, source_persona: ' ' } }, { source })).audit?.handoff,
    ).toMatchObject({
      sourcePersona: 'ship captain',
    });
    expect((await run({ handoff: payload }, { source })).audit?.handoff).toMatchObject({
      sourcePersona: 'merge_captain',
    });
  });

  it('does not stand in for a name that cannot be used', async () => {
    const result = await run(
      { handoff: { ...payload, source_persona: 7 } },
      { source: 'ship_captain' },
    );

    expect(lineOf(result)).toMatchObject({ status: 'invalid', fields: ['sourcePersona'] });
  });

  it('is what a handoff without a name lacks', async () => {
    expect(lineOf(await run({ handoff: anonymous }))).toMatchObject({
      status: 'invalid',
      fields: ['sourcePersona'],
    });
  });
});

describe('handoffArtifact, option strict,', () => {
  it.each<[string, unknown, readonly string[]]>([
    ['an invalid handoff', { ...payload, task: '' }, ['task']],
    ['a handoff that is no object', 'tomorrow', ['handoff']],
  ])('raises for %s, and what has run stays known', async (_name, handoff, fields) => {
    let seen: ToolResult | null = null;
    const outer = defineLayer({
      name: 'outer',
      caller: async (call, next) => (seen = await next(call)),
    });
    const result = await raisedBy(
      run({ handoff, secret: 'hunter2' }, { strict: true }, { outside: [outer] }),
    );

    expect(result).toMatchObject({
      ok: false,
      status: 'output_schema_violation',
      executed: 'yes',
      result: null,
    });
    expect(result.error).toContain(fields.join(', '));
    expect(lineOf(result)).toMatchObject({ status: 'invalid', fields });
    expect(seen).toMatchObject({ status: 'output_schema_violation', executed: 'yes' });
    expect(JSON.stringify(result)).not.toContain('hunter2');
  });

  it('changes nothing for a valid handoff or none', async () => {
    expect(await run({ handoff: payload }, { strict: true })).toMatchObject({ status: 'ok' });
    expect(await run({ handoff: null }, { strict: true })).toMatchObject({ status: 'ok' });
  });
});

describe('handoffArtifact is not built', () => {
  it.each([
    [null],
    ['sink'],
    [{ sinks: () => {} }],
    [{ sink: 'file' }],
    [{ detect: {} }],
    [{ keys: 'handoff' }],
    [{ keys: [''] }],
    [{ source: '' }],
    [{ source: '  ' }],
    [{ source: 'x'.repeat(201) }],
    [{ source: 7 }],
    [{ strict: 'yes' }],
  ])('with %j', (options) => {
    expect(() => handoffArtifact(options as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error,
    );
  });
});
