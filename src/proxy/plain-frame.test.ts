import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../core/json.ts';
import type { Frame } from './link.ts';
import { plainFrame } from './plain-frame.ts';

const frameOf = (text: string): Frame => ({ message: JSON.parse(text) as JsonObject, bytes: Buffer.from(`${text}\n`) });
const sent = (frame: Frame | null): string | null =>
  frame === null ? null : frame.bytes === undefined ? JSON.stringify(frame.message) : Buffer.from(frame.bytes).toString('utf8').trim();

/** A server that takes the first of two members with one name, and reads names as some languages do. */
function firstMethod(text: string): string | undefined {
  const found = /"((?:\\u[0-9a-f]{4}|[^"\\])+)"\s*:\s*"([^"]*)"/gi;
  for (const [, name = '', value] of text.matchAll(found)) if ((JSON.parse(`"${name}"`) as string).toLowerCase() === 'method') return value;
  return undefined;
}

const HIDDEN = [
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"ping"}',
  '{"jsonrpc":"2.0","id":1,"\\u006dethod":"tools/call","method":"ping"}',
  '{"jsonrpc":"2.0","id":1,"metho\\u0064":"tools/call","method":"ping"}',
  '{"jsonrpc":"2.0","id":1,"METHOD":"tools/call","method":"ping"}',
  '{"jsonrpc":"2.0","id":1,"\\u004dethod":"tools/call","method":"ping"}',
  '{ "method" : "tools/call" , "jsonrpc":"2.0","id":1,\t"method"\r:"ping"}',
];

describe('plain frames', () => {
  it.each(HIDDEN)('that hide a call reach no server as one: %s', (text) => {
    const naive = Buffer.from(frameOf(text).bytes ?? []).toString('utf8');
    const out = sent(plainFrame(frameOf(text)));

    expect(firstMethod(naive)).toBe('tools/call');
    expect(out === null ? 'ping' : firstMethod(out)).toBe('ping');
  });

  it.each([
    '{"jsonrpc":"2.0","id":1,"method":"ping","Params":{}}',
    '{"jsonrpc":"2.0","id":1,"method":"ping"," method ":"tools/call"}',
    '{"jsonrpc":"2.0","ID":1,"method":"ping"}',
    '{"jsonrpc":"2.0","id":1,"method":"ping","\uff4dethod":"tools/call"}',
  ])('with a name that could be taken for one of the protocol go nowhere: %s', (text) => {
    expect(plainFrame(frameOf(text))).toBeNull();
  });

  it.each([
    '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"method":"a","Method":"b","method":"c"}}',
    '{"jsonrpc":"2.0","id":1,"method":"say \\"method\\": \\\\","params":["method",":",{"a":"}"}]}',
    ' { "jsonrpc" : "2.0" , "id" : 1 , "result" : { } } ',
  ])('that mean one thing are forwarded byte for byte: %s', (text) => {
    const frame = frameOf(text);

    expect(plainFrame(frame)).toBe(frame);
  });

  it('are found for any message that JSON writes', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (params) => {
        const frame = frameOf(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params }));
        expect(plainFrame(frame)).toBe(frame);
      }),
    );
  });

  it('need no bytes', () => {
    const frame = { message: { jsonrpc: '2.0', method: 'ping' } };

    expect(plainFrame(frame)).toBe(frame);
  });
});
