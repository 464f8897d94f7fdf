/** Finds receipts in the files, and says where. */

import { matchesTool } from '../../core/contract/layer.ts';
import { checkOptions, expected } from '../../core/contract/options.ts';
import { isObject } from '../../core/json/json.ts';
import { segmentFile } from '../chain-names.ts';
import { CHECKPOINT_START } from '../checkpoint.ts';
import { asciiJson, LINE_FEED } from '../receipt-line.ts';
import { cutText } from '../write/receipt-text.ts';
import { type ChainFound, findChains, segmentPath } from './find-chains.ts';
import { type Block, linesOf, readBlocks } from './read-blocks.ts';
import { parseReceipt, type StoredReceipt } from './stored-receipt.ts';

/** Which receipts are wanted: all that fit everything given here. */
export interface ReceiptFilter {
  readonly session?: string;
  /** A name, or a pattern in which `*` stands for any run of characters. */
  readonly tool?: string;
  readonly status?: string;
  readonly executed?: 'no' | 'yes' | 'unknown';
  readonly callId?: string;
  /** The layer that turned the call away. `*` stands for anything. */
  readonly blockedBy?: string;
  /**
   * Who decided about the call, as `audit.consent` has it: a person, or `rule`. `*` stands for
   * anything.
   */
  readonly decidedBy?: string;
  /** The host's name for the MCP server of the tool. `*` stands for anything. */
  readonly server?: string;
  /** The rule that decided, as the receipt names it. `*` stands for anything. */
  readonly rule?: string;
  /** Emitted at this time or later: ISO text, or milliseconds since 1970. */
  readonly since?: string | number;
  /** Emitted before this time. */
  readonly until?: string | number;
  /** How many at most. */
  readonly limit?: number;
}

/** A receipt and where it stands. */
export interface FoundReceipt {
  readonly file: string;
  /** Counted from 1; 0 where it was not asked for. */
  readonly line: number;
  readonly receipt: StoredReceipt;
}

/** How a search goes on. */
export interface SearchOptions {
  readonly signal?: AbortSignal | undefined;
  /** Whether `line` is wanted: to count lines costs more than to look for one. */
  readonly lines?: boolean;
  /** How much of a file is read at a time. @default a mebibyte */
  readonly pieceBytes?: number;
  /**
   * Called for each line that is neither a receipt nor a checkpoint, as far as lines are looked at,
   * and for files that cannot be read.
   */
  readonly onDamaged?: (file: string, what: 'line' | 'file') => void;
  /** Called for a last line that has no end. */
  readonly onTorn?: (file: string) => void;
}

/** The receipts of one chain that fit, in the order in which they were written. */
export async function* searchChain(
  chain: ChainFound,
  filter: ReceiptFilter,
  options: SearchOptions = {},
): AsyncGenerator<FoundReceipt, void, undefined> {
  const needle = rarest(filter);
  const fits = matcherFor(filter);
  for (const segment of chain.segments) {
    const file = segmentFile(chain.chain, segment);
    let lineCount = 0;
    for await (const block of readBlocks(segmentPath(chain, segment), 0, options.pieceBytes)) {
      options.signal?.throwIfAborted();
      if (block.kind !== 'lines') {
        lineCount += 1;
        tellOf(block, file, options);
        continue;
      }
      let counted = 0;
      for (const line of needle === null ? linesOf(block.bytes) : linesWith(block.bytes, needle)) {
        const receipt = parseReceipt(line);
        if (receipt === null && !isCheckpoint(line)) options.onDamaged?.(file, 'line');
        if (receipt === null || !fits(receipt)) continue;
        const end = line.byteOffset - block.bytes.byteOffset + line.length + 1;
        if (options.lines === true) lineCount += lineFeeds(block.bytes.subarray(counted, end));
        counted = end;
        yield { file, line: options.lines === true ? lineCount : 0, receipt };
      }
      if (options.lines === true) lineCount += lineFeeds(block.bytes.subarray(counted));
    }
  }
}

