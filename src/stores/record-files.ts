/** Records as files: whole or not at all, made by one process only, changed by one process at a time. */

import { randomUUID } from 'node:crypto';
import { link, lstat, mkdir, open, readdir, rename, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../core/clock.ts';
import { takeLock } from '../receipts/writer-lock.ts';
import { checkFolder, openRegularHandle } from '../system/open-regular.ts';

/** What becomes of a record: another content, `'remove'`, or `null` for no change. */
export type Change<T> = (record: T) => T | 'remove' | null;

export interface RecordFilesOptions<T> {
  /** Whose records they are, for messages. */
  readonly owner: string;
  /** The folder. Made with mode 0700 by the first write; one that others can look into is not used. */
  readonly dir: string;
  /** What the names of records end with; names that end otherwise are not listed. */
  readonly suffix: string;
  /** Only for waiting until a lock is free. */
  readonly clock: Clock;
  /** Makes a record of a file's text. Decides what half a file stands for; what it throws, the reader throws. */
  readonly parse: (text: string, name: string) => T;
}

/**
 * Names are file names inside the folder and must be made by the caller, never taken from outside. Files are 0600; one that others
 * can open, or that is a link, throws instead of being read. Not for folders shared between machines.
 */
export interface RecordFiles<T> {
  /** Every record, by name. Empty where there is no folder yet. */
  list(): Promise<readonly string[]>;
  read(name: string): Promise<T | null>;
  /** Makes the file with its content in one step, on disk when it returns; `false` when somebody else has. */
  create(name: string, record: T): Promise<boolean>;
  /** Reads, decides and replaces while no other process can do so; `false` when nothing was changed. */
  change(name: string, decide: Change<T>): Promise<boolean>;
  /** Puts a record in the place of another, on disk when it returns. Only inside `exclusive` is nothing lost by it. */
  replace(name: string, record: T): Promise<void>;
  /**
   * Runs `work` while no other process runs work under this name: for steps over several records. `change` of the same name inside of
   * it would wait for itself. The lock of a process that was killed is taken over; one whose owner cannot be judged is not.
   */
  exclusive<R>(name: string, work: () => Promise<R>): Promise<R>;
  /** Removes drafts that a process left behind when it was killed. */
  removeDrafts(before: number): Promise<void>;
}

const LOCK_RETRY_MS = 5;
const LOCK_WAIT_MS = 5000;

/** The files of one folder: JSON with `version: 1`, written as it is. Whoever can read the folder reads it all. */
export function recordFiles<T extends object>({
  owner,
  dir,
  suffix,
  clock,
  parse,
}: RecordFilesOptions<T>): RecordFiles<T> {
  const at = (name: string) => join(dir, name);
  const made = async () => {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    isPrivateFolder(dir);
  };
  const read = async (name: string) => {
    const text = await textOf(at(name));
    return text === null ? null : parse(text, name);
  };
  const replace = async (name: string, record: T) => {
    const draft = await drafted(at(name), record);
    try {
      await rename(draft, at(name));
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
    await syncFolder(dir);
  };
  const exclusive = async <R>(name: string, work: () => Promise<R>) => {
    await made();
    const path = `${at(name)}.lock`;
    return inLine(path, () => locked(path, owner, clock, work));
  };
  const change = async (name: string, decide: Change<T>) => {
    const record = await read(name);
    const after = record === null ? null : decide(record);
    if (after === null) return false;
    if (after !== 'remove') return replace(name, after).then(() => true);
    await unlink(at(name));
    await syncFolder(dir);
    return true;
  };

  return {
    list: async () =>
      isPrivateFolder(dir) ? (await readdir(dir)).filter((name) => name.endsWith(suffix)) : [],
    read: async (name) => (isPrivateFolder(dir) ? read(name) : null),
    create: async (name, record) => made().then(() => created(dir, at(name), record)),
    change: (name, decide) => exclusive(name, () => change(name, decide)),
    replace: async (name, record) => made().then(() => replace(name, record)),
    exclusive,
    async removeDrafts(before) {
      if (!isPrivateFolder(dir)) return;
      for (const name of (await readdir(dir)).filter((each) => each.endsWith('.part'))) {
        const age = await lstat(at(name)).catch(() => null);
        if (age !== null && age.mtimeMs < before) await rm(at(name), { force: true });
      }
    },
  };
}

/** Whether there is a folder. Throws for one that others can look into: what is in there may be secret, or written by anybody. */
const isPrivateFolder = (dir: string): boolean => checkFolder(dir, { secret: true });

async function created(dir: string, path: string, record: object): Promise<boolean> {
  const draft = await drafted(path, record);
  try {
    await link(draft, path);
    await syncFolder(dir);
    return true;
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** The record in a file of its own, on disk, not yet under its name. */
async function drafted(path: string, record: object): Promise<string> {
  const draft = `${path}.${randomUUID()}.part`;
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(JSON.stringify({ version: 1, ...record }));
      await file.sync();
    } finally {
      await file.close();
    }
    return draft;
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Without this a name can be lost in a power cut although the file it stands for is on disk. */
async function syncFolder(dir: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(dir, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Who waits for which lock in this process. */
const lines = new Map<string, Promise<unknown>>();

/** One of a process at a time tries for a lock: a hundred that all try again and again would keep each other from their work. */
function inLine<R>(path: string, work: () => Promise<R>): Promise<R> {
  const mine = (lines.get(path) ?? Promise.resolve()).then(work);
  const ended = mine.then(
    () => {},
    () => {},
  );
  lines.set(path, ended);
  void ended.then(() => lines.get(path) === ended && lines.delete(path));
  return mine;
}

async function locked<R>(
  path: string,
  owner: string,
  clock: Clock,
  work: () => Promise<R>,
): Promise<R> {
  let release = takeLock(path);
  for (let waited = 0; release === null; waited += LOCK_RETRY_MS) {
    if (waited >= LOCK_WAIT_MS)
      throw new Error(
        `${owner}: a record stays locked; a process may hang, or have died on another machine`,
      );
    await new Promise<void>((resolve) => void clock.after(LOCK_RETRY_MS, resolve));
    release = takeLock(path);
  }
  try {
    return await work();
  } finally {
    release();
  }
}

async function textOf(path: string): Promise<string | null> {
  const file = await openRegularHandle(path, { access: 'read', secret: true });
  if (file === null) return null;
  try {
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
