/**
 * Where grants are kept: in a folder that all processes of a machine share, or in this process
 * only.
 */

import { type Clock, systemClock } from '../../core/time/clock.ts';
import { checkOptions, expected } from '../../core/contract/options.ts';
import {
  nameHash,
  type RecordFiles,
  recordFiles,
  type RecordProblem,
} from '../../system/record-files.ts';
import type { Grant, GrantStore } from './grant.ts';
import {
  asKept,
  checkedGrant,
  deciding,
  demandGrantRoom,
  isGrant,
  listed,
  revokedBy,
  used,
} from './grant-rules.ts';

/** Where `fileGrants` keeps grants, and how many. */
export interface FileGrantsOptions {
  /**
   * The folder to keep grants in. Made with mode 0700; one that others can look into is refused.
   */
  readonly dir: string;
  /** Its wall clock is compared between processes. @default the system's */
  readonly clock?: Clock;
  /**
   * How many grants the folder keeps, about: other processes add to it, too. Those that have ended
   * make room first; a session that holds as many as it leaves free cannot add another one.
   * @default 10000
   */
  readonly maxGrants?: number;
}

/**
 * A file that is no grant, or that cannot be read. While it is there, no grant of its tool is used.
 */
export type GrantProblem = RecordProblem;

/** A `GrantStore` in a folder. */
export interface FileGrants extends GrantStore {
  /** What `list` leaves out. */
  problems(): Promise<readonly GrantProblem[]>;
  /** Removes grants whose time is over; answers how many. `add` does so for the tool it adds to. */
  sweep(): Promise<number>;
}

const SUFFIX = '.grant';

/**
 * One file a grant, 0600, named by hashes of its tool and its id. Whoever can write to the folder
 * grants. All steps about one tool are made one after another. A file that cannot be read makes
 * `use` throw for its tool: it may be the one that rejects.
 */
export function fileGrants(options: FileGrantsOptions): FileGrants {
  checkOptions('fileGrants', options, {
    dir: expected.required(expected.string),
    clock: expected.object,
    maxGrants: expected.integer(1),
  });
  const { dir, clock = systemClock, maxGrants = 10_000 } = options;
  const files = recordFiles({ owner: 'fileGrants', dir, suffix: SUFFIX, clock, judge: judged });
  const now = () => clock.now();
  const keep = (name: string, grant: Grant) => files.replace(name, asKept(grant, now()));

  return Object.freeze<FileGrants>({
    async add(given) {
      const grant = checkedGrant('fileGrants', given);
      await makeRoom(files, grant, maxGrants, now());
      await files.exclusive(toolPart(grant.toolName), async () => {
        if ((await named(files, idPart(grant.id))).length > 0)
          throw new Error('fileGrants: there is a grant of that id');
        await removeExpired(files, await named(files, toolPart(grant.toolName)), now());
        await files.create(fileName(grant), asKept(grant, now()));
      });
    },
    async use(query) {
      const tool = toolPart(query.toolName);
      // Most calls have no grant: they need no lock.
      if ((await named(files, tool)).length === 0) return null;
      return files.exclusive(tool, async () => {
        const found = deciding(await readAll(files, await named(files, tool)), query, now());
        if (found === null) return null;
        const after = used(found);
        await keep(fileName(after), after);
        return after;
      });
    },
    async list(filter = {}) {
      return listed((await files.readAll()).records, filter, now());
    },
    async problems() {
      return (await files.readAll()).problems;
    },
    async get(id) {
      return (await readAll(files, await named(files, idPart(id))))[0] ?? null;
    },
    async revoke(id, by) {
      const [name] = await named(files, idPart(id));
      if (name === undefined) return false;
      return files.exclusive(name.slice(0, HASH_LENGTH), async () => {
        const grant = await files.read(name);
        const after = grant === null ? null : revokedBy(grant, by, now());
        if (after !== null) await keep(name, after);
        return after !== null;
      });
    },
    sweep: () => sweepAll(files, now),
  });
}

const HASH_LENGTH = 32;
const toolPart = (toolName: string): string => nameHash(`tool ${toolName}`, HASH_LENGTH);
const idPart = (id: string): string => nameHash(`id ${id}`, HASH_LENGTH);
const fileName = ({ toolName, id }: Grant): string =>
  `${toolPart(toolName)}-${idPart(id)}${SUFFIX}`;