function tellOf({ kind }: Block, file: string, { onDamaged, onTorn }: SearchOptions): void {
  if (kind === 'rest') onTorn?.(file);
  else onDamaged?.(file, kind === 'unreadable' ? 'file' : 'line');
}

const isCheckpoint = (line: Buffer): boolean =>
  line.toString('latin1', 0, CHECKPOINT_START.length) === CHECKPOINT_START;

function lineFeeds(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1))
    count += 1;
  return count;
}

/**
 * Text that every line in question holds: whatever does not is not parsed. The longer it is, the
 * wider a search leaps: other fields stand on both sides.
 */
function rarest({ callId, session, tool }: ReceiptFilter): Buffer | null {
  const fields = {
    tool_call_id: callId,
    session_id: session,
    tool_name: tool?.includes('*') === true ? undefined : tool,
  };
  // A text that is too long may have been cut in the file.
  const [name, value] =
    Object.entries(fields).find(([, field]) => field !== undefined && cutText(field) === field) ??
    [];
  return name === undefined
    ? null
    : Buffer.from(`,${asciiJson({ [name]: value }).slice(1, -1)},"`, 'latin1');
}

/**
 * The lines that hold the needle. It holds no line feed, and the bytes are complete lines: it is
 * never cut in two, and its line has both ends. It is looked for from the end: it begins with the
 * name of a field, and a search that compares this end first leaps over what hashes and ids are
 * made of.
 */
function linesWith(bytes: Buffer, needle: Buffer): readonly Buffer[] {
  const lines: Buffer[] = [];
  for (let at = bytes.lastIndexOf(needle); at !== -1; ) {
    const start = bytes.lastIndexOf(LINE_FEED, at) + 1;
    lines.push(bytes.subarray(start, bytes.indexOf(LINE_FEED, at)));
    at = start === 0 ? -1 : bytes.lastIndexOf(needle, start - 1);
  }
  return lines.reverse();
}

function matcherFor(filter: ReceiptFilter): (receipt: StoredReceipt) => boolean {
  const { tool, status, executed, decidedBy, since, until } = filter;
  const from = since === undefined ? null : new Date(since).getTime();
  const to = until === undefined ? null : new Date(until).getTime();
  return (receipt) =>
    isText(receipt.session_id, filter.session) &&
    (isText(receipt.tool_name, tool) ||
      (tool !== undefined && matchesTool([tool], receipt.tool_name))) &&
    isText(receipt.tool_call_id, filter.callId) &&
    (status === undefined || receipt.status === status) &&
    (executed === undefined || receipt.executed === executed) &&
    isLike(receipt.blocked_by, filter.blockedBy) &&
    (decidedBy === undefined || isLike(deciderOf(receipt), decidedBy)) &&
    isLike(receipt.server ?? null, filter.server) &&
    isLike(receipt.rule ?? null, filter.rule) &&
    (from === null || Date.parse(receipt.emitted_at) >= from) &&
    (to === null || Date.parse(receipt.emitted_at) < to);
}

/** Whether a field that may hold nothing fits a name, or a pattern with `*`. */
const isLike = (value: string | null, wanted: string | undefined): boolean =>
  wanted === undefined || (value !== null && matchesTool([wanted], value));

function deciderOf({ audit }: StoredReceipt): string | null {
  const consent = isObject(audit) ? audit.consent : null;
  const by = isObject(consent) ? consent.decided_by : null;
  return typeof by === 'string' ? by : null;
}

const isText = (value: string, wanted: string | undefined): boolean =>
  wanted === undefined || value === wanted || value === cutText(wanted);

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
 * The receipts of a file with the segments after it, or of all files of a folder, in the order in
 * which each chain was written. Lines that cannot be read are passed over: `verifyReceipts` tells
 * of them. Does not check anything.
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
