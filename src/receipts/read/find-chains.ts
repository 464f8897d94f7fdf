/** Which chains a path stands for. */

import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { AlliumError } from '../../core/contract/errors.ts';
import { parseHead, parseSegment, segmentFile } from '../chain-names.ts';

/** The files of one chain, in their order. */
export interface ChainFound {
  readonly folder: string;
  readonly chain: string;
  /** Numbers of the segments that are there. */
  readonly segments: readonly number[];
  /** The number to begin with: 1, or that of the file that was asked for. */
  readonly first: number;
}

/**
 * A file stands for its chain from there on, a folder for all chains in it. Throws
 * `ERR_INVALID_OPTION` where there is nothing.
 */
export function findChains(owner: string, path: string): readonly ChainFound[] {
  const found =
    typeof path === 'string' && path !== '' ? statSync(path, { throwIfNoEntry: false }) : undefined;
  if (found === undefined) throw noPlace(owner, 'a file or folder that is there');
  return found.isDirectory() ? chainsIn(path) : [chainFrom(owner, path)];
}

function noPlace(owner: string, wanted: string): AlliumError {
  return new AlliumError('ERR_INVALID_OPTION', `${owner}: the path must name ${wanted}`, {
    layer: owner,
    option: 'path',
    expected: wanted,
  });
}

/** Where a segment is. */
export const segmentPath = ({ folder, chain }: ChainFound, segment: number): string =>
  join(folder, segmentFile(chain, segment));

/** The size of a chain's files, as far as they can be looked at. */
export const chainBytes = (found: ChainFound): number =>
  found.segments.reduce(
    (sum, segment) =>
      sum + (statSync(segmentPath(found, segment), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );

function chainsIn(folder: string): readonly ChainFound[] {
  const chains = new Map<string, number[]>();
  const listed = (chain: string): number[] => {
    const segments = chains.get(chain) ?? [];
    chains.set(chain, segments);
    return segments;
  };
  for (const file of readdirSync(folder).sort()) {
    const name = parseSegment(file);
    const headOf = parseHead(file);
    if (name !== null) listed(name.chain).push(name.segment);
    // A head whose chain was deleted still says that there was one.
    if (headOf !== null) listed(headOf);
  }
  return [...chains].map(([chain, segments]) => ({
    folder,
    chain,
    segments: segments.sort((a, b) => a - b),
    first: 1,
  }));
}

function chainFrom(owner: string, path: string): ChainFound {
  const folder = dirname(path);
  const name = parseSegment(basename(path));
  if (name === null) throw noPlace(owner, 'a folder, or a file called <name>.jsonl');
  const segments = [name.segment];
  for (
    let next = name.segment + 1;
    existsSync(join(folder, segmentFile(name.chain, next)));
    next += 1
  )
    segments.push(next);
  return { folder, chain: name.chain, segments, first: name.segment };
}
