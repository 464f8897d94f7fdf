/** The native interpreter's own test data, put to both interpreters. */

import { json } from '../../../src/starlark/library/json.ts';
import { assertModule } from './assert-module.ts';
import { type Chunk, complaintsAbout } from './chunks.ts';
import type { Oracle } from './oracle.ts';
import { fromAnswer, type Outcome } from './outcome.ts';
import { type HereOptions, runHere } from './run-here.ts';
import { type Removed, trimChunk } from './trim-chunk.ts';

/** What became of a chunk. */
export interface ChunkFigure {
  readonly name: string;
  /**
   * Whether the native interpreter passes it in our dialect: as it is, without some statements, or
   * not at all.
   */
  readonly native: 'whole' | 'in part' | 'not';
  /** Lines that were left out, in the file. */
  readonly leftOut: string;
  /** Why the native interpreter does not take them, first reason first. */
  readonly reasons: readonly string[];
  /** What our interpreter does otherwise; nothing when it passes, or was not asked. */
  readonly complaints: readonly string[];
}

/** Decides with the native interpreter what may be asked, and asks it here. */
export async function judgeChunk(chunk: Chunk, oracle: Oracle): Promise<ChunkFigure> {
  const native = (candidate: Chunk): Promise<Outcome> => runNative(candidate, oracle);
  const objections = complaintsAbout(chunk, await native(chunk));
  if (objections.length === 0)
    return {
      name: chunk.name,
      native: 'whole',
      leftOut: '',
      reasons: [],
      complaints: complaintsHere(chunk),
    };
  const trimmed = chunk.use === 'run' ? await trimChunk(chunk, native) : null;
  const reasons = (trimmed?.removed ?? []).map(({ reason }) => reason);
  if (trimmed === null)
    return {
      name: chunk.name,
      native: 'not',
      leftOut: 'all',
      reasons: objections.map(({ text }) => text),
      complaints: [],
    };
  return {
    name: chunk.name,
    native: 'in part',
    leftOut: rangesOf(trimmed.removed),
    reasons,
    complaints: complaintsHere(trimmed.chunk),
  };
}

const MAX_STEPS = 100_000_000;

async function runNative({ name, file, source, use }: Chunk, oracle: Oracle): Promise<Outcome> {
  const predeclared = use === 'run' ? (['assert', 'json'] as const) : (['M', 'U'] as const);
  const [answer] = await oracle.ask([
    { id: name, file, source, predeclared, compile: use !== 'run', maxSteps: MAX_STEPS },
  ]);
  if (answer === undefined) throw new Error(`no answer about ${name}`);
  return fromAnswer(answer);
}

function complaintsHere(chunk: Chunk): readonly string[] {
  const outcome = runHere(chunk.source, optionsFor(chunk));
  return complaintsAbout(chunk, outcome).map(({ line, text }) => `${chunk.file}:${line}: ${text}`);
}

function optionsFor({ file, use }: Chunk): HereOptions {
  if (use !== 'run')
    return {
      file,
      compile: true,
      predeclared: new Map([
        ['M', null],
        ['U', null],
      ]),
    };
  const reports: { line: number; column: number; text: string }[] = [];
  const predeclared = assertModule((text) => void reports.push({ line: 0, column: 0, text }));
  return { file, reports, predeclared: new Map([...predeclared, ['json', json]]) };
}

/** Statements that were left out as ranges of lines, neighbours joined. */
export function rangesOf(removed: readonly Removed[]): string {
  const ranges: { from: number; to: number }[] = [];
  for (const { from, to } of [...removed].sort((a, b) => a.from - b.from)) {
    const last = ranges.at(-1);
    if (last !== undefined && from <= last.to + 1) last.to = Math.max(last.to, to);
    else ranges.push({ from, to });
  }
  return ranges.map(({ from, to }) => (from === to ? String(from) : `${from}–${to}`)).join(', ');
}
