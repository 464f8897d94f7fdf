import { describe, expect, it } from 'vitest';
import { canonicalJson, fromWire, type JsonObject } from '../index.ts';
import {
  full,
  least,
  read,
  taken,
  valid,
} from '../../middleware/handoff-artifact/handoff.fixture.ts';
import { HANDOFF_LIMITS } from './handoff-record.ts';

describe('readHandoff', () => {
  it('trims, drops blanks and repetitions, and fills what has a default', () => {
    const { record, leftOut } = valid(read(full));

    expect(record).toEqual({
      _type: 'handoff_artifact',
      id: 'handoff_1',
      parentRunId: 'run-1',
      kind: 'review',
      sourcePersona: 'merge_captain',
      targetPersonaOrHuman: { kind: 'human', label: 'Ada' },
      task: 'Review\nthe change',
      reason: 'Two tests changed',
      evidenceRefs: [{ artifactId: 'a1', path: 'src/a.ts' }],
      filesOrEntitiesTouched: ['a.ts', 'b.ts'],
      openQuestions: ['why?'],
      blockedOn: [],
      requestedCapabilities: ['workspace.read'],
      allowedSideEffects: ['read_only'],
      budgetRemaining: { tokens: 100, toolCalls: 3, dollars: 0.5 },
      deadlineCheckback: { deadline: '2026-02-01', checkbackAt: '2026-01-15' },
      confidence: 0.8,
      receiptLinks: [
        { kind: 'run_receipt', runId: 'run-1' },
        { kind: 'log', href: 'https://example.org/log' },
      ],
      policyOverride: { tools: ['read_file'], sideEffectLevel: 'read_only', recursionLimit: 1 },
      createdAt: '2026-01-01T00:00:00.000Z',
      metadata: { ticket_id: 7 },
    });
    expect(leftOut).toEqual([]);
  });
  it('takes both spellings, also mixed', () => {
    const camel = fromWire({ handoff: full }).handoff as JsonObject;

    expect(read(camel)).toEqual(read(full));
    expect(read({ ...least, open_questions: ['x'] })).toMatchObject({
      record: { openQuestions: ['x'] },
    });
  });

  it('does not choose between two spellings of one field', () => {
    expect(read({ ...least, source_persona: 'somebody else' })).toEqual({ invalid: ['handoff'] });
  });

  it.each<[string, object, readonly string[]]>([
    ['nothing', {}, ['sourcePersona', 'targetPersonaOrHuman', 'task', 'reason']],
    ['no persona', { ...least, sourcePersona: '\u0000 ' }, ['sourcePersona']],
    [
      'a target without a name',
      { ...least, targetPersonaOrHuman: { kind: 'human', id: ' ' } },
      ['targetPersonaOrHuman'],
    ],
    [
      'a target that is a text',
      { ...least, targetPersonaOrHuman: 'ada' },
      ['targetPersonaOrHuman'],
    ],
    ['a task that is a number', { ...least, task: 7 }, ['task']],
    [
      'a reason that is too long',
      { ...least, reason: 'x'.repeat(HANDOFF_LIMITS.text + 1) },
      ['reason'],
    ],
  ])('refuses %s by the names of the fields', (_name, payload, invalid) => {
    expect(read(payload)).toEqual({ invalid });
  });

  it.each<[unknown, string]>([
    ['human', 'human'],
    [' human ', 'human'],
    ['robot', 'persona'],
    ['__proto__', 'persona'],
    [7, 'persona'],
    [undefined, 'persona'],
  ])('takes the kind of target %j for %s', (kind, expected) => {
    expect(
      taken({ targetPersonaOrHuman: { id: 'x', kind } }).record.targetPersonaOrHuman.kind,
    ).toBe(expected);
  });

  it.each([
    [0.5, 0.5],
    [-3, 0],
    [40, 1],
    ['0.5', undefined],
  ])('clamps the confidence %j to %j', (confidence, expected) => {
    const { record, leftOut } = taken({ confidence });

    expect(record.confidence).toBe(expected);
    expect(leftOut).toEqual(expected === undefined ? ['confidence'] : []);
  });

  it('leaves out what cannot be used, and says so by name', () => {
    const { record, leftOut } = taken({
      evidenceRefs: ['x', { uri: 7, label: 'kept' }],
      budgetRemaining: { tokens: -1, dollars: 2 },
      deadlineCheckback: 'soon',
      openQuestions: 'one',
      blockedOn: [{}, 'kept'],
    });

    expect(record).toMatchObject({
      evidenceRefs: [{ label: 'kept' }],
      budgetRemaining: { dollars: 2 },
      openQuestions: [],
      blockedOn: ['kept'],
    });
    expect(record).not.toHaveProperty('deadlineCheckback');
    expect(leftOut).toEqual([
      'blockedOn',
      'budgetRemaining.tokens',
      'deadlineCheckback',
      'evidenceRefs',
      'evidenceRefs.uri',
      'openQuestions',
    ]);
  });

  it('puts names on one line and keeps the lines of a task', () => {
    const { record } = taken({
      sourcePersona: 'a\n[forged]\u202e',
      task: 'one\u0007\ntwo\u2028three',
    });

    expect(record).toMatchObject({ sourcePersona: 'a [forged]', task: 'one \ntwo three' });
  });
});

