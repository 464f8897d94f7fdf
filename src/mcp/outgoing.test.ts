import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../core/json/json-value.ts';
import { createAbort, sourceOf } from '../core/time/abort.ts';
import { createOutgoing } from './outgoing.ts';
import type { WireMessage } from './wire.ts';

/** Deeper than a message can be written. */
function tooDeep(): JsonObject {
  let nested: JsonObject = {};
  for (let depth = 0; depth < 50_000; depth += 1) nested = { nested };
  return nested;
}

describe('requests of ours', () => {
  it('are answered once, and by their own id only', async () => {
    const sent: WireMessage[] = [];
    const outgoing = createOutgoing((message) => void sent.push(message));
    const answering = outgoing.request('ping', {}, { abort: createAbort() });
    const id = sent[0]?.id ?? '';

    expect(outgoing.settle({ jsonrpc: '2.0', id: 'somebody', result: {} })).toBe(false);
    expect(outgoing.settle({ jsonrpc: '2.0', id, result: { first: true } })).toBe(true);
    expect(outgoing.settle({ jsonrpc: '2.0', id, result: { second: true } })).toBe(true);
    expect(await answering).toMatchObject({ result: { first: true } });
  });

  it('keep nothing of one that cannot be written', async () => {
    const { signal } = new AbortController();
    const outgoing = createOutgoing((message) => void JSON.stringify(message));

    await expect(
      outgoing.request('tools/call', tooDeep(), { abort: sourceOf(signal) }),
    ).rejects.toThrow(RangeError);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('fail with what the sending failed with, and leave nothing behind', async () => {
    const { signal } = new AbortController();
    const outgoing = createOutgoing(() => Promise.reject(new Error('no pipe')));

    await expect(outgoing.request('tools/call', {}, { abort: sourceOf(signal) })).rejects.toThrow(
      'no pipe',
    );
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('are told of their progress until they are answered, and of no other', async () => {
    const sent: WireMessage[] = [];
    const told: object[] = [];
    const outgoing = createOutgoing((message) => void sent.push(message));
    const options = { abort: createAbort(), onProgress: (progress: object) => told.push(progress) };
    const answering = outgoing.request('tools/call', { _meta: { kept: true } }, options);
    const { id = '', params } = sent[0] ?? {};

    expect(params).toEqual({ _meta: { kept: true, progressToken: id } });
    expect(outgoing.progressed({ progressToken: 'another', progress: 1 })).toBe(false);
    expect(outgoing.progressed({ progressToken: id, progress: 2, message: 'half', x: 1 })).toBe(
      true,
    );
    outgoing.settle({ jsonrpc: '2.0', id, result: {} });
    await answering;
    expect(outgoing.progressed({ progressToken: id, progress: 3 })).toBe(false);
    expect(told).toEqual([{ progress: 2, message: 'half' }]);
  });
});
