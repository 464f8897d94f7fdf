/** Every place of a result at which something can be read, taken out and put back. */

import { isRendered, type ResultChanges, withResult } from '../core/onion/results.ts';
import type { JsonObject, JsonValue } from '../core/json/json-value.ts';
import type { ContentBlock } from '../core/contract/content.ts';
import type { ToolResult } from '../core/contract/result.ts';
import type { Path } from './paths.ts';
import type { Surface } from './survey.ts';
import type { Sweep } from './sweep.ts';

/** The surfaces of a result in the order in which `putBack` expects their cleaned values. */
export interface ResultSurfaces {
  readonly surfaces: readonly Surface[];
  readonly embedded: readonly EmbeddedJson[];
  /** Text and content are written anew with the value. */
  readonly follows: boolean;
}

/** `clean` are arguments that were cleaned before and need no second look. */
export function surfacesOf(
  result: ToolResult,
  paths: readonly Path[],
  clean: JsonObject,
  canCover: boolean,
): ResultSurfaces {
  const follows = isRendered(result);
  const embedded =
    paths.length === 0 || (follows && typeof result.result !== 'string')
      ? NO_JSON
      : embeddedJson(textsOf(result));
  const isCovered = canCover && follows;
  const surfaces: readonly Surface[] = [
    surface(result.result === clean ? null : result.result, paths, isCovered && result.ok),
    // Blocks are JSON by their definition; their interface has no index signature.
    surface(result.content as unknown as JsonValue, NONE, isCovered),
    surface(result.renderedResult, NONE),
    surface(result.error, NONE),
    surface(result.arguments === clean ? null : result.arguments, paths),
    surface(result.interruption?.shown ?? null, paths),
    surface(restOf(result), NONE),
  ];
  return {
    surfaces:
      embedded.length === 0
        ? surfaces
        : [...surfaces, ...embedded.map(({ value }) => surface(value, paths))],
    embedded,
    follows,
  };
}

const NO_JSON: readonly EmbeddedJson[] = [];
const NONE: readonly Path[] = [];
const NO_SURFACE: Surface = Object.freeze({ value: null, paths: NONE, isCovered: false });
const surface = (value: JsonValue, paths: readonly Path[], isCovered = false): Surface =>
  value === null ? NO_SURFACE : { value, paths, isCovered };

/** Members that are seldom there, in one. */
function restOf({
  metadata,
  approval,
  outputFiles,
  errorCategory,
  status,
}: ToolResult): JsonObject | null {
  if (
    metadata === undefined &&
    approval === null &&
    outputFiles.length === 0 &&
    (errorCategory === null || errorCategory === status)
  )
    return null;
  return {
    metadata: metadata ?? null,
    approval:
      approval === null ? null : { decidedBy: approval.decidedBy, reason: approval.reason ?? null },
    uris: outputFiles.map(({ uri }) => uri),
    errorCategory: errorCategory === status ? null : errorCategory,
  };
}

/** The texts that stand for the whole result. */
const textsOf = ({ result, content, renderedResult }: ToolResult): readonly string[] => [
  ...(typeof result === 'string' ? [result] : []),
  ...content.flatMap((block) =>
    block.type === 'text'
      ? block.text
      : block.type === 'resource'
        ? (block.resource.text ?? [])
        : [],
  ),
  renderedResult,
];

/** The result with its cleaned surfaces; the very same one where all of them are as they were. */
export function putBack(
  before: ToolResult,
  { surfaces, embedded, follows: isWritten }: ResultSurfaces,
  sweep: Sweep,
): ToolResult {
  if (surfaces.every((surface, index) => sweep.values[index] === surface.value)) return before;
  const [value, content, text, error, args, shown, rest] = sweep.values;
  const jsonTexts = cleanedJson(embedded, sweep.values.slice(surfaces.length - embedded.length));
  const textOr = (original: string, cleaned: string) => jsonTexts.get(original) ?? cleaned;
  // A cleaned text is a text, a cleaned object an object, a cleaned block the same block with other
  // texts.
  const result = typeof before.result === 'string' ? textOr(before.result, value as string) : value;
  const renderedResult = textOr(before.renderedResult, text as string);
  const isRevalued = surfaces[0]?.value !== null && result !== before.result;
  const isRenewed = before.ok ? isRevalued : error !== before.error;
  // Where the text follows the value it is written anew with it; what only the text gave away is
  // replaced in the text.
  const follows = isWritten && (isRenewed || renderedResult === before.renderedResult);
  return withResult(before, {
    ...(isRevalued ? { result } : {}),
    ...(error === before.error ? {} : { error: error as string }),
    ...(args === surfaces[4]?.value ? {} : { arguments: args as JsonObject }),
    ...(before.interruption === undefined
      ? {}
      : { interruption: { ...before.interruption, shown: shown as JsonObject } }),
    ...(rest === null ? {} : restChanges(before, rest as JsonObject)),
    ...(follows
      ? {}
      : {
          content: cleanedBlocks(
            before.content,
            content as unknown as readonly ContentBlock[],
            textOr,
          ),
          renderedResult,
        }),
  });
}

