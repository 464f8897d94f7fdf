/**
 * Measures a cleaner of texts: which kinds of secrets it finds, and which ordinary documents it
 * alters.
 */

import { createRandom, seedOf } from '../fuzz/random.ts';
import type { OrdinaryDocument } from './ordinary-documents.ts';
import { SECRET_KINDS, type SecretKind } from './secret-kinds.ts';

/** Takes the secrets out of a text. */
export type Clean = (text: string) => string | Promise<string>;

export interface KindOptions {
  /** The same seed makes the same samples. @default 1 */
  readonly seed?: number;
  /** A kind is found when every one of its samples is. @default 4 */
  readonly samplesPerKind?: number;
  /** @default SECRET_KINDS */
  readonly kinds?: readonly SecretKind[];
}

/** A sample that still shows its secret. */
export interface Survivor {
  readonly carrier: string;
  readonly cleaned: string;
}

export interface KindFinding {
  readonly id: string;
  readonly source: string;
  readonly found: boolean;
  readonly survivors: readonly Survivor[];
}

/** The part of a secret that must not be left in one piece. */
const PART = 0.6;

/**
 * Escape sequences of terminals and characters that show nothing: a person reads past them, and so
 * must the measure.
 */
const UNSEEN =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\p{Default_Ignorable_Code_Point}/gu;

/** Makes samples of every kind and says which kinds were found in all of them. */
export async function measureKinds(
  clean: Clean,
  { seed = 1, samplesPerKind = 4, kinds = SECRET_KINDS }: KindOptions = {},
): Promise<KindFinding[]> {
  const findings: KindFinding[] = [];
  for (const kind of kinds) {
    // A seed per kind: a kind that is added leaves the samples of the others as they are.
    const random = createRandom(seed * 1_000_003 + seedOf(kind.id));
    const survivors: Survivor[] = [];
    for (let sample = 0; sample < samplesPerKind; sample += 1) {
      const { text, secret, carrier } = kind.make(random);
      if (secret === '') throw new RangeError(`the pattern of ${kind.id} has no secret`);
      const cleaned = await clean(text);
      if (survives(secret, cleaned)) survivors.push({ carrier, cleaned });
    }
    findings.push({ id: kind.id, source: kind.source, found: survivors.length === 0, survivors });
  }
  return findings;
}

/** Whether a person can still read a piece of `secret` that is as long as `PART` of it. */
export function survives(secret: string, cleaned: string): boolean {
  const seen = cleaned.replace(UNSEEN, '');
  const length = Math.ceil(secret.length * PART);
  for (let at = 0; at + length <= secret.length; at += 1) {
    if (seen.includes(secret.slice(at, at + length))) return true;
  }
  return false;
}

/** A document that is not what it was. */
export interface Alteration {
  readonly name: string;
  /** The line that differs first, before and after. */
  readonly before: string;
  readonly after: string;
}

/** Says which documents come out other than they went in. */
export async function measureDocuments(
  clean: Clean,
  documents: readonly OrdinaryDocument[],
): Promise<Alteration[]> {
  const altered: Alteration[] = [];
  for (const { name, text } of documents) {
    const cleaned = await clean(text);
    if (cleaned !== text) altered.push({ name, ...firstDifference(text, cleaned) });
  }
  return altered;
}

const SHOWN = 160;

function firstDifference(before: string, after: string): { before: string; after: string } {
  let at = 0;
  while (at < before.length && before[at] === after[at]) at += 1;
  const start = Math.max(before.lastIndexOf('\n', at - 1) + 1, at - SHOWN / 2);
  const line = (text: string) => text.slice(start, start + SHOWN).split('\n', 1)[0] ?? '';
  return { before: line(before), after: line(after) };
}
