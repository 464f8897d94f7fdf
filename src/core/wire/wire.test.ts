import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AlliumError } from '../contract/errors.ts';
import { MAX_JSON_DEPTH, snapshotObject } from '../json/json.ts';
import {
  fromWire,
  OPAQUE_MEMBERS,
  toolCallAuditEvent,
  toolCallEvent,
  toolCallProgressEvent,
  toolCallUpdateEvent,
  toWire,
} from './wire.ts';
import { howMany } from '../../../conformance/how-many.fixture.ts';

const call = { turn: { sessionId: 'session-1' }, callId: 'call-1', toolName: 'echo' };
const names = { session_id: 'session-1', tool_call_id: 'call-1', tool_name: 'echo' };

function refusalOf(convert: () => unknown): AlliumError {
  try {
    convert();
  } catch (error) {
    if (error instanceof AlliumError && error.code === 'ERR_NOT_JSON') return error;
    throw error;
  }
  throw new Error('it was accepted');
}

const frozenInDepth = (value: unknown): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (Object.isFrozen(value) && Object.values(value).every(frozenInDepth));

describe('toWire', () => {
  it.each([
    ['executionDurationMs', 'execution_duration_ms'],
    ['argsHash', 'args_hash'],
    ['receiptUri', 'receipt_uri'],
    ['receiptURI', 'receipt_u_r_i'],
    ['sha256Hash', 'sha256_hash'],
    ['status', 'status'],
    ['tool_name', 'tool_name'],
    ['gen_ai.tool.name', 'gen_ai.tool.name'],
    ['X-Header', 'X-Header'],
    ['ToolName', 'ToolName'],
    ['_type', '_type'],
    ['über', 'über'],
    ['', ''],
  ])('writes %s as %s', (name, wireName) => {
    expect(Object.keys(toWire({ [name]: 1 }))).toEqual([wireName]);
  });

  it('converts names at every depth and leaves every value alone', () => {
    const record = {
      consent: { decidedBy: 'decidedBy' },
      layers: [{ startedAt: 'a', nextLine: [{ emitOrder: 0 }] }],
      seen: null,
    };

    expect(toWire(record)).toEqual({
      consent: { decided_by: 'decidedBy' },
      layers: [{ started_at: 'a', next_line: [{ emit_order: 0 }] }],
      seen: null,
    });
  });

  it.each(OPAQUE_MEMBERS.filter((name) => !name.includes('.')))(
    'leaves what is inside %s alone, both ways',
    (name) => {
      const inside = { camelCase: [{ moreCase: 1 }], snake_case: { a_b: 2 } };
      const wire = toWire({ audit: { [name]: inside } });

      expect(Object.values(wire['audit'] as object)).toEqual([inside]);
      expect(fromWire(wire)).toEqual({ audit: { [name]: inside } });
    },
  );

  it('converts the direct names of metadata and nothing below them', () => {
    const record = {
      metadata: { redactedIn: ['userName'], perTool: { readFile: 1 } },
      list: [{ metadata: ['a', { bC: 1 }] }],
    };

    expect(toWire(record)).toEqual({
      metadata: { redacted_in: ['userName'], per_tool: { readFile: 1 } },
      list: [{ metadata: ['a', { bC: 1 }] }],
    });
  });

  it('leaves the metadata of a handoff alone, because it is its sender’s', () => {
    const handoff = { sourcePersona: 'a', metadata: { ticketId: 1 } };

    expect(toWire({ handoff })).toEqual({
      handoff: { source_persona: 'a', metadata: { ticketId: 1 } },
    });
    expect(toWire({ other: { metadata: { ticketId: 1 } } })).toEqual({
      other: { metadata: { ticket_id: 1 } },
    });
  });

  it('leaves undefined members out and keeps every other empty value', () => {
    const record = {
      a: undefined,
      zeroCount: 0,
      text: '',
      no: false,
      none: null,
      list: [],
      nested: { b: undefined },
    };

    expect(toWire(record)).toStrictEqual({
      zero_count: 0,
      text: '',
      no: false,
      none: null,
      list: [],
      nested: {},
    });
  });

  it('freezes what it gives in depth and does not touch the record', () => {
    const record = { layers: [{ startedAt: 'a' }], result: { rowCount: [1] } };

    expect(frozenInDepth(toWire(record))).toBe(true);
    expect([record, record.layers, record.result].some(Object.isFrozen)).toBe(false);
  });

  it('shares a frozen subtree instead of copying it', () => {
    const result = snapshotObject({ rowCount: 1 });

    expect(toWire({ result })['result']).toBe(result);
  });

  it('writes a date as JSON does', () => {
    expect(toWire({ decidedAt: new Date(0) })).toEqual({ decided_at: '1970-01-01T00:00:00.000Z' });
  });

  it('keeps a member called __proto__ as data', () => {
    const wire = toWire(JSON.parse('{"__proto__":{"isAdmin":true},"constructor":1}') as object);

    expect(JSON.stringify(wire)).toBe('{"__proto__":{"is_admin":true},"constructor":1}');
    expect(Object.getPrototypeOf(wire)).toBe(Object.prototype);
  });

  it('reads every member once', () => {
    let reads = 0;
    const record = {
      get readCount() {
        reads += 1;
        return { n: reads };
      },
    };

    expect(toWire(record)).toEqual({ read_count: { n: 1 } });
  });

  it('refuses two members that become one', () => {
    expect(refusalOf(() => toWire({ audit: { argsHash: 1, args_hash: 2 } })).message).toBe(
      'audit has two members that become "args_hash"',
    );
    expect(refusalOf(() => fromWire({ args_hash: 1, argsHash: 2 })).message).toBe(
      'the value has two members that become "argsHash"',
    );
    expect(toWire({ argsHash: 1, args_hash: undefined })).toEqual({ args_hash: 1 });
  });

  it('refuses what is not JSON and says where', () => {
    const cycle: Record<string, unknown> = {};
    cycle['again'] = [cycle, cycle];

    expect(refusalOf(() => toWire({ auditLog: [{ run: () => 1 }] })).message).toMatch(
      /^auditLog\[0\]\.run holds what is not JSON/,
    );
    expect(refusalOf(() => toWire({ result: { a: [10n] } })).message).toBe(
      'result holds what is not JSON: a[0] is a bigint',
    );
    expect(refusalOf(() => toWire({ list: [1, undefined] })).details.path).toBe('list[1]');
    expect(refusalOf(() => toWire([])).message).toBe('the value is not an object');
    expect(refusalOf(() => toWire(cycle)).message).toContain(`nests deeper than ${MAX_JSON_DEPTH}`);
  });

  it('converts more names than it remembers', () => {
    for (const index of Array(3000).keys())
      expect(toWire({ [`someName${index}`]: 1 })).toEqual({ [`some_name${index}`]: 1 });
  });
});

