/**
 * Records as files: whole or not at all, made by one process only, changed by one process at a
 * time.
 */

import { createHash, randomUUID } from 'node:crypto';
import { closeSync, fstatSync, readdirSync, readFileSync } from 'node:fs';
import { link, lstat, mkdir, open, readdir, rename, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonValue } from '../core/json/json-value.ts';
import { describeThrown } from '../core/contract/errors.ts';
import { freezeParsed, isDeeperThan, isObject, MAX_JSON_DEPTH } from '../core/json/json.ts';
import type { Clock } from '../core/time/clock.ts';
import { checkFolder, openRegular, openRegularHandle } from './open-regular.ts';
import { whileLocked } from './writer-lock.ts';

/** A file that holds no record, or that cannot be read. */
export interface RecordProblem {
  readonly file: string;
  readonly message: string;
}

/** What a folder holds. */
interface Records<T> {
  readonly records: readonly T[];
  readonly problems: readonly RecordProblem[];
}

/** What becomes of a record: another content, `'remove'`, or `null` for no change. */
export type Change<T> = (record: T) => T | 'remove' | null;

/** What sets one kind of records apart from the others. */
interface RecordFilesOptions<T> {
  /** Whose records they are, for messages. */
  readonly owner: string;
  /**
   * The folder. Made with mode 0700 by the first write; one that others can look into is not used.
   */
  readonly dir: string;
  /** What the names of records end with; names that end otherwise are not listed. */
  readonly suffix: string;
  /** For waiting until a lock is free, and for the age of drafts. */
  readonly clock: Clock;
  /**
   * Makes a record of the members of a file's JSON, `version` aside. They are none where the text
   * is no JSON object of version 1, or is cut off: `judge` decides what such a file stands for.
   * What it throws, the reader throws.
   */
  readonly judge: (members: Readonly<Record<string, unknown>>, name: string) => T;
}

/**
 * Names are file names inside the folder and must be made by the caller, never taken from outside.
 * Files are 0600; one that others can open, or that is a link, throws instead of being read. Not
 * for folders shared between machines.
 */
export interface RecordFiles<T> {
  /** Every record, by name. Empty where there is no folder yet. */
  list(): Promise<readonly string[]>;
  /** Frozen. */
  read(name: string): Promise<T | null>;
  /**
   * Every record that can be read, by the names of their files, and what is wrong with the others.
   */
  readAll(): Promise<Records<T>>;
  /** `list` without waiting. */
  listNow(): readonly string[];
  /** `read` without waiting. A file that was read so is read again only when it has changed. */
  readNow(name: string): T | null;
  /**
   * Makes the file with its content in one step, on disk when it returns; `false` when there is
   * such a file.
   */
  create(name: string, record: T): Promise<boolean>;
  /**
   * Reads, decides and replaces while no other process can do so; `false` when nothing was changed.
   */
  change(name: string, decide: Change<T>): Promise<boolean>;
  /**
   * Puts a record in the place of another, on disk when it returns. Only inside `exclusive` is
   * nothing lost by it.
   */
  replace(name: string, record: T): Promise<void>;
  /**
   * Runs `work` while no other process runs work under this name: for steps over several records.
   * `change` of the same name inside of it would wait for itself. The lock of a process that was
   * killed is taken over; one whose owner cannot be judged is not.
   */
  exclusive<R>(name: string, work: () => Promise<R>): Promise<R>;
  /** Removes drafts that a process left behind when it was killed, an hour ago at least. */
  removeDrafts(): Promise<void>;
}

/** The name of a file must not be made of what came from outside: a hash of it can be. */
export const nameHash = (text: string, length = 32): string =>
  createHash('sha256').update(text).digest('hex').slice(0, length);

/** A record holds a call's values some levels down. */
const MAX_DEPTH = MAX_JSON_DEPTH + 16;
const DRAFT_AGE_MS = 3_600_000;

/**
 * The files of one folder: JSON with `version: 1`, written as it is. To read the folder is to read
 * it all.
 */
