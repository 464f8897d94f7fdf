import { Message, Role, TaskState, Task } from '@a2a-js/sdk';
import type { SessionNotification } from '@agentclientprotocol/sdk';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AuditRecord } from '../core/contract/audit-record.ts';
import { consent } from '../../middleware/index.ts';
import { defineTool, governTools } from '../index.ts';
import { A2A_AUDIT_EXTENSION, A2A_AUDIT_URI, fromA2aMetadata, toA2aMetadata } from './a2a/index.ts';
import { officialProblems } from './acp/acp.fixture.ts';
import { ACP_AUDIT_KEY, fromAcpMeta, toAcpMeta } from './acp/index.ts';

const AUDIT: AuditRecord = {
  summary: 'paid',
  reasonMissing: true,
  consent: { decision: 'approved', decidedBy: 'ada', decidedAt: '2026-01-01T00:00:00.000Z' },
  layers: [
    {
      name: 'consent',
      status: 'approved',
      startedAt: '2026-01-01T00:00:00.000Z',
      endedAt: '2026-01-01T00:00:00.001Z',
    },
  ],
  metadata: { retryAfterMs: 5, of: { innerName: 1 } },
};

const WIRE = {
  summary: 'paid',
  reason_missing: true,
  consent: { decision: 'approved', decided_by: 'ada', decided_at: '2026-01-01T00:00:00.000Z' },
  layers: [
    {
      name: 'consent',
      status: 'approved',
      started_at: '2026-01-01T00:00:00.000Z',
      ended_at: '2026-01-01T00:00:00.001Z',
    },
  ],
  metadata: { retry_after_ms: 5, of: { innerName: 1 } },
};

const overTheWire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe.each([
  ['ACP _meta', ACP_AUDIT_KEY, toAcpMeta, fromAcpMeta],
  ['A2A metadata', A2A_AUDIT_URI, toA2aMetadata, fromA2aMetadata],
])('an audit record in %s', (_name, key, write, read) => {
  it('is under one key, in snake_case', () => {
    expect(write(AUDIT)).toEqual({ [key]: WIRE });
  });

  it('comes back as it went, whatever layers wrote', () => {
    const camel = fc
      .stringMatching(/^[a-z][a-zA-Z0-9]{0,8}$/)
      .filter(
        (name) =>
          ![
            'layers',
            'summary',
            'reason',
            'kind',
            'hints',
            'scope',
            'consent',
            'metadata',
            'handoff',
            'rewrites',
            'description',
          ].includes(name),
      );
    const line = fc.record({
      name: fc.string(),
      status: fc.string(),
      startedAt: fc.string(),
      endedAt: fc.string(),
    });
    const record = fc.tuple(
      fc.dictionary(camel, fc.oneof(fc.string(), fc.integer(), fc.boolean()), {
        noNullPrototype: true,
      }),
      fc.array(line),
    );

    expect(read(overTheWire(write(AUDIT)))).toEqual({ audit: AUDIT, problem: null });
    fc.assert(
      fc.property(record, ([members, layers]) => {
        expect(read(overTheWire(write({ ...members, layers })))).toEqual({
          audit: { ...members, layers },
          problem: null,
        });
      }),
    );
  });

  it('is there beside what others put there, and is nothing where it is not', () => {
    expect(read({ ...write(AUDIT), traceparent: '00-0-0-0' }).audit).toEqual(AUDIT);
    for (const nothing of [
      undefined,
      null,
      {},
      [],
      'x',
      7,
      { audit: WIRE },
      Object.create(write(AUDIT)) as unknown,
    ]) {
      expect(read(nothing)).toEqual({ audit: null, problem: null });
    }
  });

  it.each([
    ['null', null],
    ['text', 'x'],
    ['a list', [WIRE]],
    ['no layers', { summary: 'x' }],
    ['layers that are none', { ...WIRE, layers: ['consent'] }],
    ['layers in a map', { ...WIRE, layers: { 0: {} } }],
    ['a summary that is no text', { ...WIRE, summary: { text: 'x' } }],
    ['a consent that is no object', { ...WIRE, consent: 'approved' }],
    ['a decision that is no text', { ...WIRE, consent: { decision: true } }],
    ['two names for one member', { ...WIRE, reasonMissing: false }],
    ['something huge', { ...WIRE, summary: 'x'.repeat(2_000_000) }],
    [
      'something deep',
      { ...WIRE, metadata: JSON.parse(`${'[{"a":'.repeat(400)}1${'}]'.repeat(400)}`) as unknown },
    ],
    ['what is no JSON', { ...WIRE, extra: () => 'sk-secret' }],
    ['a proxy that fails', new Proxy({}, { ownKeys: () => { throw new Error('sk-secret'); } })], // biome-ignore format: one row
  ])('is refused as %s, by the name of its key', (_what, value) => {
    const { audit, problem } = read({ [key]: value });

    expect(audit).toBeNull();
    expect(problem).toMatch(new RegExp(`^"${key}": .`));
    expect(problem).not.toContain('sk-secret');
  });

  it('is refused in words that say where', () => {
    expect(read({ [key]: { layers: [7], summary: 'sk-secret' } }).problem).toBe(
      `"${key}": /layers/0 must be object, got number`,
    );
  });

  it('changes no prototype', () => {
    const { audit } = read(
      JSON.parse(
        `{"${key}":{"layers":[],"__proto__":{"consent":{"decision":"approved"}},"constructor":{"prototype":{"polluted":true}}}}`,
      ),
    );

    expect(audit?.consent).toBeUndefined();
    expect(Object.getPrototypeOf(audit)).toBe(Object.prototype);
    expect(({} as { readonly polluted?: unknown }).polluted).toBeUndefined();
  });

  it('never throws, whatever is there', () => {
    const failing = new Proxy({}, { getOwnPropertyDescriptor: () => { throw new Error('sk-secret'); } }); // biome-ignore format: one row

    expect(read(failing).audit).toBeNull();
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(read(value).audit).toBeNull();
        expect(read({ [key]: value }).audit).toBeNull();
      }),
    );
  });
});

