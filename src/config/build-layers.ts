/** Plain data entries become layers. */

import {
  composeToolCallers,
  isAlliumError,
  type ToolCaller,
  type ToolLayer,
  when,
} from '../index.ts';
import { closest } from '../core/contract/closest.ts';
import { describeThrown } from '../core/contract/errors.ts';
import { isObject } from '../core/json/json.ts';
import { matchesTool } from '../layer.ts';
import { LAYER_FACTORIES, type LayerFactory, OPTION_READERS } from './layer-factories.ts';
import { optionPath } from './option-path.ts';
import { type DataPath, invalidConfig, pathText, type Report } from './problem.ts';
import { BASE_FORMS, resolveForms, type ValueForms } from './value-forms.ts';

/** What entries are built with. */
export interface BuildContext {
  /** The layers that have a name. @default LAYER_FACTORIES */
  readonly factories?: ReadonlyMap<string, LayerFactory>;
  /** More `{ $name: argument }` values, beside `$path`. @default none */
  readonly forms?: ValueForms;
  /**
   * Answers what `use` names: a layer, or a function that makes one. @default nothing can be used
   */
  readonly use?: (reference: string) => unknown;
  /**
   * Looks at the value behind the name of a layer before the factory does. Answers whether the
   * factory may be called. @default none
   */
  readonly check?: (name: string, value: unknown, path: DataPath, report: Report) => boolean;
}

/** A layer and the entry it was made from. */
export interface BuiltLayer {
  readonly layer: ToolLayer;
  readonly entry: number;
}

/**
 * Builds the layers of a list of entries: `name`, `{ name: value }`, `{ use, with }`, each with
 * `only` and `except`, or a layer that is ready. Throws one `ERR_INVALID_CONFIG` for everything
 * that is wrong. It does not check the order: composing does.
 */
export function buildLayers(
  entries: readonly unknown[],
  context: BuildContext = {},
): readonly ToolLayer[] {
  const lines: string[] = [];
  const built = readEntries(
    entries,
    context,
    ['layers'],
    (path, message) => void lines.push(`${pathText(path)}: ${message}`),
  );
  if (lines.length > 0) throw invalidConfig(lines);
  return Object.freeze(built.map(({ layer }) => layer));
}

/** Builds what can be built and reports the rest. */
export function readEntries(
  entries: readonly unknown[],
  context: BuildContext,
  path: DataPath,
  report: Report,
): readonly BuiltLayer[] {
  return entries.flatMap((entry, index) =>
    layersOf(entry, context, [...path, index], report).map((layer) => ({ layer, entry: index })),
  );
}

function layersOf(
  entry: unknown,
  context: BuildContext,
  path: DataPath,
  report: Report,
): readonly ToolLayer[] {
  if (typeof entry === 'string') return named({ [entry]: undefined }, entry, context, path, report);
  if (isReady(entry)) return attempt(() => composeToolCallers([entry]).layers, path, report);
  if (!isObject(entry)) {
    report(path, 'a layer is a name, a name with its options, or { use: module }');
    return [];
  }
  const kind = kindOf(entry, context.factories ?? LAYER_FACTORIES, path, report);
  if (kind === null) return [];
  const isMeant = gateOf(entry, path, report);
  const layers =
    kind === 'use' ? used(entry, context, path, report) : named(entry, kind, context, path, report);
  return isMeant === null
    ? layers
    : layers.map((layer) => when(({ toolName }) => isMeant(toolName), layer));
}

/** A layer or a caller that a program put in the list. */
const isReady = (entry: unknown): entry is ToolLayer | ToolCaller =>
  typeof entry === 'function' || (isObject(entry) && typeof entry.caller === 'function');

const BESIDE = ['only', 'except'];

/** The one key that says which layer it is. */
function kindOf(
  entry: Record<string, unknown>,
  factories: ReadonlyMap<string, unknown>,
  path: DataPath,
  report: Report,
): string | null {
  const isUse = Object.hasOwn(entry, 'use');
  const kinds = Object.keys(entry).filter(
    (key) => !BESIDE.includes(key) && !(isUse && key === 'with'),
  );
  const [kind, ...others] = kinds;
  if (kind === undefined) {
    report(path, 'an entry needs the name of a layer, or "use"');
    return null;
  }
  const unknown = kinds.filter((key) => key !== 'use' && !factories.has(key));
  const known = [...factories.keys(), 'use', ...BESIDE, ...(isUse ? ['with'] : [])];
  for (const key of unknown) report([...path, key], unknownLayer(key, known), 'key');
  if (unknown.length > 0) return null;
  for (const key of others)
    report([...path, key], `an entry is one layer, and this one is "${kind}" already`, 'key');
  return others.length > 0 ? null : kind;
}

