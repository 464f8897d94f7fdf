/** Pins that outlive a process and are shared by all processes of a machine. */

import { createHash } from 'node:crypto';
import { closeSync, fstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, systemClock } from '../../core/clock.ts';
import { describeThrown } from '../../core/errors.ts';
import {
  freezeParsed,
  isDeeperThan,
  isObject,
  type JsonValue,
  MAX_JSON_DEPTH,
} from '../../core/json.ts';
import { checkOptions, expected } from '../../core/options.ts';
import { stateFolder } from '../../core/state-folder.ts';
import { recordFiles } from '../../stores/record-files.ts';
import { checkFolder, openRegular } from '../../system/open-regular.ts';
import { isPinBook, type PinBook } from './pin-book.ts';
import type { PinStore } from './pin-store.ts';

export interface FilePinsOptions {
  /** The folder to keep pins in. Made with mode 0700; one that others can look into is refused. @default `pins` in the state folder */
  readonly dir?: string;
  /** Only for waiting until another process has written. @default the system's */
  readonly clock?: Clock;
}

/** A file that holds no pins, or that cannot be read. While it is there, every tool of its source is quarantined. */
export interface PinProblem {
  readonly file: string;
  readonly message: string;
}

export interface FilePins extends PinStore {
  /** Every book, by the name of its source. */
  list(): readonly PinBook[];
  /** What `list` leaves out. */
  problems(): readonly PinProblem[];
}

const SUFFIX = '.pins';

/**
 * One file a source, 0600, named by a hash of the source. Whoever can write to the folder accepts, and whoever can remove a file makes
 * its source a new one: keep it away from the tools of an agent. A file that was read is read again when it has changed.
 */
export function filePins(options: FilePinsOptions = {}): FilePins {
  checkOptions('filePins', options, { dir: expected.string, clock: expected.object });
  const { dir = join(stateFolder(), 'pins'), clock = systemClock } = options;
  const files = recordFiles<PinBook>({
    owner: 'filePins',
    dir,
    suffix: SUFFIX,
    clock,
    parse: parsed,
  });
  const seen = new Map<string, { readonly stamp: string; readonly book: PinBook }>();
  const bookIn = (name: string): PinBook | null => {
    const found = isPrivateFolder(dir) ? contentOf(join(dir, name), seen.get(name)?.stamp) : null;
    if (found === null) return null;
    const { stamp, text } = found;
    const book = text === null ? seen.get(name)?.book : parsed(text, name);
    if (book === undefined) throw new Error('filePins: a file changed while it was read');
    seen.set(name, { stamp, book });
    return book;
  };
  const judged = () => {
    const names = isPrivateFolder(dir)
      ? readdirSync(dir).filter((name) => name.endsWith(SUFFIX))
      : [];
    return names.toSorted().map((name) => bookOrProblem(dir, name, bookIn));
  };

  return Object.freeze<FilePins>({
    read: (source) => bookIn(fileName(source)),
    update: (source, change) => {
      const name = fileName(source);
      return files.exclusive(name, async () => {
        const before = bookIn(name);
        const after = change(before);
        if (after === null || after === before) return before;
        if (!isPinBook(after) || after.source !== source)
          throw new Error('filePins: what is to be kept are no pins of this source');
        await files.replace(name, after);
        return bookIn(name);
      });
    },
    list: () =>
      judged()
        .filter((each) => 'source' in each)
        .toSorted((a, b) => (a.source < b.source ? -1 : 1)),
    problems: () => judged().filter((each) => 'file' in each),
  });
}

const fileName = (source: string): string =>
  `${createHash('sha256').update(`source ${source}`).digest('hex').slice(0, 32)}${SUFFIX}`;

function bookOrProblem(
  dir: string,
  name: string,
  bookIn: (name: string) => PinBook | null,
): PinBook | PinProblem {
  const gone = { file: join(dir, name), message: 'filePins: the file has gone' };
  try {
    return bookIn(name) ?? gone;
  } catch (error) {
    return { ...gone, message: describeThrown(error) };
  }
}

/** Under another name it would be the pins of another source. */
function parsed(text: string, name: string): PinBook {
  const { version, ...book } = objectIn(text);
  if (version !== 1 || isDeeperThan(book, MAX_JSON_DEPTH))
    throw new Error('filePins: a file of the folder holds no pins');
  // What was parsed is JSON. Frozen before it is judged: what was hashed then stays what it was.
  const frozen: unknown = freezeParsed(book as unknown as JsonValue);
  if (!isPinBook(frozen) || fileName(frozen.source) !== name)
    throw new Error('filePins: a file of the folder holds no pins');
  return frozen;
}

function objectIn(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** Whether there is a folder. Throws for one that others can look into: anybody may have written there. */
const isPrivateFolder = (dir: string): boolean => checkFolder(dir, { secret: true });

/** The text of a file, `text: null` for one that is as it was, `null` for none. */
function contentOf(
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