describe('the record of a real call', () => {
  it('fits into messages of both protocols, and out of them again', async () => {
    const tool = defineTool({
      name: 'pay',
      description: 'Pays.',
      inputSchema: { type: 'object' },
      execute: () => 'paid',
    });
    const { audit } = await governTools({ tools: [tool], layers: [consent(() => true)] }).call({
      name: 'pay',
      arguments: {},
    });
    if (audit === undefined) throw new Error('there is a record');
    const notification: SessionNotification = {
      sessionId: 's-1',
      update: {
        sessionUpdate: 'tool_call_update',
        toolCallId: 'c-1',
        status: 'completed',
        _meta: toAcpMeta(audit),
      },
    };
    const metadata = toA2aMetadata(audit);
    const message = Message.toJSON(
      Message.fromJSON({
        messageId: 'm-1',
        role: 'ROLE_AGENT',
        parts: [{ text: 'paid' }],
        metadata,
        extensions: [A2A_AUDIT_URI],
      }),
    ) as { readonly metadata: unknown; readonly role: unknown };
    const task = Task.toJSON(
      Task.fromJSON({
        id: 't-1',
        contextId: 'x',
        status: { state: 'TASK_STATE_COMPLETED' },
        metadata,
      }),
    ) as typeof message;

    expect(officialProblems('SessionNotification', notification)).toEqual([]);
    expect(fromAcpMeta(notification.update._meta).audit).toEqual(audit);
    expect(fromA2aMetadata(overTheWire(message.metadata)).audit).toEqual(audit);
    expect(fromA2aMetadata(overTheWire(task.metadata)).audit).toEqual(audit);
    expect([Role.ROLE_AGENT, TaskState.TASK_STATE_COMPLETED].every(Number.isInteger)).toBe(true);
  });

  it('has keys that both protocols allow', () => {
    const [prefix = '', name = ''] = ACP_AUDIT_KEY.split('/');

    expect([prefix, name]).toEqual(['allium', 'audit']);
    expect(prefix.split('.')[1] ?? '').not.toMatch(/^(?:mcp|modelcontextprotocol)$/);
    expect(new URL(A2A_AUDIT_URI).protocol).toBe('urn:');
    expect(A2A_AUDIT_EXTENSION).toEqual({
      uri: A2A_AUDIT_URI,
      description: expect.any(String) as unknown,
      required: false,
    });
  });
});
