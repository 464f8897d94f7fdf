/** Looks receipts up in the files. */

import { checkOptions, expected } from '../core/options.ts';
import { isObject } from '../core/json.ts';
import { findChains, segmentPath } from './find-chains.ts';
import { linesOf, readBlocks } from './read-blocks.ts';
import type { Receipt } from './receipt.ts';
import { asciiJson, LINE_FEED } from './receipt-line.ts';
import { cutText, isReceipt } from './receipt-text.ts';

/** A receipt with its place in the chain. */
export interface StoredReceipt extends Receipt {
  readonly seq: number;
  readonly prev_hash: string;
  readonly hash: string;
}

/** Which receipts are wanted: all that fit everything given here. */
export interface ReceiptFilter {
  readonly session?: string;
  readonly tool?: string;
  readonly status?: string;
  readonly executed?: 'no' | 'yes' | 'unknown';
  readonly callId?: string;
  /** Emitted at this time or later: ISO text, or milliseconds since 1970. */
  readonly since?: string | number;
  /** Emitted before this time. */
  readonly until?: string | number;
  /** How many at most. */
  readonly limit?: number;
}

const isTime = (value: unknown): boolean => Number.isFinite(typeof value === 'string' ? Date.parse(value) : value);
const time = { text: 'a time, as ISO text or milliseconds', test: isTime };

const EXPECTED = Object.freeze({
  session: { text: 'a string', test: (value: unknown) => typeof value === 'string' },
  tool: expected.string,
  status: expected.string,
  executed: expected.oneOf('no', 'yes', 'unknown'),
  callId: expected.string,
  since: time,
  until: time,
  limit: expected.integer(0),
});

/**
 * The receipts of a file with the segments after it, or of all files of a folder, in the order in which each chain was written.
 * Lines that cannot be read are passed over: `verifyReceipts` tells of them. Does not check anything.
 */
export async function* queryReceipts(fileOrFolder: string, filter: ReceiptFilter = {}): AsyncGenerator<StoredReceipt, void, undefined> {
  checkOptions('queryReceipts', filter, EXPECTED);
  const needle = rarest(filter);
  let left = filter.limit ?? Number.POSITIVE_INFINITY;
  for (const chain of findChains('queryReceipts', fileOrFolder)) {
    for (const segment of chain.segments) {
      for await (const block of readBlocks(segmentPath(chain, segment))) {
        if (block.kind !== 'lines') continue;
        for (const line of needle === null ? linesOf(block.bytes) : linesWith(block.bytes, needle)) {
          if (left === 0) return;
          const receipt = parseReceipt(line);
          if (receipt === null || !fits(receipt, filter)) continue;
          left -= 1;
          yield receipt;
        }
      }
    }
  }
}

/** Reads a line, or answers `null` where it is not one of a receipt. */
export function parseReceipt(line: Buffer): StoredReceipt | null {
  const text = line.toString('latin1');
  if (!isReceipt(text)) return null;
  try {
    const value: unknown = JSON.parse(text);
    // Written by `localReceiptSink`, or made to look so: whoever needs to know asks `verifyReceipts`.
    return isObject(value) ? (value as unknown as StoredReceipt) : null;
  } catch {
    return null;
  }
}

/** Text that every line in question holds: whatever does not is not parsed. */
function rarest({ callId, session, tool }: ReceiptFilter): Buffer | null {
  const fields = { tool_call_id: callId, session_id: session, tool_name: tool };
  // A text that is too long may have been cut in the file.
  const [name, value] = Object.entries(fields).find(([, field]) => field !== undefined && cutText(field) === field) ?? [];
  return name === undefined ? null : Buffer.from(asciiJson({ [name]: value }).slice(1, -1), 'latin1');
}

function* linesWith(bytes: Buffer, needle: Buffer): Generator<Buffer, void, undefined> {
  for (let at = bytes.indexOf(needle); at !== -1; ) {
    const end = bytes.indexOf(LINE_FEED, at);
    yield bytes.subarray(bytes.lastIndexOf(LINE_FEED, at) + 1, end);
    at = bytes.indexOf(needle, end);
  }
}

function fits(receipt: StoredReceipt, { session, tool, status, executed, callId, since, until }: ReceiptFilter): boolean {
  return (
    isText(receipt.session_id, session) &&
    isText(receipt.tool_name, tool) &&
    isText(receipt.tool_call_id, callId) &&
    (status === undefined || receipt.status === status) &&
    (executed === undefined || receipt.executed === executed) &&
    (since === undefined || Date.parse(receipt.emitted_at) >= new Date(since).getTime()) &&
    (until === undefined || Date.parse(receipt.emitted_at) < new Date(until).getTime())
  );
}

const isText = (value: string, wanted: string | undefined): boolean =>
  wanted === undefined || value === wanted || value === cutText(wanted);
