import { describe, expect, it } from 'vitest';
import { type Pass, createPass } from './pass.ts';
import { annotate } from './results.ts';
import type { AuditPatch } from '../contract/audit-record.ts';
import { echoExecutor, makeCall } from '../../../conformance/test-kit.ts';
import { closeAudit, joinScrubs, mergeAudit, mergeRecords, openAudit, pushEntry } from './audit.ts';
import { composeToolCallers } from './compose.ts';

const line = (name: string) => ({ name, status: 'ok', startedAt: 'a', endedAt: 'b' });

function openState(scrubs: Pass['scrubs'] = []): Pass {
  const state = createPass();
  state.scrubs = scrubs;
  state.audit = openAudit({});
  return state;
}

describe('openAudit', () => {
  it('says what the tool says about itself, with the defaults of MCP', () => {
    expect(openAudit({ kind: 'delete', idempotent: true })).toEqual({
      kind: 'delete',
      hints: { readOnly: false, destructive: true, idempotent: true, openWorld: true },
      layers: [],
    });
    expect(openAudit({})).not.toHaveProperty('kind');
  });
});

describe('mergeAudit', () => {
  it('lets the outer depth keep the last word, key by key', () => {
    const state = openState();
    mergeAudit(state, { summary: 'inner', reason: 'r' }, 2);
    mergeAudit(state, { summary: 'outer' }, 1);
    mergeAudit(state, { summary: 'inner again', other: 1 }, 2);
    mergeAudit(state, { summary: 'outer again' }, 1);

    expect(state.audit).toMatchObject({ summary: 'outer again', reason: 'r', other: 1 });
  });

  it('adds lines to lines', () => {
    const state = openState();
    pushEntry(state, line('a'), null);
    mergeAudit(state, { layers: [line('b')] }, 0);

    expect(state.audit?.layers.map(({ name }) => name)).toEqual(['a', 'b']);
  });

  it.each(['text', 5, {}, [1], [null]])('refuses lines that are none: %j', (layers) => {
    const patch = { layers } as unknown as AuditPatch; // Somebody without types.

    expect(() => mergeAudit(openState(), patch, 0)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }),
    );
    expect(() => mergeRecords(undefined, patch)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }),
    );
  });

  it('keeps a copy that the writer cannot change later', () => {
    const state = openState();
    const metadata = { list: [1] };
    mergeAudit(state, { metadata }, 0);
    metadata.list.push(2);

    expect(state.audit?.metadata).toEqual({ list: [1] });
  });

  it('cleans the only text of a patch, and the only one that is no text', () => {
    const state = openState([(text) => text.replaceAll('x', '*')]);
    mergeAudit(state, { summary: 'pw x' }, 0);
    mergeAudit(state, { 'about x': 'x' }, 0);
    mergeAudit(state, { metadata: { x: ['x'] } }, 0);

    expect(state.audit).toMatchObject({
      summary: 'pw *',
      'about *': '*',
      metadata: { '*': ['*'] },
    });
    expect(JSON.stringify(state.audit)).not.toContain('x');
  });

  it('asks a patch that is not plain what it is', () => {
    const state = openState();
    const patch = Object.assign(
      Object.create({ toJSON: () => ({ summary: 'as JSON' }) }) as object,
      { summary: 'as it stands' },
    );
    mergeAudit(state, patch, 0);

    expect(state.audit).toMatchObject({ summary: 'as JSON' });
  });

  it('blames a layer that writes what is no JSON', async () => {
    const caller = composeToolCallers([
      { name: 'odd', caller: async (call, next) => annotate(await next(call), { odd: 1n }) },
    ]);
    const result = await caller(makeCall(), echoExecutor());

    expect(result).toMatchObject({ status: 'tool_middleware_exception', executed: 'yes' });
    expect(result.audit?.layers[0]).toMatchObject({
      name: 'odd',
      status: 'exception',
      error: 'odd is a bigint',
    });
  });
});

describe('joinScrubs', () => {
  it('cleans what is there already, names of members included', () => {
    const state = openState();
    mergeAudit(state, { summary: 'pw x', 'about x': { x: 'x' } }, 0);
    pushEntry(state, line('x'), { detail: ['x'] });
    joinScrubs(state, [(text) => text.replaceAll('x', '*')]);

    expect(state.audit).toMatchObject({ summary: 'pw *', 'about *': { '*': '*' } });
    expect(state.audit?.layers).toEqual([{ ...line('*'), detail: ['*'] }]);
    expect(JSON.stringify(state.audit)).not.toContain('x');
  });

  it('takes a cleaner in once', () => {
    const scrub = (text: string) => `${text}!`;
    const state = openState([scrub]);
    joinScrubs(state, [scrub]);
    joinScrubs(state, [scrub]);

    expect(state.scrubs).toEqual([scrub]);
  });
});

describe('closeAudit', () => {
  it('leaves nothing to add', () => {
    const state = openState();
    closeAudit(state);

    expect(() => pushEntry(state, line('late'), null)).toThrow(TypeError);
    expect(Object.isFrozen(state.audit)).toBe(true);
    expect(() => closeAudit(createPass())).not.toThrow();
  });
});

describe('mergeRecords', () => {
  it('is the same merge on plain values', () => {
    const record = mergeRecords(mergeRecords(undefined, { summary: 'a', layers: [line('a')] }), {
      reason: 'b',
      layers: [line('b')],
    });

    expect(record).toEqual({ summary: 'a', reason: 'b', layers: [line('a'), line('b')] });
    expect(Object.isFrozen(record.layers)).toBe(true);
  });
});