const named = async (files: RecordFiles<Grant>, part: string): Promise<readonly string[]> =>
  (await files.list()).filter((name) => name.includes(part)).sort();

async function readAll(
  files: RecordFiles<Grant>,
  names: readonly string[],
): Promise<readonly Grant[]> {
  const grants = await Promise.all(names.map((name) => files.read(name)));
  return grants.filter((grant) => grant !== null);
}

/**
 * Removes grants where the folder has no room for another one. Done before the lock of that grant's
 * tool is taken: what goes may be of another tool, whose steps are made under its own lock.
 */
async function makeRoom(
  files: RecordFiles<Grant>,
  grant: Grant,
  maxGrants: number,
  now: number,
): Promise<void> {
  // A folder that is not half full has room for any session, and need not be read.
  if ((await files.list()).length * 2 < maxGrants) return;
  const kept = listed((await files.readAll()).records, { ended: true }, now);
  for (const goes of demandGrantRoom('fileGrants', kept, grant, maxGrants, now))
    await files.exclusive(toolPart(goes.toolName), () =>
      files.change(fileName(goes), () => 'remove'),
    );
}

async function sweepAll(files: RecordFiles<Grant>, now: () => number): Promise<number> {
  let removed = 0;
  const tools = new Set((await files.list()).map((name) => name.slice(0, HASH_LENGTH)));
  for (const tool of tools)
    removed += await files.exclusive(tool, async () =>
      removeExpired(files, await named(files, tool), now()),
    );
  await files.removeDrafts();
  return removed;
}

/** A file that cannot be read stays: `problems` tells of it, and a person has to look. */
async function removeExpired(
  files: RecordFiles<Grant>,
  names: readonly string[],
  now: number,
): Promise<number> {
  let removed = 0;
  for (const name of names) {
    const grant = await files.read(name).catch(() => null);
    if (grant === null || now < Date.parse(grant.expiresAt)) continue;
    if (await files.change(name, () => 'remove')) removed += 1;
  }
  return removed;
}

/** A grant under another name would be a second one with uses of its own. */
function judged(members: Readonly<Record<string, unknown>>, name: string): Grant {
  if (isGrant(members) && fileName(members) === name) return members;
  throw new Error('fileGrants: a file of the folder is no grant');
}

/** How many grants `memoryGrants` keeps. */
export interface MemoryGrantsOptions {
  /**
   * How many grants are kept. Those that have ended make room first; a session that holds as many
   * as it leaves free cannot add another one.
   * @default 1000
   */
  readonly maxGrants?: number;
  /** @default the system's */
  readonly clock?: Clock;
}

/**
 * Keeps grants in this process only: another process neither sees them nor what was revoked here.
 * Where many sessions fill it, the one with the most live grants loses the oldest that allows: a
 * person is asked again.
 */
export function memoryGrants(options: MemoryGrantsOptions = {}): GrantStore {
  checkOptions('memoryGrants', options, { maxGrants: expected.integer(1), clock: expected.object });
  const { maxGrants = 1000, clock = systemClock } = options;
  const grants = new Map<string, Grant>();
  const keep = (grant: Grant) => void grants.set(grant.id, asKept(grant, clock.now()));

  return Object.freeze<GrantStore>({
    add(given) {
      const grant = checkedGrant('memoryGrants', given);
      if (grants.has(grant.id)) throw new Error('memoryGrants: there is a grant of that id');
      for (const { id } of demandGrantRoom(
        'memoryGrants',
        [...grants.values()],
        grant,
        maxGrants,
        clock.now(),
      ))
        grants.delete(id);
      keep(grant);
    },
    use(query) {
      const found = deciding([...grants.values()], query, clock.now());
      if (found === null) return null;
      const after = used(found);
      keep(after);
      return after;
    },
    list: (filter = {}) => listed([...grants.values()], filter, clock.now()),
    get: (id) => grants.get(id) ?? null,
    revoke(id, by) {
      const grant = grants.get(id);
      const after = grant === undefined ? null : revokedBy(grant, by, clock.now());
      if (after !== null) keep(after);
      return after !== null;
    },
  });
}
