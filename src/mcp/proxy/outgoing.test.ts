import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../core/json/json-value.ts';
import { createAbort, sourceOf } from '../../core/time/abort.ts';
import { createOutgoing } from './outgoing.ts';
import type { WireMessage } from '../wire.ts';

/** Deeper than a message can be written. */
function tooDeep(): JsonObject {
  let nested: JsonObject = {};
  for (let depth = 0; depth < 50_000; depth += 1) nested = { nested };
  return nested;
}

describe('requests of the proxy', () => {
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
});
