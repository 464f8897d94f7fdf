/** Claims that outlive a process and are shared by all processes of a machine. */

import { type Clock, systemClock } from '../../core/time/clock.ts';
import { AlliumError } from '../../core/contract/errors.ts';
import { checkOptions, expected } from '../../core/contract/options.ts';
import {
  DEFAULT_TTL_MS,
  ended,
  isForgotten,
  mayEnd,
  mayReplace,
  opened,
  renewed,
  seenAt,
  type StoredClaim,
} from '../claim-rules.ts';
import type { Claimed, ClaimRequest, ClaimStore } from '../claim-store.ts';
import { type Change, nameHash, type RecordFiles, recordFiles } from '../../system/record-files.ts';
import { isObject } from '../../core/json/json.ts';

/** Where `fileClaims` keeps claims, how many, and for how long. */
export interface FileClaimsOptions {
  /**
   * The folder to keep claims in. Made with mode 0700; one that others can look into is refused.
   */
  readonly dir: string;
  /** How long the end of a call is remembered, where `complete` does not say. @default 600000 */
  readonly ttlMs?: number;
  /** Its wall clock is compared between processes. @default the system's */
  readonly clock?: Clock;
  /**
   * How many claims the folder keeps, about: other processes add to it, too. One owner may hold as
   * many as it leaves free.
   * @default 100000
   */
  readonly maxKeys?: number;
}

/** A `ClaimStore` in a folder. */
export interface FileClaims extends ClaimStore {
  /**
   * Removes what may be forgotten; answers how many claims that were. A folder that is half full is
   * swept by `claim`, once a minute at most.
   */
  sweep(): Promise<number>;
}

const SUFFIX = '.claim';
const MAX_TRIES = 100;

/**
 * One file a key, 0600, named by a hash. A claim is on disk before `claim` answers, so a process
 * that is killed leaves its claim behind. Answers are written as they are: to read the folder is to
 * read what tools answered. Needs a file system with hard links, and does not trust one that is
 * shared between machines to make a file exclusively.
 */
export function fileClaims(options: FileClaimsOptions): FileClaims {
  checkOptions('fileClaims', options, {
    dir: expected.required(expected.string),
    ttlMs: expected.integer(1),
    clock: expected.object,
    maxKeys: expected.integer(1),
  });
  const { dir, ttlMs = DEFAULT_TTL_MS, clock = systemClock, maxKeys = 100_000 } = options;
  const files = recordFiles({ owner: 'fileClaims', dir, suffix: SUFFIX, clock, judge: judged });
  const now = () => clock.now();
  const change = (key: string, decide: Change<StoredClaim>) =>
    files.change(claimFileName(key), decide);
  const room = claimRoom({
    maxKeys,
    clock,
    list: () => files.list(),
    sweep: () => removeForgotten(files, now),
  });
  const tryClaim = async (name: string, request: ClaimRequest): Promise<Claimed | null> => {
    const before = await files.read(name);
    if (before === null) {
      await room.demand(request.owner);
      const isMine = await files.create(name, opened(request, now()));
      if (isMine) room.add(name, request.owner);
      return isMine ? { won: true } : null;
    }
    if (!mayReplace(before, request, now())) return { won: false, record: seenAt(before, now()) };
    const took = await files.change(name, (claim) =>
      mayReplace(claim, request, now()) ? opened(request, now()) : null,
    );
    return took ? { won: true } : null;
  };

  return Object.freeze<FileClaims>({
    async claim(key, request) {
      const name = claimFileName(key);
      // A process that loses the race for a file reads what the other one wrote. Meanwhile the
      // claim may change hands, but only so often.
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        const claimed = await tryClaim(name, request);
        if (claimed !== null) return claimed;
      }
      throw new Error('fileClaims: a key changes hands too often to be claimed');
    },
    complete: (key, token, ending) =>
      change(key, (claim) => ended(claim, token, ending, now() + (ending.ttlMs ?? ttlMs))),
    async release(key, token) {
      const isReleased = await change(key, (claim) => (mayEnd(claim, token) ? 'remove' : null));
      if (isReleased) room.remove(claimFileName(key));
      return isReleased;
    },
    renew: (key, token, leaseMs) => change(key, (claim) => renewed(claim, token, leaseMs, now())),
    async get(key) {
      const claim = await files.read(claimFileName(key));
      return claim === null || isForgotten(claim, now()) ? null : seenAt(claim, now());
    },
    sweep: () => room.sweep(),
  });
}

