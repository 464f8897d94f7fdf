/** What Anthropic ran itself, from a message of its Messages API. */

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
  serverTool,
  type Skip,
  textOf,
  typedItem,
} from './native-call.ts';
import { words } from '../../system/words.ts';

/** Text, and calls that the host runs itself. */
const IGNORED: ReadonlySet<string> = new Set(
  words(`
    text thinking redacted_thinking tool_use tool_result image document search_result
    container_upload compaction mcp_tool_listing
  `),
);

const USES: ReadonlySet<string> = new Set(['server_tool_use', 'mcp_tool_use']);
const RESULT = '_tool_result';

export function anthropicCalls(content: unknown, skip: Skip): readonly NativeCall[] {
  const items = itemsIn(content, 'content', skip, typedItem(IGNORED));
  const results = resultsIn(items, skip);
  const calls: NativeCall[] = [];
  for (const { kind, fields, path } of items) {
    if (USES.has(kind)) {
      const name = textOf(fields.name);
      if (name === null) skip({ path, kind, why: 'it names no tool' });
      else
        calls.push(
          useOf(
            serverTool(kind === 'mcp_tool_use' ? fields.server_name : undefined, name),
            fields,
            results,
          ),
        );
    } else if (!kind.endsWith(RESULT))
      skip({ path, kind, why: 'it is of a kind that is not known here' });
  }
  return [...calls, ...[...results.values()].map(orphan)];
}

/** By the id of the use they answer. */
function resultsIn(items: readonly Item[], skip: Skip): Map<string, Item> {
  const results = new Map<string, Item>();
  for (const item of items) {
    const { kind, fields, path } = item;
    if (!kind.endsWith(RESULT)) continue;
    const id = textOf(fields.tool_use_id);
    if (id === null) skip({ path, kind, why: 'it answers no call' });
    else if (results.has(id))
      skip({ path, kind, why: 'it answers a call that is answered already' });
    else results.set(id, item);
  }
  return results;
}

/** A result is used up by the first use of its id: a second use of that id is another call. */
function useOf(name: string, { id, input }: JsonObject, results: Map<string, Item>): NativeCall {
  const result = typeof id === 'string' ? results.get(id) : undefined;
  if (typeof id === 'string') results.delete(id);
  return nativeCall(
    name,
    objectOf(input),
    id,
    result === undefined ? noOutput() : outputOf(result.fields),
  );
}

/** The use was in an earlier message, which the provider had paused. */
const orphan = ({ kind, fields }: Item): NativeCall =>
  nativeCall(kind.slice(0, -RESULT.length), {}, fields.tool_use_id, outputOf(fields));

function outputOf({ content = null, is_error: isError }: JsonObject): unknown {
  if (isError === true) return errorOutput(joined(content));
  return isObject(content) && typeof content.type === 'string' && content.type.endsWith('_error')
    ? errorOutput(content)
    : content;
}

/** An MCP server's error comes as a text or as blocks of it. */
const joined = (content: JsonValue): JsonValue =>
  Array.isArray(content)
    ? content
        .map((block: JsonValue) => textOf(objectOf(block).text))
        .filter((text) => text !== null)
        .join('\n')
    : content;
