/** What Google ran itself, from a `generateContent` response of its Gemini API. */

import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { isObject } from '../../core/json/json.ts';
import {
  errorOutput,
  type Item,
  itemsIn,
  type NativeCall,
  nativeCall,
  noOutput,
  objectOf,
  pick,
  type Skip,
  textOf,
} from './native-call.ts';

const PART_KINDS = ['executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse'] as const;

export function geminiCalls(candidates: unknown, skip: Skip): readonly NativeCall[] {
  return itemsIn(candidates, 'candidates', skip, () => 'candidate').flatMap(({ fields, path }) => [
    ...codeCalls(
      itemsIn(objectOf(fields.content).parts, `${path}.content.parts`, skip, partKind),
      skip,
    ),
    ...searches(fields),
    ...readPages(fields),
  ]);
}

const partKind = (part: Record<string, unknown>): string | null =>
  PART_KINDS.find((kind) => isObject(part[kind])) ?? null;

/** Code and what came of it: by their id where they have one, and otherwise one after the other. */
function codeCalls(parts: readonly Item[], skip: Skip): readonly NativeCall[] {
  const calls: NativeCall[] = [];
  const results = parts.filter(({ kind }) => kind === 'codeExecutionResult');
  for (const { kind, fields, path } of parts) {
    if (kind === 'executableCode') {
      const code = objectOf(fields.executableCode);
      const found = results.findIndex(
        ({ fields: result }) =>
          (objectOf(result.codeExecutionResult).id ?? null) === (code.id ?? null),
      );
      const [result] = found === -1 ? [] : results.splice(found, 1);
      calls.push(
        nativeCall('code_execution', pick(code, 'code', 'language'), code.id, outputOf(result)),
      );
    } else if (kind !== 'codeExecutionResult')
      skip({ path, kind, why: 'it is of a kind that is not known here' });
  }
  // Whatever ran, even if what it was is not in this response.
  return [
    ...calls,
    ...results.map((result) => nativeCall('code_execution', {}, undefined, outputOf(result))),
  ];
}

const FAILED: ReadonlySet<unknown> = new Set(['OUTCOME_FAILED', 'OUTCOME_DEADLINE_EXCEEDED']);

function outputOf(part: Item | undefined): unknown {
  const result = objectOf(part?.fields.codeExecutionResult);
  if (result.outcome === 'OUTCOME_OK') return pick(result, 'outcome', 'output');
  return FAILED.has(result.outcome)
    ? errorOutput({ error_code: result.outcome ?? null, message: result.output ?? null })
    : noOutput();
}

/**
 * All queries behind an answer are one call: the response does not tell which of them found what.
 */
function searches({ groundingMetadata }: JsonObject): readonly NativeCall[] {
  const { webSearchQueries, groundingChunks = [] } = objectOf(groundingMetadata);
  if (!Array.isArray(webSearchQueries) || webSearchQueries.length === 0) return [];
  return [nativeCall('google_search', { webSearchQueries }, undefined, { groundingChunks })];
}

function readPages({ urlContextMetadata }: JsonObject): readonly NativeCall[] {
  const { urlMetadata } = objectOf(urlContextMetadata);
  if (!Array.isArray(urlMetadata) || urlMetadata.length === 0) return [];
  const urls = urlMetadata.flatMap((page: JsonValue) => textOf(objectOf(page).retrievedUrl) ?? []);
  return [nativeCall('url_context', { urls }, undefined, { urlMetadata })];
}