function unknownLayer(name: string, known: readonly string[]): string {
  const guess = closest(name, known);
  return `there is no layer "${name}"; ${guess === undefined ? 'one of your own is { use: module }' : `did you mean "${guess}"?`}`;
}

function gateOf(
  entry: Record<string, unknown>,
  path: DataPath,
  report: Report,
): ((toolName: string) => boolean) | null {
  const [only, except] = BESIDE.map((key) =>
    Object.hasOwn(entry, key) ? namesOf(entry[key], [...path, key], report) : null,
  );
  if (only == null && except == null) return null;
  return (toolName) =>
    (only == null || matchesTool(only, toolName)) &&
    (except == null || !matchesTool(except, toolName));
}

/** Names or globs of tools. */
function namesOf(value: unknown, path: DataPath, report: Report): readonly string[] {
  if (Array.isArray(value) && value.every((name) => typeof name === 'string' && name !== ''))
    return value as string[]; // Just tested.
  report(path, 'must be a list of tool names, with "*" for any run of characters');
  return [];
}

function named(
  entry: Record<string, unknown>,
  name: string,
  context: BuildContext,
  path: DataPath,
  report: Report,
): readonly ToolLayer[] {
  const factory = (context.factories ?? LAYER_FACTORIES).get(name);
  if (factory === undefined) {
    report(path, unknownLayer(name, [...(context.factories ?? LAYER_FACTORIES).keys()]));
    return [];
  }
  const isFit = context.check?.(name, entry[name], [...path, name], report) ?? true;
  return made(
    isFit ? factory : null,
    entry[name],
    context,
    [...path, name],
    report,
    OPTION_READERS.get(name),
  );
}

function used(
  entry: Record<string, unknown>,
  context: BuildContext,
  path: DataPath,
  report: Report,
): readonly ToolLayer[] {
  const { use: reference } = entry;
  const place = [...path, 'use'];
  if (typeof reference !== 'string' || reference === '' || context.use === undefined) {
    report(
      place,
      context.use === undefined
        ? 'modules cannot be used here'
        : 'must be a module, such as ./my-layer.ts#myLayer',
    );
    return [];
  }
  const { use } = context;
  const [found] = attempt(() => [use(reference)], place, report);
  if (found === undefined) return [];
  if (isObject(found) && isReady(found)) {
    if (!Object.hasOwn(entry, 'with'))
      return attempt(() => composeToolCallers([found]).layers, place, report);
    report([...path, 'with'], 'this layer is ready and takes no options', 'key');
    return [];
  }
  if (typeof found !== 'function') {
    report(place, 'this is neither a layer nor a function that makes one');
    return [];
  }
  return made(
    found as LayerFactory,
    entry.with,
    context,
    Object.hasOwn(entry, 'with') ? [...path, 'with'] : place,
    report,
  );
}

/**
 * Calls a factory with the value, if there is one. What it refuses is reported for the option it
 * names.
 */
function made(
  factory: LayerFactory | null,
  value: unknown,
  context: BuildContext,
  path: DataPath,
  report: Report,
  read: (options: unknown, path: DataPath, report: Report) => unknown = (options) => options,
): readonly ToolLayer[] {
  let isWrong = false;
  const noting: Report = (...problem) => {
    isWrong = true;
    report(...problem);
  };
  const resolved = resolveForms(value ?? undefined, formsOf(context), path, noting);
  if (isWrong || factory === null) return [];
  const options = read(resolved, path, noting);
  if (isWrong) return [];
  try {
    // Factories check what they are given: that is what lets data in here.
    return composeToolCallers([factory(options as never)]).layers;
  } catch (thrown) {
    if (!isAlliumError(thrown, 'ERR_INVALID_OPTION')) report(path, messageOf(thrown));
    else report(...optionPath(path, options, thrown));
    return [];
  }
}

const formsOf = ({ forms }: BuildContext): ValueForms =>
  forms === undefined ? BASE_FORMS : new Map([...BASE_FORMS, ...forms]);

function attempt<T>(make: () => readonly T[], path: DataPath, report: Report): readonly T[] {
  try {
    return make();
  } catch (thrown) {
    report(path, messageOf(thrown));
    return [];
  }
}

const messageOf = (thrown: unknown): string =>
  isAlliumError(thrown) ? thrown.message : describeThrown(thrown);
