/**
 * The limit's receipt file: a line for each call, chained by hash, with signed checkpoints between
 * them, one write under way at a time and everything that came meanwhile in the next one. It always
 * begins a new chain in an empty folder, has it for itself, and never goes on to a second file.
 */

import { createHash, generateKeyPairSync, hash, sign } from 'node:crypto';
import { appendFileSync, closeSync, mkdirSync, openSync, write, writeSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A chain of receipts of items, each of which is told where its receipt will stand. */
export interface Chain<Item> {
  /** The URI of a receipt that will be written soon. */
  readonly append: (item: Item) => string;
  /** Why nothing can be written. */
  readonly failure: () => Error | null;
  readonly flush: () => Promise<void>;
  /** Signs the end and lets go of the files. */
  readonly close: () => Promise<void>;
  readonly publicKey: string;
}

const GENESIS = `sha256:${'0'.repeat(64)}`;
const CHECKPOINT_EVERY = 1024;
const CHECKPOINT_MS = 1000;
const HEAD_BYTES = 4096;
/** What a batch begins with; longer lines make it grow. */
const BATCH_BYTES = 1 << 20;

const sha256 = (bytes: Uint8Array | string): string => `sha256:${hash('sha256', bytes)}`;

/** Puts text in ASCII behind what is there. */
export type Put = (text: string) => void;

/** `layOut` puts the JSON of a receipt, without its closing brace. */
export function openChain<Item>(
  folder: string,
  session: string,
  layOut: (item: Item, uri: string, put: Put) => void,
): Chain<Item> {
  const file = openFile(folder, session);
  let count = 0;
  let waiting: Item[] = [];
  let running: Promise<void> | null = null;
  let failed: Error | null = null;

  const writeOut = async (): Promise<void> => {
    // Whatever ends in the same turn of the event loop is written in one go.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      for (const item of batch) file.add((put, uri) => layOut(item, uri, put));
      await file.write();
    }
  };
  const start = (): void => {
    running ??= writeOut().then(
      () => void (running = null),
      (error: Error) => void (failed = error),
    );
  };
  const flush = async (): Promise<void> => {
    while (running !== null && failed === null) await running;
    if (failed !== null) throw failed;
  };
  return {
    publicKey: file.publicKey,
    append(item) {
      count += 1;
      waiting.push(item);
      start();
      return file.uriOf(count);
    },
    failure: () => failed,
    flush,
    async close() {
      await flush();
      await file.close();
    },
  };
}

/** The file of a session with its checkpoints, the newest of them once more beside it. */
function openFile(folder: string, session: string) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const chain = `${session}-${hash('sha256', session).slice(0, 8)}`;
  const path = join(folder, `${chain}.jsonl`);
  const { href } = pathToFileURL(path);
  const signer = createSigner(chain);
  const index = indexOf(join(folder, 'sessions.index'), signer);
  const lines = createLines();
  const heads = openSync(join(folder, `${chain}.head`), 'w', 0o600);
  index('opened', 0, GENESIS);
  const file = openSync(path, 'ax', 0o600);
  let [count, unsigned, signedAt, headTurn] = [0, 0, Date.now(), 0];
  const uriOf = (seq: number): string => `${href}#seq=${seq}`;
  const checkpoint = (notes: string): void => {
    const start = lines.begin();
    lines.put(signer.checkpoint(count, lines.head(), notes));
    lines.end(count);
    const text = lines.textFrom(start).trimEnd();
    writeSync(heads, `${text.padEnd(HEAD_BYTES - 1)}\n`, (headTurn % 2) * HEAD_BYTES);
    headTurn += 1;
    unsigned = 0;
    signedAt = Date.now();
  };
  checkpoint(',"entry":1');
  return {
    publicKey: signer.publicKey,
    uriOf,
    add(layOut: (put: Put, uri: string) => void): void {
      count += 1;
      lines.begin();
      layOut(lines.put, uriOf(count));
      lines.end(count);
      unsigned += 1;
      if (unsigned >= CHECKPOINT_EVERY) checkpoint('');
    },
    async write(): Promise<void> {
      if (Date.now() - signedAt >= CHECKPOINT_MS) checkpoint('');
      await lines.writeTo(file);
    },
    async close(): Promise<void> {
      checkpoint(',"end":true');
      await lines.writeTo(file);
      closeSync(file);
      closeSync(heads);
      index('closed', count, lines.head());
    },
  };
}

/** Lines that are put together as bytes, and hashed where they lie. */
function createLines() {
  let bytes = Buffer.allocUnsafeSlow(BATCH_BYTES);
  let length = 0;
  let start = 0;
  let head = GENESIS;
  const put: Put = (text) => {
    if (length + text.length > bytes.length) {
      const larger = Buffer.allocUnsafeSlow(2 * (length + text.length));
      bytes.copy(larger, 0, 0, length);
      bytes = larger;
    }
    for (let index = 0; index < text.length; index += 1)
      bytes[length + index] = text.charCodeAt(index);
    length += text.length;
  };
  return {
    put,
    head: () => head,
    textFrom: (from: number) => bytes.toString('latin1', from, length),
    begin: () => (start = length),
    /** Gives the JSON object that was put its place in the chain. */
    end(seq: number): void {
      put(`,"seq":${seq},"prev_hash":"`);
      put(head);
      put('"');
      head = sha256(new Uint8Array(bytes.buffer, start, length - start));
      put(',"hash":"');
      put(head);
      put('"}\n');
    },
    /** One write of all of them. Nothing may be added meanwhile. */
    async writeTo(file: number): Promise<void> {
      for (let from = 0; from < length; ) from += await writeSome(file, bytes, from, length - from);
      length = 0;
    },
  };
}

const writeSome = (file: number, bytes: Buffer, from: number, length: number): Promise<number> =>
  new Promise((resolve, reject) => {
    write(file, bytes, from, length, null, (error, taken) =>
      error === null ? resolve(taken) : reject(error),
    );
  });

function createSigner(chain: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const der = publicKey.export({ type: 'spki', format: 'der' });
  const keyId = createHash('sha256').update(der).digest('hex').slice(0, 16);
  const signature = (text: string): string =>
    `,"signature":"${sign(null, Buffer.from(text), privateKey).toString('base64')}"`;
  const opening = (record: string): string =>
    `{"schema_version":1,"record":"${record}","chain":"${chain}"`;
  const now = (): string => `"key_id":"${keyId}","time":"${new Date().toISOString()}"`;
  return {
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    checkpoint(count: number, head: string, notes: string): string {
      const place = `"segment":1,"count":${count},"head":"${head}"`;
      const text = `${opening('checkpoint')},${place},${now()}${notes}`;
      return text + signature(text);
    },
    entry(record: string, count: number, head: string, seq: number, before: string): string {
      const place = `"seq":${seq},"prev_hash":"${before}"`;
      const text = `${opening(record)},"count":${count},"head":"${head}",${now()},${place}`;
      return text + signature(text);
    },
  };
}

/** The folder's signed list of what was begun and closed. */
function indexOf(path: string, signer: ReturnType<typeof createSigner>) {
  let [seq, before] = [0, GENESIS];
  return (record: 'opened' | 'closed', count: number, head: string): void => {
    seq += 1;
    const covered = signer.entry(record, count, head, seq, before);
    before = sha256(covered);
    appendFileSync(path, `${covered},"hash":"${before}"}\n`, { mode: 0o600 });
  };
}
