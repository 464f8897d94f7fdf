import { describe, expect, it } from 'vitest';
import { recordingSink } from '../../../conformance/index.ts';
import { auditLog, consent } from '../../../middleware/index.ts';
import { annotate, defineLayer, defineTool, governTools, type ToolLayer } from '../../index.ts';
import { answerApproval, type ApprovalStore, memoryApprovals } from '../../policy/index.ts';
import type { Receipt } from '../../receipts/index.ts';

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  inputSchema: { type: 'object' },
  execute: () => 'paid',
});

/** Calls that need an approval, and what their receipts say. */
function asking(approvals: ApprovalStore, ...outside: readonly ToolLayer[]) {
  const sink = recordingSink<Receipt>();
  const layers = [...outside, auditLog(sink), consent({ default: 'ask' })];
  const governed = governTools({ tools: [pay], layers, approvals });
  const call = () => governed.call({ name: 'pay', arguments: {} }, { turn: { sessionId: 's' } });
  return { governed, call, recorded: () => sink.records.map(({ status }) => status) };
}

describe('a call whose question cannot be kept', () => {
  it('has a receipt that says what its result says: too many wait', async () => {
    const { call, recorded } = asking(memoryApprovals({ maxApprovals: 2 }));
    const statuses = [(await call()).status, (await call()).status];

    expect(statuses).toEqual(['approval_required', 'rate_limited']);
    expect(recorded()).toEqual(statuses);
  });

  it('has a receipt that says what its result says: the store fails', async () => {
    const { call, recorded } = asking({
      ...memoryApprovals(),
      add: () => Promise.reject(new Error('no disk')),
    });
    const { status, executed, interruption } = await call();

    expect({ status, executed, interruption }).toEqual({
      status: 'exception',
      executed: 'no',
      interruption: undefined,
    });
    expect(recorded()).toEqual([status]);
  });
});

describe('a question that is kept', () => {
  const uri = 'file:///receipts/s.jsonl#seq=1';
  const naming = defineLayer({
    name: 'naming',
    observes: true,
    caller: async (call, next) => annotate(await next(call), { receiptUri: uri }),
  });

  it('names the receipt of the call, which is written after it', async () => {
    const store = memoryApprovals();
    const { governed, call } = asking(store, naming);
    const { interruption } = await call();
    const id = interruption?.id ?? '';

    expect(await store.get(id)).toMatchObject({ receiptUri: uri });
    expect(await governed.resume(id, { decision: 'allow_once', decidedBy: 'ada' })).toMatchObject({
      status: 'ok',
    });
  });

  it('can be answered before that', async () => {
    const store = memoryApprovals();
    const answering: ApprovalStore = {
      ...store,
      async add(approval) {
        await store.add(approval);
        await answerApproval(store, approval.id, { decision: 'allow_once', decidedBy: 'ada' });
      },
    };
    const { governed, call } = asking(answering, naming);
    const { interruption } = await call();
    const id = interruption?.id ?? '';

    expect(await store.get(id)).toMatchObject({
      receiptUri: uri,
      reply: { decision: 'allow_once' },
    });
    expect(await governed.resume(id)).toMatchObject({ status: 'ok' });
  });
});
