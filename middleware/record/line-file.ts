/** A file that only grows, line by line, and may have other writers. */

import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { AlliumError } from '../../src/index.ts';

export interface LineFile {
  /** Rejects while lines cannot be written; `null` when there is nothing to wait for. */
  ready(): Promise<void> | null;
  /** Takes a whole line. It is on its way when this returns. */
  append(line: string): void;
  /** Counts a line that could not be made. */
  lose(): void;
  /** Lines that will never be in the file. */
  readonly lost: number;
  /** Writes what is left and lets go of the file. Rejects if a line is lost. */
  close(): Promise<void>;
}

/** Lines wait in memory for the disk. From here on calls wait for it too, or lines are lost. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

/** Says that the line before it was cut off when its writer died. */
const TORN = '\n{"schema_version":1,"record":"torn"}\n';

/** With `keep`, lines that fail are held and tried again; without, they are counted and let go. */
export function lineFile(path: string, keep: boolean): LineFile {
  const waiting: Buffer[] = [];
  let bytes = 0;
  let lost = 0;
  let file: FileHandle | null = null;
  let failure: { readonly thrown: unknown } | null = null;
  let writing: Promise<void> | null = null;
  let closed = false;

  const letGo = async () => {
    const open_ = file;
    file = null;
    await open_?.close();
  };

  async function writeAll(): Promise<void> {
    try {
      file ??= await openForLines(path);
      // Looked at every time: another writer may have died since.
      let lead = await leadFor(file);
      for (let line = waiting[0]; line !== undefined; line = waiting[0]) {
        await writeOnce(file, lead === null ? line : Buffer.concat([lead, line]));
        lead = null;
        waiting.shift();
        bytes -= line.length;
      }
      failure = null;
    } catch (thrown) {
      failure = { thrown };
      if (!keep) dropAll();
      // Opened anew next time: the file may have been moved, or its disk taken away.
      await letGo().catch(() => {});
    } finally {
      writing = null;
    }
  }

  const write = (): Promise<void> => (writing ??= writeAll());
  const dropAll = () => {
    lost += waiting.length;
    waiting.length = 0;
    bytes = 0;
  };
  const demandWritten = async (): Promise<void> => {
    await write();
    if (failure !== null) throw failure.thrown;
  };

  return {
    ready: () => (file !== null && failure === null && bytes <= MAX_WAITING_BYTES ? null : demandWritten()),
    append(line) {
      if (!keep && bytes > MAX_WAITING_BYTES) return void (lost += 1);
      const buffer = Buffer.from(line);
      waiting.push(buffer);
      bytes += buffer.length;
      const written = write();
      if (closed) void written.then(letGo).catch(() => {});
    },
    lose: () => void (lost += 1),
    get lost() {
      return lost;
    },
    async close() {
      closed = true;
      while (writing !== null) await writing;
      if (waiting.length > 0) await write();
      await letGo();
      const missing = lost + waiting.length;
      if (missing === 0) return;
      const message = `record: ${missing} ${missing === 1 ? 'call' : 'calls'} could not be written to ${path}`;
      throw new AlliumError('ERR_RECORDING_UNAVAILABLE', message, { layer: 'record' }, failure === null ? {} : { cause: failure.thrown });
    },
  };
}

async function openForLines(path: string): Promise<FileHandle> {
  // Without O_NONBLOCK a pipe would be waited for without end.
  const file = await open(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NONBLOCK ?? 0), 0o600);
  try {
    const { mode } = await demandRegular(file, path);
    // Whatever the file was before: from now on it holds arguments.
    if ((mode & 0o077) !== 0) await file.chmod(0o600);
    return file;
  } catch (thrown) {
    await file.close();
    throw thrown;
  }
}

async function demandRegular(file: FileHandle, path: string): Promise<{ readonly mode: number }> {
  const found = await file.stat();
  if (!found.isFile()) throw new Error(`${path} is not a file`);
  return found;
}

/** What has to stand before the next line: nothing, unless the last one was cut off. */
async function leadFor(file: FileHandle): Promise<Buffer | null> {
  const { size } = await file.stat();
  if (size === 0) return null;
  const { buffer, bytesRead } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return bytesRead === 1 && buffer[0] !== 0x0a ? Buffer.from(TORN) : null;
}

/** One write a line: lines of several processes do not mix. A disk that is full takes a part and says so. */
async function writeOnce(file: FileHandle, line: Buffer): Promise<void> {
  const { bytesWritten } = await file.write(line);
  if (bytesWritten !== line.length) throw new Error('the line was not written whole');
}
