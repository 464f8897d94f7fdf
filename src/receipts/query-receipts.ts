/** Looks receipts up in the files. */

import { checkOptions, expected } from '../core/options.ts';
import { findChains } from './find-chains.ts';
import { type ReceiptFilter, searchChain } from './search-receipts.ts';
import type { StoredReceipt } from './stored-receipt.ts';

/** How a query ends early. */
export interface QueryOptions {
  /** Ends it: the query throws the signal's reason. @default none */
  readonly signal?: AbortSignal;
}

const isTime = (value: unknown): boolean =>
  Number.isFinite(typeof value === 'string' ? Date.parse(value) : value);
const time = { text: 'a time, as ISO text or milliseconds', test: isTime };
const signal = { text: 'an AbortSignal', test: (value: unknown) => value instanceof AbortSignal };

const EXPECTED = Object.freeze({
  session: { text: 'a string', test: (value: unknown) => typeof value === 'string' },
  tool: expected.string,
  status: expected.string,
  executed: expected.oneOf('no', 'yes', 'unknown'),
  callId: expected.string,
  blockedBy: expected.string,
  decidedBy: expected.string,
  server: expected.string,
  rule: expected.string,
  since: time,
  until: time,
  limit: expected.integer(0),
});

/**
 * The receipts of a file with the segments after it, or of all files of a folder, in the order in which each chain was written.
 * Lines that cannot be read are passed over: `verifyReceipts` tells of them. Does not check anything.
 */
export async function* queryReceipts(
  fileOrFolder: string,
  filter: ReceiptFilter = {},
  options: QueryOptions = {},
): AsyncGenerator<StoredReceipt, void, undefined> {
  checkOptions('queryReceipts', filter, EXPECTED);
  checkOptions('queryReceipts', options, { signal });
  options.signal?.throwIfAborted();
  let left = filter.limit ?? Number.POSITIVE_INFINITY;
  for (const chain of findChains('queryReceipts', fileOrFolder)) {
    if (left === 0) return;
    for await (const { receipt } of searchChain(chain, filter, options)) {
      yield receipt;
      left -= 1;
      if (left === 0) return;
    }
  }
}
