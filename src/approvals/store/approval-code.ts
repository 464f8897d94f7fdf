/**
 * The code that a person is told about a waiting call, and proves themselves with where they have
 * no terminal.
 */

import { createHmac, randomInt, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { type Clock, systemClock } from '../../core/time/clock.ts';
import { AlliumError, oneLine } from '../../core/contract/errors.ts';
import { changeApproval, demandOpen } from './answer-approval.ts';
import type { ApprovalCode, ApprovalStore } from './approval.ts';
import { withTry } from './approval-rules.ts';

/** How often a code of one approval may be tried, by all processes together. */
export const MAX_CODE_TRIES = 5;

/** Without letters and digits that look like others. */
const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTVWXYZ';
const LENGTH = 10;

/** A new code, such as `K7M2P-Q9RTX`: some 49 bits, which five tries do not find. */
export function createCode(): string {
  const letters = Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)] ?? '');
  return `${letters.slice(0, LENGTH / 2).join('')}-${letters.slice(LENGTH / 2).join('')}`;
}

const scrypted = promisify<string, Buffer, number, Buffer>(scrypt);
const HASH_BYTES = 32;
const SCHEME = 'scrypt:';

/**
 * What is kept of a code: slow to make, so that reading the file does not lead to the code, and
 * made with the key and the id, so that the hash of one approval says nothing about another.
 */
export async function codeFor(key: Uint8Array, id: string, code: string): Promise<ApprovalCode> {
  return Object.freeze({
    hash: `${SCHEME}${(await digestOf(key, id, code)).toString('hex')}`,
    tries: 0,
  });
}

async function digestOf(key: Uint8Array, id: string, code: string): Promise<Buffer> {
  const salt = createHmac('sha256', key).update('allium approval code\0').update(id).digest();
  return scrypted(plainCode(code), salt, HASH_BYTES);
}

/** As people type a code: in small letters, with blanks, without the dash. */
const plainCode = (code: string): string => code.toUpperCase().replaceAll(/[\s-]/g, '');

/**
 * Throws `ERR_APPROVAL_CODE` for a code that is not the one of the approval. The try is written
 * down before anything is compared, in the same step in which it is counted: a hundred processes at
 * once compare five codes, and not a hundred. Also throws what tells that there is nothing to
 * approve any more, and counts nothing then. `key` is asked for when there is something to compare.
 */
export async function demandCode(
  store: ApprovalStore,
  id: string,
  code: string,
  key: () => Uint8Array,
  { clock = systemClock }: { readonly clock?: Clock } = {},
): Promise<void> {
  const { before } = await changeApproval(store, id, clock, (approval, state) => {
    demandOpen(approval, state, 'allow_once');
    if (approval.code === undefined) throw badCode(id, 'has no code: no person was told of it');
    if (approval.code.tries >= MAX_CODE_TRIES)
      throw badCode(
        id,
        `was tried with ${MAX_CODE_TRIES} codes, so that only a terminal can approve it`,
      );
    return withTry(approval, approval.code);
  });
  const { hash, tries } = before.code ?? { hash: '', tries: MAX_CODE_TRIES };
  const [kept, given] = [
    Buffer.from(hash.slice(SCHEME.length), 'hex'),
    await digestOf(key(), id, code),
  ];
  if (kept.length === given.length && timingSafeEqual(kept, given)) return;
  const left = MAX_CODE_TRIES - tries - 1;
  throw badCode(id, `has another code; ${left === 1 ? '1 try is' : `${left} tries are`} left`);
}

const badCode = (id: string, what: string): AlliumError =>
  new AlliumError('ERR_APPROVAL_CODE', `approval "${oneLine(id)}" ${what}`);
