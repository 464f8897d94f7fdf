import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../core/json/json-value.ts';
import { recordingSink, settle } from '../../../conformance/index.ts';
import { auditLog, consent } from '../../../middleware/index.ts';
import { answerApproval } from '../../approvals/store/answer-approval.ts';
import { memoryApprovals } from '../../approvals/store/approval-stores.ts';
import type { Receipt } from '../../receipts/receipt.ts';
import { ERAS, metaIn, scripted, type Script, statusIn } from './scripted.fixture.ts';

const approvals = () => memoryApprovals();
const idIn = (result: JsonObject): string => metaIn(result)['allium/approval'] as string;
const session = { sessionId: 'one' };
const asking = (): Pick<Script, 'stack' | 'session'> => ({
  stack: [consent({ default: 'ask' })],
  session,
});

describe.each(ERAS)('kept approvals (%s)', (era) => {
  it('let the same call run once when it is made again after a yes', async () => {
    const store = approvals();
    const sink = recordingSink<Receipt>();
    const { client, server, clock } = await scripted({
      ...asking(),
      era,
      stack: [auditLog(sink), consent({ default: 'ask' })],
      approvals: store,
    });
    const first = await client.call('note', { to: 'a' });
    const waits = await client.call('note', { to: 'a' });
    await answerApproval(
      store,
      idIn(first),
      { decision: 'allow_once', decidedBy: 'somebody' },
      { clock },
    );

    const done = await client.call('note', { to: 'a' });
    const again = await client.call('note', { to: 'a' });

    expect([first, waits, again].map(statusIn)).toEqual([
      'approval_required',
      'approval_required',
      'approval_required',
    ]);
    expect(idIn(waits)).toBe(idIn(first));
    expect(idIn(again)).not.toBe(idIn(first));
    expect(done).toMatchObject({ content: [{ text: 'done' }] });
    expect(server.calls.map((call) => call.arguments)).toEqual([{ to: 'a' }]);
    expect(sink.records.map(({ status }) => status)).toEqual([
      'approval_required',
      'ok',
      'approval_required',
    ]);
  });

  it('are kept where the tool is gone when the call is made again, until it is there', async () => {
    const store = approvals();
    const { client, server, clock } = await scripted({ ...asking(), era, approvals: store });
    const first = await client.call('note', { to: 'a' });
    await answerApproval(
      store,
      idIn(first),
      { decision: 'allow_once', decidedBy: 'somebody' },
      { clock },
    );
    const { tools } = server;
    server.tools = [];
    await client.list();
    const gone = await client.call('note', { to: 'a' });
    server.tools = tools;
    await client.list();

    const done = await client.call('note', { to: 'a' });

    expect(statusIn(gone)).toBe('tool_not_found');
    expect(done).toMatchObject({ content: [{ text: 'done' }] });
    expect(server.calls).toHaveLength(1);
  });

  it('let no other call run', async () => {
    const store = approvals();
    const { client, server, clock } = await scripted({ ...asking(), era, approvals: store });
    const first = await client.call('note', { to: 'a' });
    await answerApproval(
      store,
      idIn(first),
      { decision: 'allow_once', decidedBy: 'somebody' },
      { clock },
    );

    for (const args of [{ to: 'b' }, {}, { to: 'a', cc: 'b' }])
      expect(statusIn(await client.call('note', args))).toBe('approval_required');
    expect(server.calls).toHaveLength(0);
  });

  it('end a call that was denied as denied', async () => {
    const store = approvals();
    const { client, server, clock } = await scripted({ ...asking(), era, approvals: store });
    const first = await client.call('note');
    await answerApproval(
      store,
      idIn(first),
      { decision: 'reject_once', decidedBy: 'somebody', reason: 'not today' },
      { clock },
    );

    const denied = await client.call('note');

    expect(statusIn(denied)).toBe('consent_denied');
    expect(JSON.stringify(denied.content)).toContain('not today');
    expect(server.calls).toHaveLength(0);
  });
});

describe('kept approvals', () => {
  it('are found by another connection of the same session, and by none of another', async () => {
    const store = approvals();
    const before = await scripted({ ...asking(), approvals: store });
    const first = await before.client.call('note');
    await answerApproval(
      store,
      idIn(first),
      { decision: 'allow_once', decidedBy: 'somebody' },
      { clock: before.clock },
    );

    const other = await scripted({ ...asking(), approvals: store, session: { sessionId: 'two' } });
    expect(statusIn(await other.client.call('note'))).toBe('approval_required');
    const same = await scripted({ ...asking(), approvals: store });
    expect(statusIn(await same.client.call('note'))).toBeUndefined();

    expect([before, other, same].map(({ server }) => server.calls.length)).toEqual([0, 0, 1]);
  });

  it('run once where two clients make the call again at the same moment', async () => {
    const store = approvals();
    const { client, server, clock } = await scripted({ ...asking(), approvals: store });
    const first = await client.call('note');
    await answerApproval(
      store,
      idIn(first),
      { decision: 'allow_once', decidedBy: 'somebody' },
      { clock },
    );

    await Promise.all([client.call('note'), client.call('note')]);

    expect(server.calls).toHaveLength(1);
  });

  it('are asked about again where another process was faster', async () => {
    const store = approvals();
    let hold = Promise.resolve();
    let release = (): void => {};
    const get = async (id: string) => {
      const found = await store.get(id);
      await hold;
      return found;
    };
    const slow = await scripted({ ...asking(), approvals: { ...store, get } });
    const first = await slow.client.call('note');
    await answerApproval(
      store,
      idIn(first),
      { decision: 'allow_once', decidedBy: 'somebody' },
      { clock: slow.clock },
    );
    const fast = await scripted({ ...asking(), approvals: store });

    hold = new Promise((resolve) => void (release = resolve));
    const late = slow.client.call('note');
    await settle();
    expect(statusIn(await fast.client.call('note'))).toBeUndefined();
    release();

    expect(statusIn(await late)).toBe('approval_required');
    expect([slow.server.calls.length, fast.server.calls.length]).toEqual([0, 1]);
  });

  it('ask again where the store fails', async () => {
    const store = approvals();
    const broken = {
      ...store,
      get: () => Promise.reject(new Error('gone')),
      list: () => Promise.reject(new Error('gone')),
    };
    const { client, server } = await scripted({ ...asking(), approvals: broken });

    const results = [await client.call('note'), await client.call('note')];

    expect(results.map(statusIn)).toEqual(['approval_required', 'approval_required']);
    expect(idIn(results[1] ?? {})).not.toBe(idIn(results[0] ?? {}));
    expect(server.calls).toHaveLength(0);
  });

  it('are not the copies of questions that another proxy left in the queue', async () => {
    const store = approvals();
    const died = await scripted({
      ...asking(),
      approvals: store,
      prompts: [() => new Promise(() => {})],
    });
    void died.client.call('note');
    await died.clock.advance(10);
    const [copy] = await store.list();
    const next = await scripted({ ...asking(), approvals: store });

    const asked = await next.client.call('note');

    expect(copy?.gate).toBe('queue');
    expect(statusIn(asked)).toBe('approval_required');
    expect(idIn(asked)).not.toBe(copy?.id);
  });
});
