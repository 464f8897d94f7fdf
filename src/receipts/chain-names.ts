/**
 * How the files of a chain are called. A chain is what one writer writes for one session, in one or
 * more segments.
 */

import { safeName } from '../system/state-folder.ts';

const SEGMENT = /^([A-Za-z0-9_-]+(?:\.w[1-9]\d*)?)(?:\.([1-9]\d*))?\.jsonl$/;

/** The chain of a session's nth writer: `<safe session>`, then `<safe session>.w2` and so on. */
export const chainName = (sessionId: string, writer: number): string =>
  `${safeName(sessionId)}${writer === 1 ? '' : `.w${writer}`}`;

/** The nth file of a chain: `<chain>.jsonl`, then `<chain>.2.jsonl` and so on. */
export const segmentFile = (chain: string, segment: number): string =>
  `${chain}${segment === 1 ? '' : `.${segment}`}.jsonl`;

/** Where the newest signed checkpoint of a chain is kept once more. */
export const headFile = (chain: string): string => `${chain}.head`;

/** Names the process that writes to a chain. */
export const lockFile = (chain: string): string => `${chain}.lock`;

/** One file of a chain. */
export interface SegmentName {
  readonly chain: string;
  readonly segment: number;
}

/** Takes a file name apart, or answers `null` where it names no segment. */
export function parseSegment(file: string): SegmentName | null {
  const [, chain, digits = '1'] = SEGMENT.exec(file) ?? [];
  const segment = Number(digits);
  return chain === undefined || segmentFile(chain, segment) !== file ? null : { chain, segment };
}

/** The chain a head file belongs to, or `null` where the name is not one of a head file. */
export function parseHead(file: string): string | null {
  const [, chain] = /^([A-Za-z0-9_-]+(?:\.w[1-9]\d*)?)\.head$/.exec(file) ?? [];
  return chain ?? null;
}
