/** Claims as files: whole or not at all, made by one process only, changed by one process at a time. */

import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { link, lstat, mkdir, open, readdir, rename, rm, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../core/clock.ts';
import { isObject } from '../core/json.ts';
import type { StoredClaim } from './claim-rules.ts';

/** What becomes of a claim: another content, `'remove'`, or `null` for no change. */
export type Change = (claim: StoredClaim) => StoredClaim | 'remove' | null;

export interface ClaimFiles {
  /** Every file of a claim, by name. */
  list(): Promise<readonly string[]>;
  read(name: string): Promise<StoredClaim | null>;
  /** Makes the file with its content in one step, on disk when it returns; `false` when somebody else has. */
  create(name: string, claim: StoredClaim): Promise<boolean>;
  /** Reads, decides and replaces while no other process can do so; `false` when nothing was changed. */
  change(name: string, decide: Change): Promise<boolean>;
  /** Removes drafts that a process left behind when it was killed. */
  removeDrafts(before: number): Promise<void>;
}

/** Keys come from outside and may be of any length; file names do not. */
export const claimFileName = (key: string): string => `${createHash('sha256').update(key).digest('hex')}.claim`;

const LOCK_RETRY_MS = 5;
const LOCK_WAIT_MS = 5000;

export function claimFiles(dir: string, clock: Clock): ClaimFiles {
  let checked: Promise<void> | null = null;
  const folder = () => (checked ??= privateFolder(dir).catch((error: unknown) => ((checked = null), Promise.reject(error))));
  const at = (name: string) => join(dir, name);
  const read = async (name: string) => parsed(await textOf(at(name)));

  return {
    async list() {
      await folder();
      return (await readdir(dir)).filter((name) => name.endsWith('.claim'));
    },
    async read(name) {
      await folder();
      return read(name);
    },
    async create(name, claim) {
      await folder();
      const draft = await drafted(at(name), claim);
      try {
        await link(draft, at(name));
        await syncFolder(dir);
        return true;
      } catch (error) {
        if (isCode(error, 'EEXIST')) return false;
        throw error;
      } finally {
        await rm(draft, { force: true });
      }
    },
    async change(name, decide) {
      await folder();
      return locked(`${at(name)}.lock`, clock, async () => {
        const claim = await read(name);
        const after = claim === null ? null : decide(claim);
        if (after === null) return false;
        if (after === 'remove') await unlink(at(name));
        else await rename(await drafted(at(name), after), at(name));
        await syncFolder(dir);
        return true;
      });
    },
    async removeDrafts(before) {
      const drafts = (await readdir(dir)).filter((name) => name.endsWith('.part'));
      for (const name of drafts) {
        const age = await stat(at(name)).catch(() => null);
        if (age !== null && age.mtimeMs < before) await rm(at(name), { force: true });
      }
    },
  };
}

/** Answers of tools lie in there: a folder that others can look into is not used. */
async function privateFolder(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const found = await lstat(dir);
  if (!found.isDirectory()) throw new Error('fileClaims: "dir" is not a folder');
  if (process.platform !== 'win32' && (found.mode & 0o077) !== 0) {
    throw new Error('fileClaims: "dir" is open to other users of the machine; make it mode 0700');
  }
}

/** The claim in a file of its own, on disk, not yet under its name. */
async function drafted(path: string, claim: StoredClaim): Promise<string> {
  const draft = `${path}.${randomUUID()}.part`;
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(JSON.stringify({ version: 1, ...claim }));
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

/**
 * A lock that a killed process left is not broken: whoever breaks one may break the next owner's as well. The claim
 * behind it can still be read, it just cannot change any more.
 */
async function locked<T>(path: string, clock: Clock, work: () => Promise<T>): Promise<T> {
  for (let waited = 0; !(await tryLock(path)); waited += LOCK_RETRY_MS) {
    if (waited >= LOCK_WAIT_MS) throw new Error('fileClaims: a claim stays locked; a process may have died while it changed it');
    await new Promise<void>((resolve) => void clock.after(LOCK_RETRY_MS, resolve));
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function tryLock(path: string): Promise<boolean> {
  try {
    await (await open(path, 'wx', 0o600)).close();
    return true;
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false;
    throw error;
  }
}

async function textOf(path: string): Promise<string | null> {
  try {
    // Not through a link: it would lead out of the folder that was checked.
    const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    try {
      return await file.readFile('utf8');
    } finally {
      await file.close();
    }
  } catch (error) {
    if (isCode(error, 'ENOENT')) return null;
    throw error;
  }
}

const isCode = (error: unknown, code: string): boolean => error instanceof Error && 'code' in error && error.code === code;

/** Half a file, or one that somebody edited, says that there was a claim and nothing else. */
const UNREADABLE: StoredClaim = Object.freeze({
  state: 'unknown',
  fingerprint: null,
  token: '',
  leaseMs: 0,
  leaseUntil: 0,
  forgetAt: null,
  answer: null,
});

function parsed(text: string | null): StoredClaim | null {
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isStored(value) ? value : UNREADABLE;
  } catch {
    return UNREADABLE;
  }
}

const STATES: readonly unknown[] = ['in_progress', 'done', 'unknown'];

function isStored(value: unknown): value is StoredClaim & { readonly version: 1 } {
  if (!isObject(value) || value.version !== 1 || !STATES.includes(value.state)) return false;
  const { fingerprint, token, leaseMs, leaseUntil, forgetAt, answer } = value;
  const texts = typeof fingerprint === 'string' && typeof token === 'string' && token !== '';
  const times = Number.isFinite(leaseMs) && Number.isFinite(leaseUntil) && (forgetAt === null || Number.isFinite(forgetAt));
  return texts && times && (answer === null || isObject(answer));
}
