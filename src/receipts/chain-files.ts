/** What a writer asks of the file system. Handed in, so that tests can make it fail. */

import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  write,
  writeSync,
  fsyncSync,
  openSync,
} from 'node:fs';
import { openRegular, type OpenHow } from '../system/open-regular.ts';

/** The calls that can fail while receipts are being written. */
export interface ChainFiles {
  /**
   * Opens a segment for appending. `new` fails where the file is there already; `durable` is for
   * one that is there, and what is written to it is on disk when the write returns.
   */
  open(path: string, how: 'any' | 'new' | 'durable'): number;
  /** May write less than it was given, as the system does on a disk that gets full. */
  write(file: number, bytes: Buffer): Promise<number>;
  writeNow(file: number, bytes: Buffer): number;
  sync(file: number): Promise<void>;
  syncNow(file: number): void;
  /** The size in bytes, and whether the file still has a name. */
  look(file: number): { readonly size: number; readonly isLinked: boolean };
  truncate(file: number, size: number): void;
  /** Never throws: nothing can be done about it, and what counts has been synced before. */
  close(file: number): void;
}

const HOW: Readonly<Record<'any' | 'new' | 'durable', OpenHow>> = Object.freeze({
  any: { access: 'append', create: 'missing' },
  new: { access: 'append', create: 'new' },
  durable: { access: 'append', durable: true },
});

/** The real one. */
export const systemFiles: ChainFiles = Object.freeze({
  open(path: string, how: keyof typeof HOW) {
    const file = openRegular(path, HOW[how]);
    if (file === null)
      throw Object.assign(new Error('the folder or the file has gone'), { code: 'ENOENT' });
    return file;
  },
  write: (file: number, bytes: Buffer) =>
    new Promise<number>((resolve, reject) => {
      write(file, bytes, 0, bytes.length, null, (error, written) =>
        error === null ? resolve(written) : reject(error),
      );
    }),
  writeNow: (file: number, bytes: Buffer) => writeSync(file, bytes),
  sync: (file: number) =>
    new Promise<void>((resolve, reject) => {
      fdatasync(file, (error) => (error === null ? resolve() : reject(error)));
    }),
  syncNow: (file: number) => fdatasyncSync(file),
  look(file: number) {
    const { size, nlink } = fstatSync(file);
    return { size, isLinked: nlink > 0 };
  },
  truncate: (file: number, size: number) => ftruncateSync(file, size),
  close(file: number) {
    try {
      closeSync(file);
    } catch {
      // See above.
    }
  },
});

/**
 * Puts the names in a folder on disk. Where folders cannot be opened, the system does it by itself.
 */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