function restChanges(
  { approval, outputFiles, errorCategory }: ToolResult,
  rest: JsonObject,
): ResultChanges {
  const {
    metadata,
    approval: cleaned,
    uris,
  } = rest as unknown as ReturnType<typeof restOf> & RestShape; // As `restOf` made it.
  return {
    ...(metadata === null ? {} : { metadata }),
    ...(approval === null || cleaned === null
      ? {}
      : {
          approval: {
            ...approval,
            decidedBy: cleaned.decidedBy,
            ...(cleaned.reason === null ? {} : { reason: cleaned.reason }),
          },
        }),
    outputFiles: outputFiles.map((file, index) => ({ ...file, uri: uris[index] ?? file.uri })),
    errorCategory:
      typeof rest['errorCategory'] === 'string' ? rest['errorCategory'] : errorCategory,
  };
}

interface RestShape {
  readonly metadata: JsonObject | null;
  readonly approval: { readonly decidedBy: string; readonly reason: string | null } | null;
  readonly uris: readonly string[];
}

/**
 * A picture with a marker inside is no picture: what was found in bytes takes all of them along.
 */
const NO_BYTES = Buffer.from('[redacted]').toString('base64');

function cleanedBlocks(
  before: readonly ContentBlock[],
  after: readonly ContentBlock[],
  textOr: (original: string, cleaned: string) => string,
): readonly ContentBlock[] {
  return after.map((block, index) => {
    const original = before[index];
    if (original === block && block.type !== 'text' && block.type !== 'resource') return block;
    if (block.type === 'text' && original?.type === 'text')
      return { ...block, text: textOr(original.text, block.text) };
    if ((block.type === 'image' || block.type === 'audio') && original?.type === block.type) {
      return block.data === original.data ? block : { ...block, data: NO_BYTES };
    }
    if (block.type !== 'resource' || original?.type !== 'resource') return block;
    const { text, blob } = original.resource;
    const resource = {
      ...block.resource,
      ...(text === undefined ? {} : { text: textOr(text, block.resource.text ?? '') }),
      ...(blob === undefined || blob === block.resource.blob ? {} : { blob: NO_BYTES }),
    };
    return { ...block, resource };
  });
}

interface EmbeddedJson {
  readonly text: string;
  readonly value: JsonValue;
}

/**
 * Larger documents are not read: parsing cannot take turns. What a path hides in the value is still
 * hidden in them.
 */
const MAX_JSON = 1_000_000;
/** As deep as the framework goes; deeper ones would end the walk and with it the call. */
const MAX_DEPTH = 256;

function embeddedJson(texts: readonly string[]): readonly EmbeddedJson[] {
  return [...new Set(texts)].flatMap((text) => {
    if (text.length > MAX_JSON || !/^\s*[[{]/.test(text)) return [];
    try {
      const value = JSON.parse(text) as JsonValue; // JSON, whatever it holds.
      return isDeep(value, MAX_DEPTH) ? [] : [{ text, value }];
    } catch {
      return [];
    }
  });
}

function isDeep(value: JsonValue, room: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return (
    room === 0 ||
    (Object.values(value) as readonly JsonValue[]).some((item) => isDeep(item, room - 1))
  );
}

/** The documents that changed, written out again with the indentation they had. */
function cleanedJson(
  embedded: readonly EmbeddedJson[],
  values: readonly JsonValue[],
): ReadonlyMap<string, string> {
  return new Map(
    embedded.flatMap(({ text, value }, index) => {
      const cleaned = values[index] ?? null;
      if (cleaned === value) return [];
      const [, indent = ''] = /^\s*[[{]\n( +|\t)/.exec(text) ?? [];
      return [[text, JSON.stringify(cleaned, null, indent)] as const];
    }),
  );
}
