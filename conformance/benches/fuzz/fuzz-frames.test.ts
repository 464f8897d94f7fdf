import { describe, expect, it } from 'vitest';
import { splitLines } from '../../../src/system/lines.ts';
import type { Link } from '../../../src/mcp/proxy/link.ts';
import { streamLink } from '../../../src/mcp/stdio/stdio-links.ts';
import { MAX_LINE_BYTES } from '../../../src/mcp/wire.ts';
import { fuzzFrames, hardlyRead, type LinkOver } from './fuzz-frames.ts';
import { readEverywhere } from './read-frames.ts';
import { howMany } from '../../how-many.fixture.ts';

/** A link that forwards the bytes of whatever it could parse, as they came. */
const bytesAsTheyCame: LinkOver = (input, output) => {
  const own = streamLink(input, output);
  const naive: Link = {
    ...own,
    async start(handlers) {
      const split = splitLines({
        maxBytes: MAX_LINE_BYTES,
        tellLong: 'at_once',
        onLine(line) {
          try {
            const message: unknown = JSON.parse(line.toString('utf8'));
            if (typeof message !== 'object' || message === null || Array.isArray(message)) return;
            KEPT.set(message, Buffer.from(`${line.toString('latin1')}\n`, 'latin1'));
            handlers.onFrame({ message: message as never });
          } catch {
            // It is no message.
          }
        },
        onLongLine: () => {},
      });
      input.on('data', split);
      input.once('end', () => handlers.onClose('the stream ended'));
    },
    send(frame) {
      const bytes = KEPT.get(frame.message);
      return output.write(bytes ?? `${JSON.stringify(frame.message)}\n`);
    },
  };
  return naive;
};
const KEPT = new WeakMap<object, Uint8Array>();

/** A link that breaks at the first line that is no message. */
const easilyHurt: LinkOver = (input, output) => {
  const own = streamLink(input, output);
  const onGarbage = (): void => void input.destroy();
  return { ...own, start: (handlers) => own.start({ ...handlers, onGarbage }) };
};

describe('readEverywhere', () => {
  it('sees another message behind a carriage return where a reader ends lines there', () => {
    const hidden = '{"jsonrpc":"2.0","method":"tools/call"}';
    const { byReader } = readEverywhere(
      Buffer.from(`{"jsonrpc":"2.0","method":"ping","params":{"x":\r${hidden}\r}}\n`),
    );

    expect(byReader['line feeds']).toHaveLength(1);
    for (const reader of ['readLine', 'universal newlines', 'splitlines'])
      expect(byReader[reader]).toHaveLength(3);
  });
});

describe('fuzzFrames', () => {
  it('finds that all readers see what was sent, whatever the line', async () => {
    const frames = howMany(300, 1000);
    const figures = await fuzzFrames({ frames, seed: 20_260_101 });

    expect(figures.differences).toEqual({
      'line feeds': 0,
      readLine: 0,
      'universal newlines': 0,
      splitlines: 0,
    });
    expect(figures.frames).toBe(2 * frames);
    expect(hardlyRead(figures)).toEqual([]);
    // More than its share of requests that were left open: hostile answers and questions went
    // through as well.
    expect(
      figures.quarters.map(({ lines, messages }) => ({
        lines,
        isForwarding: messages > 0.7 * lines,
      })),
    ).toEqual([1, 2, 3, 4].map(() => ({ lines: frames / 2, isForwarding: true })));
  }, 120_000);

  it('says so where most lines were not read', async () => {
    const figures = await fuzzFrames({ frames: 100, seed: 1, link: easilyHurt });

    expect(hardlyRead(figures)).toHaveLength(4);
  }, 120_000);

  it('finds that bytes that are forwarded as they came are read in more ways than one', async () => {
    const { differences } = await fuzzFrames({ frames: 100, seed: 1, link: bytesAsTheyCame });

    for (const reader of ['readLine', 'universal newlines', 'splitlines'])
      expect(differences[reader]).toBeGreaterThan(0);
  }, 120_000);
});
