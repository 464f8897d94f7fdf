/** What OpenAI ran itself, from a response of its Responses API. */

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
  serverTool,
  type Skip,
  textOf,
  typedItem,
} from './native-call.ts';
import { words } from '../../system/words.ts';

/** Messages, and calls that the host runs or answers itself. */
const IGNORED: ReadonlySet<string> = new Set(
  words(`
    message reasoning compaction additional_tools item_reference tool_search_output function_call
    function_call_output custom_tool_call custom_tool_call_output computer_call
    computer_call_output local_shell_call local_shell_call_output apply_patch_call
    apply_patch_call_output mcp_list_tools mcp_approval_request mcp_approval_response
  `),
);

interface Parts {
  readonly args: JsonObject;
  readonly answer: JsonObject;
}

/** Which members of an item are the arguments, and which the answer. */
const BUILT_IN: ReadonlyMap<string, readonly [name: string, parts: (fields: JsonObject) => Parts]> =
  new Map([
    ['web_search_call', ['web_search', searchParts] as const],
    [
      'file_search_call',
      [
        'file_search',
        (fields: JsonObject) => ({
          args: pick(fields, 'queries'),
          answer: pick(fields, 'results'),
        }),
      ] as const,
    ],
    [
      'code_interpreter_call',
      [
        'code_interpreter',
        (fields: JsonObject) => ({
          args: pick(fields, 'code', 'container_id'),
          answer: pick(fields, 'outputs'),
        }),
      ] as const,
    ],
    ['image_generation_call', ['image_generation', imageParts] as const],
  ]);

export function openaiCalls(output: unknown, skip: Skip): readonly NativeCall[] {
  const items = itemsIn(output, 'output', skip, typedItem(IGNORED));
  const shellOutputs = new Map(
    items.flatMap(({ kind, fields }) =>
      kind === 'shell_call_output' ? [[fields.call_id, fields]] : [],
    ),
  );
  return items.flatMap((item) => {
    const { kind, fields, path } = item;
    const builtIn = BUILT_IN.get(kind);
    if (builtIn !== undefined) return builtInCall(fields, ...builtIn);
    if (kind === 'mcp_call') return mcpCall(item, skip);
    if (kind === 'shell_call') return shellCall(fields, shellOutputs.get(fields.call_id));
    if (kind === 'shell_call_output') return [];
    skip({ path, kind, why: 'it is of a kind that is not known here' });
    return [];
  });
}

function searchParts(fields: JsonObject): Parts {
  const { sources, ...action } = objectOf(fields.action);
  return {
    args: action,
    answer: { ...pick({ sources: sources ?? null }, 'sources'), ...pick(fields, 'results') },
  };
}

function imageParts(fields: JsonObject): Parts {
  const args = pick(
    fields,
    'action',
    'revised_prompt',
    'size',
    'quality',
    'background',
    'output_format',
  );
  return { args, answer: pick(fields, 'result') };
}

const builtInCall = (
  fields: JsonObject,
  name: string,
  parts: (fields: JsonObject) => Parts,
): NativeCall => {
  const { args, answer } = parts(fields);
  return nativeCall(name, args, fields.id, outputOf(fields, answer));
};

/** An item without a status is one of a response that has ended. */
function outputOf({ status, error }: JsonObject, answer: JsonValue): unknown {
  if (status === 'failed' || (error !== undefined && error !== null)) return errorOutput(error);
  return status === undefined || status === null || status === 'completed' ? answer : noOutput();
}

function mcpCall({ fields, kind, path }: Item, skip: Skip): readonly NativeCall[] {
  const name = textOf(fields.name);
  if (name === null) {
    skip({ path, kind, why: 'it names no tool' });
    return [];
  }
  const { arguments: args, output = null } = fields;
  const given = typeof args === 'string' || isObject(args) ? args : {};
  return [
    nativeCall(serverTool(fields.server_label, name), given, fields.id, outputOf(fields, output)),
  ];
}

/** Only a container is the provider's; in any other place the host runs the commands. */
function shellCall(fields: JsonObject, answered: JsonObject | undefined): readonly NativeCall[] {
  if (objectOf(fields.environment).type !== 'container_reference') return [];
  const output = answered === undefined ? noOutput() : outputOf(answered, pick(answered, 'output'));
  return [nativeCall('shell', objectOf(fields.action), fields.call_id ?? fields.id, output)];
}
