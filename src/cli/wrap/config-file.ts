/**
 * A client's configuration on disk: read whole, copied before it is changed, replaced in one step
 * or not at all.
 */

import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { link, open, readdir, readFile, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { syncFolder } from '../../receipts/chain-files.ts';
import { refused } from './problem.ts';
import { codeOf } from '../io/failure.ts';
import type { ConfigLanguage } from './wrap-text.ts';

const MAX_BYTES = 64 * 1024 * 1024;
const MAX_COPIES = 1000;

/** A file as it was read. */
export interface ConfigFile {
  /** As it was named. Copies are put beside this one, not where a link leads to. */
  readonly path: string;
  /** What is replaced: the file itself, also where the name is a link to it. */
  readonly target: string;
  readonly bytes: Buffer;
  readonly text: string;
  readonly language: ConfigLanguage;
  readonly mode: number;
  readonly owner: { readonly uid: number; readonly gid: number };
}

/**
 * Reads the file. Throws `ERR_CLIENT_CONFIG` for what is no file of its own, too large or not
 * UTF-8.
 */
export async function readConfigFile(path: string): Promise<ConfigFile> {
  const target = await realpath(path);
  // Not waiting: a pipe has no end.
  const handle = await open(target, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stats = await handle.stat();
    const { mode, uid, gid, size, nlink } = stats;
    if (!stats.isFile()) throw refused('unreadable', `${path} is no file`, path);
    if (size > MAX_BYTES)
      throw refused('unreadable', `${path} is larger than ${MAX_BYTES} bytes`, path);
    if (nlink > 1)
      throw refused(
        'not_replaceable',
        `${path} has other names (hard links), which would be left behind`,
        path,
      );
    const bytes = await handle.readFile();
    return {
      path,
      target,
      bytes,
      text: textOf(bytes, path),
      language: languageOf(path),
      mode: mode & 0o777,
      owner: { uid, gid },
    };
  } finally {
    await handle.close();
  }
}

const languageOf = (path: string): ConfigLanguage => (/\.toml$/i.test(path) ? 'toml' : 'json');

function textOf(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw refused('unreadable', `${path} is not UTF-8`, path);
  }
}

/**
 * The copies that were made of a file, oldest first. A copy that cannot be read as text is left
 * out.
 */
export async function copiesOf({ path }: ConfigFile): Promise<readonly string[]> {
  const base = `${basename(path)}.allium-backup`;
  const numbers = (await readdir(dirname(path))).flatMap((name) => {
    const [, number = '0'] = (name.startsWith(base)
      ? /^(?:\.([1-9]\d{0,3}))?$/.exec(name.slice(base.length))
      : null) ?? ['', 'none'];
    return number === 'none' ? [] : [Number(number)];
  });
  const texts = await Promise.all(
    numbers
      .sort((one, other) => one - other)
      .map(async (number) => {
        try {
          return textOf(await readFile(copyName(path, number)), path);
        } catch {
          return null;
        }
      }),
  );
  return texts.filter((text) => text !== null);
}

const copyName = (path: string, number: number): string =>
  `${path}.allium-backup${number === 0 ? '' : `.${number}`}`;

/**
 * Puts a copy beside the file, as private as the file is. A copy that is there already is kept: the
 * next one has a number.
 */
export async function copyFile(file: ConfigFile): Promise<string> {
  const draft = await drafted(file.path, file.bytes, file);
  try {
    for (let number = 0; number < MAX_COPIES; number += 1) {
      const name = copyName(file.path, number);
      // A link, because it does not replace what is there.
      const problem = await link(draft, name).then(() => null, codeOf);
      if (problem === null) return name;
      if (problem !== 'EEXIST')
        throw refused(
          'not_replaceable',
          `no copy could be put beside ${file.path} (${problem})`,
          file.path,
        );
      if ((await readFile(name).catch(() => null))?.equals(file.bytes) === true) return name;
    }
    throw refused(
      'not_replaceable',
      `there are ${MAX_COPIES} copies of ${file.path} already`,
      file.path,
    );
  } finally {
    await rm(draft, { force: true });
    syncFolder(dirname(file.path));
  }
}

/**
 * Puts a text in the place of the file, unless somebody else has changed it since it was read or
 * the signal says to stop. Whoever reads the file sees all of the old text or all of the new one,
 * also after a crash. Between the last look and the replacing there is a moment in which a change
 * of somebody else would be lost: close the client before.
 */
export async function replaceFile(
  file: ConfigFile,
  text: string,
  signal: AbortSignal,
): Promise<void> {
  const draft = await drafted(file.target, Buffer.from(text), file);
  try {
    const now = await readFile(file.target).catch(() => null);
    const target = await realpath(file.path).catch(() => null);
    if (now?.equals(file.bytes) !== true || target !== file.target)
      throw refused(
        'changed_meanwhile',
        `${file.path} was changed by somebody else meanwhile; nothing was written, try again`,
        file.path,
      );
    signal.throwIfAborted();
    await rename(draft, file.target);
  } finally {
    await rm(draft, { force: true });
  }
  syncFolder(dirname(file.target));
}

/** The content in a file of its own, on disk, with the rights of the file it is for. */
async function drafted(path: string, bytes: Buffer, { mode, owner }: ConfigFile): Promise<string> {
  const draft = join(dirname(path), `.${basename(path)}.${randomUUID()}.part`);
  // Nobody else may read it before it has its rights.
  const handle = await open(draft, 'wx', 0o600);
  try {
    const { uid, gid } = await handle.stat();
    if (uid !== owner.uid || gid !== owner.gid)
      await handle.chown(owner.uid, owner.gid).catch(() => ownerLost(path, uid !== owner.uid));
    await handle.chmod(mode);
    await handle.writeFile(bytes);
    await handle.sync();
    return draft;
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
}

/**
 * Another group is only narrower or wider by the mode, which is kept; another owner could not read
 * the file any more.
 */
function ownerLost(path: string, isOther: boolean): void {
  if (isOther)
    throw refused(
      'not_replaceable',
      `${path} belongs to somebody else, and would not any more`,
      path,
    );
}
