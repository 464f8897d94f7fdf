import { describe, expect, it } from 'vitest';
import { runEveryEnding } from '../../../conformance/every-ending.fixture.ts';
import { auditLog } from '../../../middleware/index.ts';
import { brokenCopies, strictCheck, undescribed } from '../../core/wire/schema-check.fixture.ts';
import { makeReceipt } from '../../receipts/receipts.fixture.ts';
import { EVENT_SCHEMA } from './event-schema.ts';

const problems = strictCheck(EVENT_SCHEMA);

const CALL = { session_id: 's', tool_call_id: 'c', tool_name: 't' };
const PENDING = { type: 'tool_call', ...CALL, status: 'pending' };
const ENDING = {
  executed: 'no',
  error: 'No.',
  error_category: 'policy_blocked',
  executor: 'local',
  duration_ms: 0.5,
};
const UPDATE = { type: 'tool_call_update', ...CALL, status: 'failed', ...ENDING };
const PROGRESS = {
  type: 'tool_call_progress',
  ...CALL,
  progress: { progress: 1, total: 2, message: 'x' },
};
const AUDIT = { type: 'tool_call_audit', ...CALL, audit: { layers: [] }, receipt: makeReceipt() };
const TASK = { type: 'task', ...CALL, task_id: 't1', status: 'completed', content: 'done' };

describe('EVENT_SCHEMA', () => {
  it('describes every property', () => {
    expect(undescribed(EVENT_SCHEMA)).toEqual([]);
  });

  it('takes every event of every ending, with and without receipts', async () => {
    const events = [...(await runEveryEnding([])), ...(await runEveryEnding([auditLog('cloud')]))];
    const seen = new Set(events.map((event) => ('status' in event ? event.status : event.type)));
    const stages = [
      'pending',
      'in_progress',
      'completed',
      'failed',
      'cancelled',
      'paused',
      'tool_call_progress',
      'tool_call_audit',
    ];

    expect(events.flatMap((event) => problems(event))).toEqual([]);
    expect([...seen].sort()).toEqual(stages.sort());
    expect(
      events.some((event) => event.type === 'tool_call_audit' && event.receipt !== undefined),
    ).toBe(true);
    expect(
      events.some(
        (event) => event.type === 'tool_call_audit' && event.audit['handoff'] !== undefined,
      ),
    ).toBe(true);
  });

  it.each([
    ['tool_call', PENDING, []],
    ['tool_call_update', UPDATE, Object.keys(ENDING)],
    ['tool_call_progress', PROGRESS, []],
    ['tool_call_audit', AUDIT, ['receipt']],
    ['task', TASK, ['content']],
  ])('refuses a %s with one broken field', (_type, event, optional) => {
    expect(problems(event)).toEqual([]);
    expect(
      brokenCopies(event, optional)
        .filter(([, copy]) => problems(copy).length === 0)
        .map(([what]) => what),
    ).toEqual([]);
  });

  it('does without what an update has only at the end', () => {
    expect(problems({ type: 'tool_call_update', ...CALL, status: 'in_progress' })).toEqual([]);
  });

  it.each<readonly [string, object]>([
    ['a type nobody knows', { ...PENDING, type: 'tool_call_result' }],
    ['a call that comes in and has ended', { ...PENDING, status: 'completed' }],
    ['the status of a result for a stage', { ...UPDATE, status: 'ok' }],
    ['a task that is paused', { ...TASK, status: 'paused' }],
    ['a result in an update', { ...UPDATE, result: {} }],
    ['an executor of null', { ...UPDATE, executor: null }],
    ['a negative duration', { ...UPDATE, duration_ms: -1 }],
    ['progress in words', { ...PROGRESS, progress: { progress: 'half' } }],
    ['a receipt with a broken hash', { ...AUDIT, receipt: makeReceipt({ args_hash: 'x' }) }],
    ['a receipt in camelCase', { ...AUDIT, receipt: { toolName: 't' } }],
  ])('refuses %s', (_name, event) => {
    expect(problems(event)).not.toEqual([]);
  });
});