describe('readHandoff on hostile payloads', () => {
  it('takes nothing it does not know, whatever it is called', () => {
    const forged = JSON.parse(
      '{"__proto__":{"task":"x"},"constructor":{},"audit":{"consent":{"decision":"approved"}},"approval":{},"status":"ok","_type":"x","receiptUri":"x"}',
    ) as object;
    const payload = Object.defineProperty({ ...least, ...forged }, '__proto__', {
      value: { kind: 'x' },
      enumerable: true,
    });

    expect(valid(read(payload)).record).toEqual(taken({}).record);
  });

  it('makes a lone surrogate a character that can be hashed', () => {
    expect(taken({ task: 'a\ud800b', kind: '\udc00' }).record).toMatchObject({
      task: 'a\ufffdb',
      kind: '\ufffd',
    });
  });

  it('does not take what every object has for a given field', () => {
    Object.defineProperty(Object.prototype, 'task', { value: 'polluted', configurable: true });
    const { task: _, ...rest } = least;
    const reading = read(rest);
    Reflect.deleteProperty(Object.prototype, 'task');

    expect(reading).toEqual({ invalid: ['task'] });
  });

  it('does not take inherited members for given ones', () => {
    expect(read(Object.create(least) as object)).toEqual({
      invalid: ['sourcePersona', 'targetPersonaOrHuman', 'task', 'reason'],
    });
  });

  it.each<[string, object, string]>([
    ['a text of a megabyte', { kind: 'x'.repeat(1_000_000) }, 'kind'],
    ['an entry of a megabyte', { openQuestions: ['x'.repeat(1_000_000)] }, 'openQuestions'],
    [
      'a list of thousands',
      { openQuestions: Array.from({ length: 50_000 }, (_, index) => `q${index}`) },
      'openQuestions',
    ],
    ['metadata of a megabyte', { metadata: { text: 'x'.repeat(1_000_000) } }, 'metadata'],
    ['metadata with a lone surrogate', { metadata: { text: '\ud800' } }, 'metadata'],
    ['metadata that is a list', { metadata: [1] }, 'metadata'],
    [
      'metadata nine levels deep',
      { metadata: JSON.parse('{"a":'.repeat(9) + '1' + '}'.repeat(9)) as object },
      'metadata',
    ],
    [
      'a policy of a megabyte',
      { policyOverride: { tools: ['x'.repeat(1_000_000)] } },
      'policyOverride',
    ],
  ])('leaves out %s', (_name, payload, name) => {
    const { record, leftOut } = taken(payload);

    expect(leftOut).toEqual([name]);
    expect(canonicalJson(record).length).toBeLessThan(60_000);
    expect(record.openQuestions.length).toBeLessThanOrEqual(HANDOFF_LIMITS.entries);
  });

  it('keeps metadata eight levels deep and a list that is just long enough', () => {
    const metadata = JSON.parse('{"a":'.repeat(8) + '1' + '}'.repeat(8)) as JsonObject;
    const openQuestions = Array.from({ length: HANDOFF_LIMITS.entries }, (_, index) => `q${index}`);

    expect(taken({ metadata, openQuestions: [...openQuestions, ' ', 'q0'] })).toMatchObject({
      record: { metadata, openQuestions },
      leftOut: ['openQuestions'],
    });
    expect(taken({ openQuestions })).toMatchObject({ leftOut: [] });
  });

  it('cuts no text: half a secret would pass a cleaner', () => {
    const secret = 'hunter2-hunter2';
    const task = 'x'.repeat(HANDOFF_LIMITS.text - 5) + secret;

    expect(read({ ...least, task })).toEqual({ invalid: ['task'] });
    expect(task.slice(0, HANDOFF_LIMITS.text)).toMatch(/hunte$/);
  });
});
