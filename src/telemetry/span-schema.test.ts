import { describe, expect, it } from 'vitest';
import { runEveryEnding } from '../../conformance/every-ending.fixture.ts';
import { recordingSink } from '../../conformance/index.ts';
import { brokenCopies, strictCheck, undescribed } from '../core/wire/schema-check.fixture.ts';
import { STATUSES } from '../index.ts';
import { auditLog } from '../../middleware/audit-log/audit-log.ts';
import { rateLimit } from '../../middleware/rate-limit/rate-limit.ts';
import { recordOf, refusing } from '../../middleware/telemetry/run.fixture.ts';
import type { SpanRecord } from './span-record.ts';
import { SPAN_SCHEMA } from './span-schema.ts';
import { telemetry } from '../../middleware/telemetry/telemetry.ts';

const problems = strictCheck(SPAN_SCHEMA);
const refusals = (copies: ReturnType<typeof brokenCopies>) =>
  copies.filter(([, copy]) => problems(copy).length === 0).map(([what]) => what);

/** One that has everything: children with numbers, an event with attributes, content. */
const complete = async () => {
  const inner = [rateLimit({ maxCalls: 3 }), refusing('policy_blocked')];
  return { ...(await recordOf({ inner, options: { captureContent: true } })), result: 1 };
};

describe('SPAN_SCHEMA', () => {
  it('describes every property', () => {
    expect(undescribed(SPAN_SCHEMA)).toEqual([]);
  });

  it.each([false, true])(
    'takes the record of every ending, with captured content: %s',
    async (captureContent) => {
      const sink = recordingSink<SpanRecord>();
      const layer = telemetry({
        sink,
        captureContent,
        attributes: { team: 'x', tier: 1, trial: true },
      });
      await runEveryEnding([auditLog('cloud'), layer], captureContent ? 'redaction' : '');
      const statuses = new Set(sink.records.map(({ status }) => status));

      expect(sink.records.flatMap((record) => problems(record))).toEqual([]);
      expect(Object.keys(STATUSES).filter((status) => !statuses.has(status))).toEqual([]);
    },
  );

  it('takes what is fixed by options', async () => {
    const options = {
      traceId: 'a'.repeat(32),
      parentSpanId: 'b'.repeat(16),
      project: 'p',
      release: '1',
    };

    expect(problems(await recordOf({ options }))).toEqual([]);
    expect(
      problems(
        await recordOf({ call: { turn: { sessionId: '', resumes: 1 }, declaredExecutor: null } }),
      ),
    ).toEqual([]);
    expect(
      problems(
        await recordOf({ call: { declaredExecutor: 'mcp_server', toolName: 'x'.repeat(10_000) } }),
      ),
    ).toEqual([]);
  });

  it('refuses a record with one broken field', async () => {
    const record = await complete();
    const { error: _error, arguments: _arguments, result: _result, ...plain } = record;

    expect(problems(record)).toEqual([]);
    expect(refusals(brokenCopies(plain))).toEqual([]);
    expect(problems({ ...record, error: 1 })).not.toEqual([]);
  });

  it('refuses a child, an event or an attribute with one broken field', async () => {
    const record = await complete();
    const [, , violation] = record.events;
    const child = record.child_spans.find(({ attributes }) => attributes !== undefined);
    const copies = [
      ...brokenCopies({ ...child }, ['attributes']).map(
        ([what, copy]) => [what, { ...record, child_spans: [copy] }] as const,
      ),
      ...brokenCopies({ ...violation }, ['attributes']).map(
        ([what, copy]) => [what, { ...record, events: [copy, copy] }] as const,
      ),
      ...Object.keys(record.attributes).map(
        (name) => [name, { ...record, attributes: { ...record.attributes, [name]: [] } }] as const,
      ),
    ];

    expect(violation?.attributes).toBeDefined();
    expect(child?.attributes).toBeDefined();
    expect(refusals(copies)).toEqual([]);
  });

  it.each<readonly [string, Partial<Record<keyof SpanRecord, unknown>>]>([
    ['a name without its prefix', { name: 'echo' }],
    ['a negative duration', { duration_ms: -1 }],
    ['a time in words', { start_time_iso: 'yesterday' }],
    [
      'an event nobody knows',
      {
        events: [
          { name: 'boom', time_ms: 1 },
          { name: 'dispatched', time_ms: 1 },
        ],
      },
    ],
    ['no events', { events: [] }],
    ['attributes without a status', { attributes: {} }],
  ])('refuses %s', async (_name, change) => {
    expect(problems({ ...(await complete()), ...change })).not.toEqual([]);
  });
});