export function recordFiles<T extends object>(options: RecordFilesOptions<T>): RecordFiles<T> {
  const { owner, dir, suffix, clock, judge } = options;
  const at = (name: string) => join(dir, name);
  const isRecord = (name: string) => name.endsWith(suffix);
  const makeFolder = async () => {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    isPrivateFolder(dir);
  };
  const exclusive = async <R>(name: string, work: () => Promise<R>) => {
    await makeFolder();
    return whileLocked(`${at(name)}.lock`, { owner, clock }, work);
  };
  const files: RecordFiles<T> = {
    list: async () => (isPrivateFolder(dir) ? (await readdir(dir)).filter(isRecord) : []),
    async read(name) {
      const text = isPrivateFolder(dir) ? await textOf(at(name)) : null;
      return text === null ? null : recordIn(text, name, judge);
    },
    readAll: () => readAll(files, dir),
    listNow: () => (isPrivateFolder(dir) ? readdirSync(dir).filter(isRecord) : []),
    readNow: readerNow(options),
    create: async (name, record) => makeFolder().then(() => created(dir, at(name), record)),
    change: (name, decide) =>
      exclusive(name, async () => {
        const record = await files.read(name);
        const after = record === null ? null : decide(record);
        if (after === null) return false;
        if (after === 'remove') await removed(dir, at(name));
        else await replaced(dir, at(name), after);
        return true;
      }),
    replace: async (name, record) => makeFolder().then(() => replaced(dir, at(name), record)),
    exclusive,
    async removeDrafts() {
      if (isPrivateFolder(dir)) await removeDrafts(dir, clock.now() - DRAFT_AGE_MS);
    },
  };
  return files;
}

async function readAll<T>(files: RecordFiles<T>, dir: string): Promise<Records<T>> {
  const records: T[] = [];
  const problems: RecordProblem[] = [];
  for (const name of (await files.list()).toSorted()) {
    try {
      const record = await files.read(name);
      if (record !== null) records.push(record);
    } catch (error) {
      problems.push({ file: join(dir, name), message: describeThrown(error) });
    }
  }
  return { records, problems };
}

/** Reads without waiting, and keeps each record until the stamp of its file is another one. */
function readerNow<T extends object>({
  owner,
  dir,
  judge,
}: RecordFilesOptions<T>): (name: string) => T | null {
  const seen = new Map<string, { readonly stamp: string; readonly record: T }>();
  return (name) => {
    const before = seen.get(name);
    const found = isPrivateFolder(dir) ? textNow(join(dir, name), before?.stamp) : null;
    if (found === null) return null;
    const { stamp, text } = found;
    const record = text === null ? before?.record : recordIn(text, name, judge);
    if (record === undefined) throw new Error(`${owner}: a file changed while it was read`);
    seen.set(name, { stamp, record });
    return record;
  };
}

function recordIn<T extends object>(
  text: string,
  name: string,
  judge: RecordFilesOptions<T>['judge'],
): T {
  const { version, ...members } = membersIn(text);
  const isReadable = version === 1 && !isDeeperThan(members, MAX_DEPTH);
  const record = judge(isReadable ? members : {}, name);
  // What was parsed and judged to be a record is JSON.
  return freezeParsed(record as unknown as JsonValue) as unknown as T;
}

/** The members of a JSON object; none where the text is none, or is cut off. */
function membersIn(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/**
 * Whether there is a folder. Throws for one that others can look into: what is in there may be
 * secret, or written by anybody.
 */
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

async function replaced(dir: string, path: string, record: object): Promise<void> {
  const draft = await drafted(path, record);
  try {
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await syncFolder(dir);
}

async function removed(dir: string, path: string): Promise<void> {
  await unlink(path);
  await syncFolder(dir);
}

async function removeDrafts(dir: string, before: number): Promise<void> {
  for (const name of (await readdir(dir)).filter((each) => each.endsWith('.part'))) {
    const path = join(dir, name);
    const found = await lstat(path).catch(() => null);
    if (found !== null && found.mtimeMs < before) await rm(path, { force: true });
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

async function textOf(path: string): Promise<string | null> {
  const file = await openRegularHandle(path, { access: 'read', secret: true });
  if (file === null) return null;
  try {
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

/** The text of a file, `text: null` for one with the stamp it had before, `null` for none. */
function textNow(
  path: string,
  before: string | undefined,
): { readonly stamp: string; readonly text: string | null } | null {
  const descriptor = openRegular(path, { access: 'read', secret: true });
  if (descriptor === null) return null;
  try {
    const found = fstatSync(descriptor, { bigint: true });
    const stamp = [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(' ');
    return { stamp, text: stamp === before ? null : readFileSync(descriptor, 'utf8') };
  } finally {
    closeSync(descriptor);
  }
}

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
