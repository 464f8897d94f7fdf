/** Claims as files: what is in them, and what half of one stands for. */

import { createHash } from 'node:crypto';
import type { Clock } from '../core/clock.ts';
import { isObject } from '../core/json.ts';
import type { StoredClaim } from './claim-rules.ts';
import { type RecordFiles, recordFiles } from './record-files.ts';

/** Keys come from outside and may be of any length; file names do not. */
export const claimFileName = (key: string): string =>
  `${createHash('sha256').update(key).digest('hex')}.claim`;

/** The claims of a folder. One that cannot be read counts as a claim that nobody knows the end of. */
export const claimFiles = (dir: string, clock: Clock): RecordFiles<StoredClaim> =>
  recordFiles({ owner: 'fileClaims', dir, suffix: '.claim', clock, parse: parsed });

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

function parsed(text: string): StoredClaim {
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
  const times =
    Number.isFinite(leaseMs) &&
    Number.isFinite(leaseUntil) &&
    (forgetAt === null || Number.isFinite(forgetAt));
  return texts && times && (answer === null || isObject(answer));
}