describe('fromWire', () => {
  const camelName = fc.stringMatching(/^[a-z][a-zA-Z0-9]{0,12}$/);
  const SNAKE = /^[a-z][a-z0-9]*(_[a-z][a-z0-9]*)+$/;
  const known = fc.constantFrom(
    'executionDurationMs',
    'argsHash',
    'receiptUri',
    'metadata',
    'result',
    'toolArgs',
    'handoff',
    '__proto__',
  );
  const anyName = fc
    .oneof(camelName, known, fc.string({ maxLength: 6 }))
    .filter((name) => !SNAKE.test(name));
  const { record } = fc.letrec<{ record: object; value: unknown }>((tie) => ({
    record: fc.dictionary(anyName, tie('value'), { maxKeys: 5, noNullPrototype: true }),
    value: fc.oneof(
      { maxDepth: 4 },
      fc.jsonValue({ maxDepth: 1 }),
      fc.array(tie('value'), { maxLength: 3 }),
      tie('record'),
    ),
  }));

  const hasSnakeName = (value: unknown): boolean =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(value).some(([name, item]) => SNAKE.test(name) || hasSnakeName(item));

  it('undoes toWire for every record without a snake_case name of its own', () => {
    fc.assert(
      fc.property(record, (given) => {
        fc.pre(!hasSnakeName(given));
        expect(fromWire(toWire(given))).toEqual(given);
      }),
      { numRuns: howMany(250, 1_000) },
    );
  });

  it('cannot undo a name that was snake_case in memory already', () => {
    expect(fromWire(toWire({ tool_name: 1 }))).toEqual({ toolName: 1 });
  });

  it('knows opaque members by both spellings', () => {
    expect(fromWire({ tool_args: { file_path: 'a' } })).toEqual({ toolArgs: { file_path: 'a' } });
    expect(toWire({ tool_args: { filePath: 'a' } })).toEqual({ tool_args: { filePath: 'a' } });
  });
});

