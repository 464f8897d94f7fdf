/** A file that only grows, line by line, and may have other writers. */

import { statSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { AlliumError, openRegularHandle } from '../layer.ts';

export interface LineFile {
  /**
   * Resolves when every line so far is in the file, and rejects while that cannot be; `null` when
   * they are.
   */
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

/** Lines wait in memory for the disk. Where no call waits for them, more than this are lost. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

/** Says that the line before it was cut off when its writer died. */
const TORN = Buffer.from('\n{"schema_version":1,"record":"torn"}\n');

/** With `keep`, lines that fail are held and tried again; without, they are counted and let go. */
export function lineFile(path: string, keep: boolean): LineFile {
  const file = reopened(path);
  const waiting: Buffer[] = [];
  let bytes = 0;
  let lost = 0;
  let failure: { readonly thrown: unknown } | null = null;
  let writing: Promise<void> | null = null;
  let closed = false;
  async function writeAll(): Promise<void> {
    try {
      await file.open();
      for (let line = waiting[0]; line !== undefined; line = waiting[0]) {
        await file.write(line);
        waiting.shift();
        bytes -= line.length;
      }
      failure = null;
    } catch (thrown) {
      failure = { thrown };
      if (!keep) {
        lost += waiting.length;
        waiting.length = 0;
        bytes = 0;
      }
      await file.letGo().catch(() => {});
    } finally {
      writing = null;
    }
  }
  const write = (): Promise<void> => (writing ??= writeAll());
  const demandWritten = async (): Promise<void> => {
    await write();
    if (failure !== null) throw failure.thrown;
  };

  return {
    ready: () =>
      file.isOpen() && failure === null && waiting.length === 0 ? null : demandWritten(),
    append(line) {
      if (!keep && bytes > MAX_WAITING_BYTES) return void (lost += 1);
      const buffer = Buffer.from(line);
      waiting.push(buffer);
      bytes += buffer.length;
      const written = write();
      if (closed) void written.then(() => file.letGo()).catch(() => {});
    },
    lose: () => void (lost += 1),
    get lost() {
      return lost;
    },
    async close() {
      closed = true;
      while (writing !== null) await writing;
      if (waiting.length > 0) await write();
      await file.letGo();
      const missing = lost + waiting.length;
      if (missing > 0) throw unavailable(path, missing, failure);
    },
  };
}

function unavailable(
  path: string,
  missing: number,
  failure: { readonly thrown: unknown } | null,
): AlliumError {
  const message = `record: ${missing} ${missing === 1 ? 'call' : 'calls'} could not be written to ${path}`;
  const cause = failure === null ? {} : { cause: failure.thrown };
  return new AlliumError('ERR_RECORDING_UNAVAILABLE', message, { layer: 'record' }, cause);
}

/** The file, opened anew after a failure: it may have been moved, or its disk taken away. */
function reopened(path: string) {
  let file: FileHandle | null = null;
  /** Where the file ends unless another process writes to it too. */
  let end = 0;
  const open = async (): Promise<FileHandle> => (file ??= await openForLines(path));
  return {
    open,
    isOpen: () => file !== null,
    async write(line: Buffer): Promise<void> {
      end = await writeLine(await open(), line, end);
    },
    async letGo(): Promise<void> {
      const held = file;
      file = null;
      end = 0;
      await held?.close();
    },
  };
}

/**
 * Never through a link, and never a pipe, a device or another user's file. A recording that others
 * can read is closed to them.
 */
async function openForLines(path: string): Promise<FileHandle> {
  const file = await openRegularHandle(path, { access: 'extend', create: 'missing' });
  if (file === null) throw new Error(`${path}: the folder has gone`);
  try {
    // Whatever the file was before: from now on it holds arguments.
    if (((await file.stat()).mode & 0o077) !== 0) await file.chmod(0o600);
    return file;
  } catch (thrown) {
    await file.close();
    throw thrown;
  }
}

/** One write a line: lines of several processes do not mix. Answers where the file ends now. */
async function writeLine(file: FileHandle, line: Buffer, end: number): Promise<number> {
  const { size } = await file.stat();
  // Looked at every time: another writer may have died since.
  const whole = size !== end && (await isTorn(file, size)) ? Buffer.concat([TORN, line]) : line;
  const { bytesWritten } = await file.write(whole);
  // A disk that is full takes a part and says so.
  if (bytesWritten !== whole.length) throw new Error('the line was not written whole');
  return size + whole.length;
}

async function isTorn(file: FileHandle, size: number): Promise<boolean> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return bytesRead === 1 && buffer[0] !== 0x0a;
}

/** Whether a file can be at a path: its folder is there, and no folder stands in its place. */
export function isPlace(value: unknown): boolean {
  if (typeof value !== 'string' || value === '' || value.includes('\0')) return false;
  try {
    const folder = statSync(dirname(resolve(value)), { throwIfNoEntry: false });
    return (
      folder?.isDirectory() === true &&
      statSync(value, { throwIfNoEntry: false })?.isDirectory() !== true
    );
  } catch {
    return false; // A file stands where a folder should, or it may not be looked at.
  }
}
