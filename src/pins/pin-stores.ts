/** Where pins are kept: in a folder, or in this process only. */

import { join } from 'node:path';
import type { JsonValue } from '../core/json/json-value.ts';
import { type Clock, systemClock } from '../core/time/clock.ts';
import { describeThrown } from '../core/contract/errors.ts';
import { freezeParsed, isDeeperThan, MAX_JSON_DEPTH } from '../core/json/json.ts';
import { checkOptions, expected } from '../core/contract/options.ts';
import { stateFolder } from '../system/state-folder.ts';
import { nameHash, recordFiles, type RecordProblem } from '../system/record-files.ts';
import { isPinBook, type PinBook, type PinStore } from './pin-book.ts';

/** Where `filePins` keeps pins. */
export interface FilePinsOptions {
  /**
   * The folder to keep pins in. Made with mode 0700; one that others can look into is refused.
   * @default `pins` in the state folder
   */
  readonly dir?: string;
  /** Only for waiting until another process has written. @default the system's */
  readonly clock?: Clock;
}

/**
 * A file that holds no pins, or that cannot be read. While it is there, every tool of its source is
 * quarantined.
 */
export type PinProblem = RecordProblem;

/** A `PinStore` in a folder. */
export interface FilePins extends PinStore {
  /** Every book, by the name of its source. */
  list(): readonly PinBook[];
  /** What `list` leaves out. */
  problems(): readonly PinProblem[];
}

const SUFFIX = '.pins';

/**
 * One file a source, 0600, named by a hash of the source. To write to the folder is to accept, and
 * to remove a file makes its source a new one: keep it away from the tools of an agent. A file that
 * was read is read again when it has changed.
 */
export function filePins(options: FilePinsOptions = {}): FilePins {
  checkOptions('filePins', options, { dir: expected.string, clock: expected.object });
  const { dir = join(stateFolder(), 'pins'), clock = systemClock } = options;
  const files = recordFiles<PinBook>({
    owner: 'filePins',
    dir,
    suffix: SUFFIX,
    clock,
    judge: judged,
  });
  const readEach = () =>
    files
      .listNow()
      .toSorted()
      .map((name) => bookOrProblem(join(dir, name), () => files.readNow(name)));
  return Object.freeze<FilePins>({
    read: (source) => files.readNow(fileName(source)),
    update: (source, change) => {
      const name = fileName(source);
      return files.exclusive(name, async () => {
        const before = files.readNow(name);
        const after = change(before);
        if (after === null || after === before) return before;
        if (!isPinBook(after) || after.source !== source)
          throw new Error('filePins: what is to be kept are no pins of this source');
        await files.replace(name, after);
        return files.readNow(name);
      });
    },
    list: () =>
      readEach()
        .filter((each) => 'source' in each)
        .toSorted((a, b) => (a.source < b.source ? -1 : 1)),
    problems: () => readEach().filter((each) => 'file' in each),
  });
}

const fileName = (source: string): string => `${nameHash(`source ${source}`)}${SUFFIX}`;

function bookOrProblem(file: string, read: () => PinBook | null): PinBook | PinProblem {
  try {
    return read() ?? { file, message: 'filePins: the file has gone' };
  } catch (error) {
    return { file, message: describeThrown(error) };
  }
}

/** Under another name it would be the pins of another source. */
function judged(members: Readonly<Record<string, unknown>>, name: string): PinBook {
  if (isDeeperThan(members, MAX_JSON_DEPTH)) throw noPins();
  // What was parsed is JSON. Frozen before it is judged: what was hashed then stays what it was.
  const frozen: unknown = freezeParsed(members as unknown as JsonValue);
  if (!isPinBook(frozen) || fileName(frozen.source) !== name) throw noPins();
  return frozen;
}

const noPins = (): Error => new Error('filePins: a file of the folder holds no pins');

/**
 * Keeps pins until the process ends: the next one trusts whatever is there first. For tests, and
 * for sources that live as long.
 */
export function memoryPins(): PinStore {
  const books = new Map<string, PinBook>();
  return Object.freeze<PinStore>({
    read: (source) => books.get(source) ?? null,
    update(source, change) {
      const before = books.get(source) ?? null;
      const after = change(before);
      if (after === null || after === before) return before;
      if (!isPinBook(after) || after.source !== source)
        throw new Error('memoryPins: what is to be kept are no pins of this source');
      books.set(source, after);
      return after;
    },
  });
}
