import { once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Frame } from '../proxy/link.ts';
import { streamLink } from './stdio-links.ts';

/** A stream that notes what each write hands it. */
function recordingOutput() {
  const writes: string[][] = [];
  const output = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      writes.push([String(chunk)]);
      done();
    },
    writev(chunks, done) {
      writes.push(chunks.map(({ chunk }) => String(chunk)));
      done();
    },
  });
  return { output, writes };
}

const line = (id: number): string => `{"id":${id}}\n`;

describe('a link over streams', () => {
  it('sends the first message of the first turn at once, and all others of it in one write and in order', async () => {
    const { output, writes } = recordingOutput();
    const link = streamLink(new PassThrough(), output);
    for (const id of [1, 2, 3, 4]) link.send({ message: { id } });

    expect(writes).toEqual([[line(1)]]);
    await new Promise(setImmediate);
    expect(writes).toEqual([[line(1)], [line(2), line(3), line(4)]]);
  });

  it('sends all messages of a turn in one write after a turn with several, and the first at once after a turn with one', async () => {
    const { output, writes } = recordingOutput();
    const link = streamLink(new PassThrough(), output);
    for (const id of [1, 2]) link.send({ message: { id } });
    await new Promise(setImmediate);
    for (const id of [3, 4]) link.send({ message: { id } });
    await new Promise(setImmediate);
    link.send({ message: { id: 5 } });
    await new Promise(setImmediate);
    link.send({ message: { id: 6 } });

    expect(writes).toEqual([[line(1)], [line(2)], [line(3), line(4)], [line(5)], [line(6)]]);
  });

  it('loses nothing of what it was given before it is closed', async () => {
    const { output, writes } = recordingOutput();
    const link = streamLink(new PassThrough(), output);
    for (const id of [1, 2, 3]) link.send({ message: { id } });
    await link.close();
    await new Promise(setImmediate);

    expect(writes.flat()).toEqual([line(1), line(2), line(3)]);
  });

  it('says when no more can be taken, also of what waits for the end of a turn', () => {
    const { output } = recordingOutput();
    const link = streamLink(new PassThrough(), output);
    link.send({ message: { id: 1 } });

    expect(link.send({ message: { text: 'x'.repeat(output.writableHighWaterMark) } })).toBe(false);
  });
});

describe('a link that is sent a line with a million values', () => {
  const heard = async (text: string) => {
    const frames: Frame[] = [];
    const garbage: string[] = [];
    const input = new PassThrough();
    await streamLink(input, recordingOutput().output).start({
      onFrame: (frame) => void frames.push(frame),
      onGarbage: (problem) => void garbage.push(problem),
      onClose() {},
    });
    input.end(`${text}\n`);
    await once(input, 'end');
    return { frames, garbage };
  };
  const wide = `[${'0,'.repeat(1_000_000)}0]`;

  it('puts an error in the place of an answer, without the bytes that would be handed on', async () => {
    const { frames } = await heard(`{"jsonrpc":"2.0","id":5,"result":{"content":${wide}}}`);

    expect(frames).toEqual([
      {
        message: {
          jsonrpc: '2.0',
          id: 5,
          error: expect.objectContaining({ code: -32_603 }) as object,
        },
      },
    ]);
  });

  it('hands on nothing of a request', async () => {
    expect(
      await heard(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"arguments":${wide}}}`),
    ).toEqual({
      frames: [],
      garbage: ['more than 200000 values (ask for less at a time)'],
    });
  });
});
