/**
 * Opens the files of the state folder. A path there may have been replaced by a pipe, a link, a
 * folder, a device or a file of another user: none of them is waited for, followed or written to,
 * and the error names the path.
 */

import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  type Stats,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { AlliumError } from '../core/contract/errors.ts';

/** How a file is opened. */
export interface OpenHow {
  /** `update` reads and writes, `append` writes behind the end, `extend` reads and appends. */
  readonly access: 'read' | 'update' | 'append' | 'extend';
  /**
   * `new` fails with `EEXIST` where the name is taken; `missing` makes the file where there is
   * none. @default it must be there
   */
  readonly create?: 'new' | 'missing';
  /** What is written is on disk when the write returns. @default false */
  readonly durable?: boolean;
  /** Refuses a file that others can read. @default false */
  readonly secret?: boolean;
  /**
   * `anyone`: for readers that prove what they read by signatures. Never for writing. @default
   * 'mine'
   */
  readonly owner?: 'mine' | 'anyone';
}

const { O_APPEND, O_CREAT, O_EXCL, O_RDONLY, O_RDWR, O_WRONLY } = constants;
// Windows has none of these.
const [O_NOFOLLOW, O_NONBLOCK, O_DSYNC] = [
  constants.O_NOFOLLOW ?? 0,
  constants.O_NONBLOCK ?? 0,
  constants.O_DSYNC ?? 0,
];

const ACCESS = Object.freeze({
  read: O_RDONLY,
  update: O_RDWR,
  append: O_WRONLY | O_APPEND,
  extend: O_RDWR | O_APPEND,
});
const CREATE = Object.freeze({ new: O_CREAT | O_EXCL, missing: O_CREAT });

const flagsOf = ({ access, create, durable }: OpenHow): number =>
  ACCESS[access] |
  (create === undefined ? 0 : CREATE[create]) |
  (durable === true ? O_DSYNC : 0) |
  O_NOFOLLOW |
  O_NONBLOCK;

/**
 * Opens a plain file of this user, made with mode 0600. Answers `null` where there is none, and
 * throws `ERR_UNSAFE_FILE` with the path for anything else than such a file. Does not look at the
 * folders above it: `checkFolder` does.
 */
export function openRegular(path: string, how: OpenHow): number | null {
  let file: number;
  try {
    file = openSync(path, flagsOf(how), 0o600);
  } catch (error) {
    return nullIfMissing(path, error);
  }
  try {
    checkFile(path, fstatSync(file), how);
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/** `openRegular` without blocking the process, for those who hold a `FileHandle`. */
export async function openRegularHandle(path: string, how: OpenHow): Promise<FileHandle | null> {
  let file: FileHandle;
  try {
    file = await open(path, flagsOf(how), 0o600);
  } catch (error) {
    return nullIfMissing(path, error);
  }
  try {
    checkFile(path, await file.stat(), how);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * Makes a folder with mode 0700, whatever the umask. One that is there must be this user's, and no
 * link.
 */
export function makeFolder(folder: string): void {
  const first = mkdirAt(folder);
  if (first !== undefined) chmodSync(folder, 0o700);
  checkFolder(folder);
}

/**
 * Over anything but a folder `mkdir` throws `EEXIST` (a file) or follows (a link): `checkFolder`
 * names both.
 */
function mkdirAt(folder: string): string | undefined {
  try {
    return mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return undefined;
    throw error;
  }
}

/**
 * Whether there is a folder. Throws `ERR_UNSAFE_FILE` where the path is a link or another thing,
 * belongs to another user, or can be written to by others; with `secret` also where others can look
 * into it.
 */
export function checkFolder(
  folder: string,
  { secret = false }: { readonly secret?: boolean } = {},
): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found === undefined) return false;
  if (!found.isDirectory()) throw unsafe(folder, `is ${kindOf(found)}, not a folder`);
  const problem = privacyProblem(found, secret, '0700');
  if (problem !== null) throw unsafe(folder, problem);
  return true;
}

function checkFile(path: string, found: Stats, { access, owner, secret = false }: OpenHow): void {
  if (!found.isFile()) throw unsafe(path, `is ${kindOf(found)}, not a file`);
  if (owner === 'anyone') return;
  const problem = privacyProblem(found, secret, '0600');
  if (problem !== null) throw unsafe(path, problem);
  // A second name may lead to any file of this user. Files that are made by `link` have two names
  // for a moment; those are only read.
  if (access !== 'read' && found.nlink > 1)
    throw unsafe(path, 'has a second name elsewhere (a hard link)');
}

function privacyProblem({ uid, mode }: Stats, secret: boolean, wanted: string): string | null {
  // On Windows neither says anything.
  if (process.geteuid === undefined) return null;
  if (uid !== process.geteuid()) return 'belongs to another user';
  if ((mode & 0o022) !== 0)
    return `can be changed by other users of the machine; make it mode ${wanted}`;
  return secret && (mode & 0o077) !== 0
    ? `is open to other users of the machine; make it mode ${wanted}`
    : null;
}

function kindOf(found: Stats): string {
  if (found.isFile()) return 'a file';
  if (found.isDirectory()) return 'a folder';
  if (found.isSymbolicLink()) return 'a link';
  if (found.isFIFO()) return 'a pipe';
  return found.isSocket() ? 'a socket' : 'a device';
}

/** What the system says before there is anything to look at. */
const REFUSED: Readonly<Record<string, string>> = Object.freeze({
  ELOOP: 'is a link, not a file',
  EMLINK: 'is a link, not a file',
  ENXIO: 'is a pipe, a socket or a device, not a file',
  ENODEV: 'is a device, not a file',
  EISDIR: 'is a folder, not a file',
  EACCES: 'may not be opened: it belongs to another user, or its mode forbids it',
  EPERM: 'may not be opened: it belongs to another user, or is protected',
});

function nullIfMissing(path: string, error: unknown): null {
  const code = codeOf(error);
  if (code === 'ENOENT') return null;
  const problem = REFUSED[code];
  throw problem === undefined ? error : unsafe(path, problem, error);
}

// Every error of the file system has a code.
const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';

function unsafe(path: string, problem: string, cause?: unknown): AlliumError {
  return new AlliumError(
    'ERR_UNSAFE_FILE',
    `${path} ${problem}`,
    {},
    cause === undefined ? {} : { cause },
  );
}