describe('events', () => {
  it('say that a call has come in', () => {
    expect(toolCallEvent(call)).toStrictEqual({ type: 'tool_call', ...names, status: 'pending' });
  });

  it('say how a call goes on, without what is absent', () => {
    const ended = {
      executed: 'unknown',
      error: 'gone',
      errorCategory: 'timeout',
      executor: 'mcp_server',
      durationMs: 0,
    } as const;

    expect(
      toolCallUpdateEvent(call, {
        status: 'in_progress',
        error: null,
        executor: null,
        executed: undefined,
      }),
    ).toStrictEqual({
      type: 'tool_call_update',
      ...names,
      status: 'in_progress',
    });
    expect(toolCallUpdateEvent(call, { status: 'failed', ...ended })).toStrictEqual({
      type: 'tool_call_update',
      ...names,
      status: 'failed',
      executed: 'unknown',
      error: 'gone',
      error_category: 'timeout',
      executor: 'mcp_server',
      duration_ms: 0,
    });
  });

  it('say how far a tool is', () => {
    const event = toolCallProgressEvent(call, { progress: 1, total: 4, message: 'a quarter' });

    expect(event).toStrictEqual({
      type: 'tool_call_progress',
      ...names,
      progress: { progress: 1, total: 4, message: 'a quarter' },
    });
  });

  it('carry the audit record and the receipt in wire form', () => {
    const audit = {
      reasonMissing: true,
      layers: [{ name: 'consent', status: 'ok', startedAt: 'a', endedAt: 'b' }],
    };
    const wireAudit = {
      reason_missing: true,
      layers: [{ name: 'consent', status: 'ok', started_at: 'a', ended_at: 'b' }],
    };

    expect(toolCallAuditEvent(call, { audit, receipt: null })).toStrictEqual({
      type: 'tool_call_audit',
      ...names,
      audit: wireAudit,
    });
    expect(
      toolCallAuditEvent(call, { audit, receipt: { argsHash: 'sha256:00', prev_hash: 'x' } }),
    ).toStrictEqual({
      type: 'tool_call_audit',
      ...names,
      audit: wireAudit,
      receipt: { args_hash: 'sha256:00', prev_hash: 'x' },
    });
  });

  it('are frozen and take nothing they do not name', () => {
    const extra = { secret: 'hunter2' };
    const events = [
      toolCallEvent({ ...call, ...extra }),
      toolCallUpdateEvent({ ...call, ...extra }, { status: 'paused', ...extra }),
      toolCallProgressEvent({ ...call, ...extra }, {}),
      toolCallAuditEvent({ ...call, ...extra }, { audit: { layers: [] }, receipt: null, ...extra }),
    ];

    expect(
      events.every((event) => Object.values(event).concat([event]).every(Object.isFrozen)),
    ).toBe(true);
    expect(JSON.stringify(events)).not.toContain('hunter2');
  });
});
