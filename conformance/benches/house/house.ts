/** How the house is to be kept, in figures: what is measured, the goal, and where it stands. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CallFigures } from './measure-call.ts';
import { measureTree, type TreeFigures } from './measure-tree.ts';

export interface House {
  readonly tree: TreeFigures;
  readonly call: CallFigures;
}

export interface Rule {
  readonly what: string;
  readonly of: (house: House) => number;
  readonly goal: number;
  /** What is allowed as long as the goal is not met. It only ever comes closer to the goal. */
  readonly now?: number;
  /** The figure may not be lower than the limit. Otherwise it may not be higher. @default false */
  readonly atLeast?: boolean;
}

const MAX_FUNCTION = 60;
const MAX_LAYER = 400;

export const RULES: readonly Rule[] = [
  {
    what: 'files that one other file imports, %',
    of: ({ tree }) => percent(tree.singleImporters.length / tree.files),
    goal: 24,
  },
  { what: 'lines over 100 columns', of: ({ tree }) => tree.longLines.length, goal: 0 },
  {
    what: 'comments in src/core, % of lines',
    of: ({ tree }) => percent(tree.coreComments),
    goal: 17,
    atLeast: true,
  },
  { what: 'functions, 90th percentile of lines', of: ({ tree }) => p90(tree), goal: 25 },
  {
    what: 'functions over 60 lines',
    of: ({ tree }) => tree.functions.filter(({ size }) => size > MAX_FUNCTION).length,
    goal: 0,
  },
  {
    what: 'folders of layers, median of lines',
    of: ({ tree }) => medianLayer(tree),
    goal: 130,
  },
  {
    what: 'folders of layers over 400 lines',
    of: ({ tree }) => tree.layers.filter(({ lines }) => lines > MAX_LAYER).length,
    goal: 0,
  },
  {
    what: 'files that a captain call enters',
    of: ({ call }) => call.files.length,
    goal: 90,
    now: 102,
  },
  {
    what: 'functions that a captain call enters',
    of: ({ call }) => call.functions,
    goal: 330,
    now: 437,
  },
  { what: 'Object.freeze in a captain call', of: ({ call }) => call.freezes, goal: 45, now: 53 },
];

/** What a figure may not pass: the goal, or where it stands as long as the goal is not met. */
export const limitOf = ({ goal, now = goal }: Rule): number => now;

export const isKept = (rule: Rule, house: House): boolean =>
  rule.atLeast === true ? rule.of(house) >= limitOf(rule) : rule.of(house) <= limitOf(rule);

/** The tree of a checkout: what is shipped, without tests and fixtures. */
export function measureCheckout(root: string): TreeFigures {
  const files = ['src', 'middleware'].flatMap((top) =>
    readdirSync(join(root, top), { recursive: true, encoding: 'utf8' }).map((file) =>
      join(top, file),
    ),
  );
  const sources = files.filter(
    (file) => file.endsWith('.ts') && !/\.(test|fixture)\.ts$/.test(file),
  );
  return measureTree(
    new Map(sources.map((file) => [file, readFileSync(join(root, file), 'utf8')])),
    doorsOf(root, sources),
  );
}

/** The sources of what `package.json` exports. */
function doorsOf(root: string, sources: readonly string[]): ReadonlySet<string> {
  const { exports: doors } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, { readonly default?: string }>>;
  };
  const built = new Set(Object.values(doors).map((door) => door.default));
  const isDoor = (file: string) => {
    const [, folder = ''] = file.split('/');
    const path = `./dist/${file.replace(/\.ts$/, '.js')}`;
    return built.has(path) || built.has(path.replaceAll(folder, '*'));
  };
  return new Set(sources.filter(isDoor));
}

function p90({ functions }: TreeFigures): number {
  return functions[Math.floor(functions.length * 0.1)]?.size ?? 0; // The longest come first.
}

function medianLayer({ layers }: TreeFigures): number {
  return layers[Math.floor(layers.length / 2)]?.lines ?? 0;
}

const percent = (share: number) => Math.round(share * 1000) / 10;