/** Answers the names of what is left in the folder. */
async function removeForgotten(
  files: RecordFiles<StoredClaim>,
  now: () => number,
): Promise<readonly string[]> {
  const mayGo = (claim: StoredClaim) => isForgotten(claim, now());
  const kept: string[] = [];
  for (const name of await files.list()) {
    // A file that cannot be opened stays, and takes its room: a person has to look.
    const claim = await files.read(name).catch(() => undefined);
    if (claim === null) continue;
    const isGone =
      claim !== undefined &&
      mayGo(claim) &&
      (await files.change(name, (current) => (mayGo(current) ? 'remove' : null)));
    if (!isGone) kept.push(name);
  }
  await files.removeDrafts();
  return kept;
}

const SWEEP_MS = 60_000;

interface ClaimRoom {
  /** Throws `ERR_STORE_FULL` where there is no room for another claim of this owner. */
  demand(owner: string | undefined): Promise<void>;
  add(name: string, owner: string | undefined): void;
  remove(name: string): void;
  /** Answers how many claims went. */
  sweep(): Promise<number>;
}

interface ClaimRoomParts {
  readonly maxKeys: number;
  readonly clock: Clock;
  readonly list: () => Promise<readonly string[]>;
  /** Removes what may be forgotten; answers what is left. */
  readonly sweep: () => Promise<readonly string[]>;
}

/**
 * Counts the claims of a folder without reading it for every claim: it is listed once, and again
 * whenever it is swept.
 */
function claimRoom({ maxKeys, clock, list, sweep }: ClaimRoomParts): ClaimRoom {
  let count: number | null = null;
  let sweptAt = Number.NEGATIVE_INFINITY;
  /** Claims that this process made, by whom they are for. */
  const owned = new Map<string, string>();
  const swept = async (): Promise<number> => {
    sweptAt = clock.monotonic();
    const before = (await list()).length;
    const kept = new Set(await sweep());
    for (const name of owned.keys()) if (!kept.has(name)) owned.delete(name);
    count = kept.size;
    return Math.max(0, before - kept.size);
  };
  const isFullFor = (owner: string | undefined): boolean => {
    const free = maxKeys - (count ?? 0);
    if (free <= 0 || owner === undefined) return free <= 0;
    // Only near the bound: most of the time no owner need be counted.
    if (owned.size < free) return false;
    let own = 0;
    for (const each of owned.values()) if (each === owner) own += 1;
    return own >= free;
  };
  return {
    async demand(owner) {
      count ??= (await list()).length;
      if (count * 2 >= maxKeys && clock.monotonic() - sweptAt >= SWEEP_MS) await swept();
      if (!isFullFor(owner)) return;
      const retryAfterMs = Math.max(1, Math.ceil(sweptAt + SWEEP_MS - clock.monotonic()));
      throw new AlliumError(
        'ERR_STORE_FULL',
        'fileClaims: the folder has no room for another claim',
        { retryAfterMs },
      );
    },
    add(name, owner) {
      count = (count ?? 0) + 1;
      if (owner !== undefined) owned.set(name, owner);
    },
    remove(name) {
      count = Math.max(0, (count ?? 1) - 1);
      owned.delete(name);
    },
    sweep: swept,
  };
}

/** Keys come from outside and may be of any length; file names do not. */
const claimFileName = (key: string): string => `${nameHash(key, 64)}${SUFFIX}`;

/** Half a file, or one that was edited, says that there was a claim and nothing else. */
const UNREADABLE: StoredClaim = Object.freeze({
  state: 'unknown',
  fingerprint: null,
  token: '',
  leaseMs: 0,
  leaseUntil: 0,
  forgetAt: null,
  answer: null,
});

const judged = (members: Readonly<Record<string, unknown>>): StoredClaim =>
  isStored(members) ? members : UNREADABLE;

const STATES: readonly unknown[] = ['in_progress', 'done', 'unknown'];

function isStored(
  members: Readonly<Record<string, unknown>>,
): members is StoredClaim & Readonly<Record<string, unknown>> {
  const { state, fingerprint, token, leaseMs, leaseUntil, forgetAt, answer } = members;
  const texts = typeof fingerprint === 'string' && typeof token === 'string' && token !== '';
  const times =
    Number.isFinite(leaseMs) &&
    Number.isFinite(leaseUntil) &&
    (forgetAt === null || Number.isFinite(forgetAt));
  return STATES.includes(state) && texts && times && (answer === null || isObject(answer));
}
