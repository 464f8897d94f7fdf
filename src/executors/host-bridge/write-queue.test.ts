import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { settle } from '../../../conformance/test-kit.ts';
import { createWriteQueue } from './write-queue.ts';

/** A stream whose other side reads only when it is told to. */
function slowStream() {
  const read: string[] = [];
  let readNext = () => {};
  const writable = new Writable({
    highWaterMark: 4,
    write(chunk: Buffer, _encoding, done) {
      readNext = () => {
        read.push(chunk.toString());
        done();
      };
    },
  });
  return {
    ...{ writable, read },
    readAll: async () => {
      for (let before = -1; before !== read.length; ) {
        before = read.length;
        const next = readNext;
        readNext = () => {};
        next();
        await settle();
      }
    },
  };
}

describe('the write queue', () => {
  it('sends everything in order, when the other side reads', async () => {
    const { writable, read, readAll } = slowStream();
    const queue = createWriteQueue(writable, { maxQueuedBytes: 1_000 });
    for (let index = 0; index < 100; index += 1) queue.push(`${index}\n`);
    const flushed = queue.flushed();
    await readAll();
    await flushed;

    expect(read.join('')).toBe(Array.from({ length: 100 }, (_, index) => `${index}\n`).join(''));
  });

  it('gives the stream no more than it wants, and has a naive twin that does', () => {
    const slow = slowStream();
    const naive = slowStream();
    const queue = createWriteQueue(slow.writable, { maxQueuedBytes: 1_000_000 });
    for (let index = 0; index < 1_000; index += 1) {
      queue.add('line\n');
      naive.writable.write('line\n');
    }

    expect(slow.writable.writableLength).toBeLessThanOrEqual(10);
    expect(naive.writable.writableLength).toBe(5_000);
  });

  it('takes a line back that has not gone out, and no other', async () => {
    const { writable, read, readAll } = slowStream();
    const queue = createWriteQueue(writable, { maxQueuedBytes: 1_000 });
    const [first, second, third] = ['first\n', 'second\n', 'third\n'].map((line) =>
      queue.add(line),
    );

    expect(second?.withdraw()).toBe(true);
    expect(second?.withdraw()).toBe(false);
    await readAll();
    expect(read.join('')).toBe('first\nthird\n');
    expect([first?.withdraw(), third?.withdraw()]).toEqual([false, false]);
  });

  it('lets no more wait than it may, but always one line, and whatever must not be lost', async () => {
    const { writable, read, readAll } = slowStream();
    const queue = createWriteQueue(writable, { maxQueuedBytes: 10 });
    const taken = ['sent.....\n', 'a long line waits\n', 'no\n'].map(
      (line) => queue.add(line) !== null,
    );
    queue.push('must\n');

    expect(taken).toEqual([true, true, false]);
    await readAll();
    expect(read.join('')).toBe('sent.....\na long line waits\nmust\n');
    expect(queue.add('again\n')).not.toBeNull();
  });

  it('leaves nothing behind', async () => {
    const { writable } = slowStream();
    const queue = createWriteQueue(writable, { maxQueuedBytes: 1_000 });
    queue.push('first\n');
    const waiting = queue.push('second\n');
    const flushed = queue.flushed();
    queue.stop();
    await flushed;

    expect(waiting.withdraw()).toBe(false);
    expect(writable.listenerCount('drain')).toBe(0);
  });
});
