/**
 * Measures what texts made to be slow cost the redaction layer, against prose of the same length.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FAMILIES } from '../../../src/redaction/families/index.ts';
import { createRandom, type Random } from '../fuzz/random.ts';
import type { Clean } from './measure-redaction.ts';

/** The cost of one text, in times of that of prose. */
export interface Cost {
  readonly name: string;
  readonly ratio: number;
}

export interface CostOptions {
  readonly seed: number;
  readonly prose: string;
  /** Every so many-th prefix is taken. @default 1 */
  readonly step?: number;
  /** Texts of several prefixes. @default 150 */
  readonly mixes?: number;
}

const PREFIXES: readonly string[] = [...new Set(FAMILIES.flatMap(({ prefixes }) => prefixes))];
const BETWEEN = ['', 'a', '0', 'aB3', ' ', '\n', '=', '"', '_', '-', '.', ':', '&', '\\'];
/**
 * A text is measured once where it is cheap, and so often where it is not: other work on the
 * machine makes it only slower.
 */
const TIMES = 5;
const CHEAP = 2;

/** The licences of installed packages, one after another: a megabyte of English. */
export function licenceProse(root: string, length = 2 ** 20): string {
  const folder = join(root, 'node_modules');
  const texts = new Set<string>();
  for (const name of readdirSync(folder).sort()) {
    const file =
      name.startsWith('.') || name.startsWith('@') ? undefined : licenceIn(join(folder, name));
    if (file !== undefined) texts.add(readFileSync(file, 'utf8'));
  }
  const text = [...texts].join('\n');
  return text.repeat(Math.ceil(length / text.length)).slice(0, length);
}

function licenceIn(folder: string): string | undefined {
  const file = readdirSync(folder).find((name) => /^licen[cs]e(?:\.\w+)?$/i.test(name));
  return file === undefined ? undefined : join(folder, file);
}

/**
 * What every prefix costs with each of seven separators, and what random prefixes cost together.
 */
export async function measureCosts(
  clean: Clean,
  { seed, prose, step = 1, mixes = 150 }: CostOptions,
): Promise<readonly Cost[]> {
  const random = createRandom(seed);
  for (let turn = 0; turn < 2 * TIMES; turn += 1) await processorTime(clean, prose);
  const costs: Cost[] = [];
  for (const { name, text } of slowTexts(random, prose.length, step, mixes)) {
    costs.push({ name, ratio: await ratioOf(clean, text, prose) });
  }
  return costs.sort((a, b) => b.ratio - a.ratio);
}

async function ratioOf(clean: Clean, text: string, prose: string): Promise<number> {
  let slow = Infinity;
  let plain = Infinity;
  for (let turn = 0; turn < TIMES; turn += 1) {
    slow = Math.min(slow, await processorTime(clean, text));
    plain = Math.min(plain, await processorTime(clean, prose));
    if (slow < CHEAP * plain) break;
  }
  return slow / plain;
}

async function processorTime(clean: Clean, text: string): Promise<number> {
  const before = process.cpuUsage();
  await clean(text);
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

function* slowTexts(
  random: Random,
  length: number,
  step: number,
  mixes: number,
): Iterable<{ readonly name: string; readonly text: string }> {
  for (let index = 0; index < PREFIXES.length; index += step) {
    for (const between of BETWEEN.slice(0, 7)) {
      const word = `${PREFIXES[index] ?? ''}${between}`;
      yield {
        name: JSON.stringify(word),
        text: word.repeat(Math.ceil(length / word.length)).slice(0, length),
      };
    }
  }
  for (const between of BETWEEN) {
    const words = PREFIXES.map((prefix) => prefix + between).join('');
    yield {
      name: `all prefixes with ${JSON.stringify(between)}`,
      text: words.repeat(Math.ceil(length / words.length)).slice(0, length),
    };
  }
  for (let mix = 0; mix < mixes; mix += 1) {
    const own = Array.from({ length: random.pick([2, 5, 20, 100, PREFIXES.length]) }, () =>
      random.pick(PREFIXES),
    );
    const between = random.pick([BETWEEN, [random.pick(BETWEEN)]]);
    const words: string[] = [];
    for (let size = 0; size < length; size += words.at(-1)?.length ?? 1)
      words.push(random.pick(own) + random.pick(between));
    yield {
      name: `${own.length} prefixes: ${JSON.stringify(words.slice(0, 5).join(''))}`,
      text: words.join('').slice(0, length),
    };
  }
}
