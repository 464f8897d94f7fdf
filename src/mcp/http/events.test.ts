import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventParser, eventText, type ServerEvent } from './events.ts';
import { decodeHeaderValue, encodeHeaderValue } from './standard-headers.ts';

/** The events of a text that comes in pieces of this size. */
function parse(
  text: string,
  size = Number.MAX_SAFE_INTEGER,
  maxChars?: number,
): { events: ServerEvent[]; retries: number[]; tooLarge: number } {
  const found = { events: [] as ServerEvent[], retries: [] as number[], tooLarge: 0 };
  const parser = eventParser(
    {
      onEvent: (event) => void found.events.push(event),
      onRetry: (ms) => void found.retries.push(ms),
      onTooLarge() {
        found.tooLarge += 1;
      },
    },
    maxChars,
  );
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) parser.push(bytes.subarray(at, at + size));
  return found;
}

describe('events', () => {
  it.each(['\n', '\r\n', '\r'])(
    'are read whatever ends their lines, in pieces of any size',
    (end) => {
      const text = [
        ': hello',
        'id: 1',
        'retry: 20',
        'event: message',
        'data: grüße',
        'data:two',
        '',
        'data',
        '',
        'event: other',
        'data: x',
        '',
        '',
      ].join(end);
      // A carriage return at the end may still become a line ending of two.
      const whole = end === '\r' ? `${text}: ` : text;

      for (const size of [1, 2, 3, 7, 1000]) {
        expect(parse(whole, size)).toEqual({
          events: [
            { type: 'message', data: 'grüße\ntwo', id: '1' },
            { type: 'message', data: '', id: '' },
            { type: 'other', data: 'x', id: '' },
          ],
          retries: [20],
          tooLarge: 0,
        });
      }
    },
  );

  it('leave out what is cut off, what is no number, and an id with a zero in it', () => {
    expect(parse('retry: 1e9\nretry: -1\nid: a\0b\ndata: 1\n\ndata: 2')).toEqual({
      events: [{ type: 'message', data: '1', id: '' }],
      retries: [],
      tooLarge: 0,
    });
  });

  it('stop at one that is too large, in one line or in many', () => {
    expect(parse(`data: ${'x'.repeat(200)}`, 10, 100)).toMatchObject({ events: [], tooLarge: 1 });
    expect(parse(`${'data: xxxxxxxxxx\n'.repeat(20)}\ndata: later\n\n`, 10, 100)).toMatchObject({
      events: [],
      tooLarge: 1,
    });
  });

  it('bring back every message that is written', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.integer({ min: 1, max: 50 }),
        (value, size) => {
          const message = JSON.parse(JSON.stringify(value)) as Record<string, never>;
          expect(
            parse(eventText(message), size).events.map(({ data }) => JSON.parse(data) as unknown),
          ).toEqual([message]);
        },
      ),
    );
  });
});

describe('header values', () => {
  it('bring back every text, and hold nothing that ends a header', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const encoded = encodeHeaderValue(text);
        expect(encoded).toMatch(/^[\x20-\x7e\t]*$/);
        // Halves of pairs have no UTF-8.
        expect(decodeHeaderValue(` ${encoded} `)).toBe(text.toWellFormed());
      }),
    );
  });
});
