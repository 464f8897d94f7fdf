/** Claims that outlive a process and are shared by all processes of a machine. */

import { type Clock, systemClock } from '../core/clock.ts';
import { checkOptions, expected } from '../core/options.ts';
import { claimFileName, claimFiles } from './claim-files.ts';
import { DEFAULT_TTL_MS, ended, isForgotten, mayRelease, mayReplace, opened, renewed, type StoredClaim, seenAt } from './claim-rules.ts';
import type { Claimed, ClaimRequest, ClaimStore } from './claim-store.ts';
import type { Change } from './record-files.ts';

export interface FileClaimsOptions {
  /** The folder to keep claims in. Made with mode 0700; one that others can look into is refused. */
  readonly dir: string;
  /** How long the end of a call is remembered, where whoever completes it does not say. @default 600000 */
  readonly ttlMs?: number;
  /** Its wall clock is compared between processes. @default the system's */
  readonly clock?: Clock;
}

export interface FileClaims extends ClaimStore {
  /** Removes what may be forgotten; answers how many claims that were. Nothing else ever does: call it now and then. */
  sweep(): Promise<number>;
}

const DRAFT_AGE_MS = 3_600_000;
const MAX_TRIES = 100;

/**
 * One file a key, 0600, named by a hash. A claim is on disk before `claim` answers, so a process that is killed leaves
 * its claim behind. Answers are written as they are: whoever can read the folder reads what tools answered. Needs a file
 * system with hard links, and does not trust one that is shared between machines to make a file exclusively.
 */
export function fileClaims(options: FileClaimsOptions): FileClaims {
  checkOptions('fileClaims', options, {
    dir: expected.required(expected.string),
    ttlMs: expected.integer(1),
    clock: expected.object,
  });
  const { dir, ttlMs = DEFAULT_TTL_MS, clock = systemClock } = options;
  const files = claimFiles(dir, clock);
  const now = () => clock.now();
  const change = (key: string, decide: Change<StoredClaim>) => files.change(claimFileName(key), decide);
  const tryClaim = async (name: string, request: ClaimRequest): Promise<Claimed | null> => {
    const before = await files.read(name);
    if (before === null) return (await files.create(name, opened(request, now()))) ? { won: true } : null;
    if (!mayReplace(before, request, now())) return { won: false, record: seenAt(before, now()) };
    const took = await files.change(name, (claim) => (mayReplace(claim, request, now()) ? opened(request, now()) : null));
    return took ? { won: true } : null;
  };

  return Object.freeze<FileClaims>({
    async claim(key, request) {
      const name = claimFileName(key);
      // Whoever comes second reads what the first one wrote; a key can only change hands so often meanwhile.
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        const claimed = await tryClaim(name, request);
        if (claimed !== null) return claimed;
      }
      throw new Error('fileClaims: a key changes hands too often to be claimed');
    },
    complete: (key, token, ending) => change(key, (claim) => ended(claim, token, ending, now() + (ending.ttlMs ?? ttlMs))),
    release: (key, token) => change(key, (claim) => (mayRelease(claim, token) ? 'remove' : null)),
    renew: (key, token, leaseMs) => change(key, (claim) => renewed(claim, token, leaseMs, now())),
    async get(key) {
      const claim = await files.read(claimFileName(key));
      return claim === null || isForgotten(claim, now()) ? null : seenAt(claim, now());
    },
    async sweep() {
      let removed = 0;
      for (const name of await files.list()) {
        const claim = await files.read(name);
        if (claim === null || !isForgotten(claim, now())) continue;
        if (await files.change(name, (current) => (isForgotten(current, now()) ? 'remove' : null))) removed += 1;
      }
      await files.removeDrafts(now() - DRAFT_AGE_MS);
      return removed;
    },
  });
}
