/**
 * `defineTool`: one definition, checked once, with the types of its arguments taken from its
 * schema.
 */

import type { JsonObject } from '../core/json/json-value.ts';
import {
  completeAnnotations,
  SIDE_EFFECT_LEVELS,
  TOOL_KINDS,
  type ToolAnnotations,
} from '../core/contract/annotations.ts';
import type { ExecutorKind, JsonSchema } from '../core/contract/call.ts';
import { AlliumError } from '../core/contract/errors.ts';
import { isObject, snapshotObject } from '../core/json/json.ts';
import { checkOptions, expected } from '../core/contract/options.ts';
import { hideParameters } from './parameters/hide-parameters.ts';
import {
  type InferArgs,
  isStandardSchema,
  jsonSchemaOf,
  parserOf,
  type ToolInputSchema,
} from './infer-args.ts';
import { declaresParameter } from './parameters/inject-parameter.ts';
import { checkToolName } from './names.ts';
import { defineOwn } from './own-definition.ts';
import { checkSchema, type CheckSchemaOptions } from './schema/check-schema.ts';
import { isKeyword } from './schema/keywords.ts';
import { unsupported } from './schema/unsupported.ts';
import type { HiddenArgument, Tool, ToolContext, ToolRetry } from './tool.ts';
import type { SentArgs, TypedTool } from './typed-tool.ts';
import { words } from '../system/words.ts';

/** What `defineTool` takes. */
export interface ToolDefinition<
  S extends ToolInputSchema,
  Name extends string = string,
  Hidden extends string = string,
  Value = unknown,
> {
  readonly name: Name;
  /** What the model reads to decide when to call it. */
  readonly description: string;
  /** A JSON Schema literal, or any Standard Schema such as zod's. */
  readonly inputSchema: S;
  /**
   * The same for what `execute` answers with. It only checks: a library's defaults and transforms
   * do not change the answer.
   */
  readonly outputSchema?: ToolInputSchema;
  /** Arguments the host supplies; taken out of the schema if it declares them. */
  readonly injected?: readonly (HiddenArgument & { readonly name: Hidden })[];
  readonly annotations?: ToolAnnotations;
  /** @default 'local' */
  readonly executor?: ExecutorKind;
  /** Enforced by the dispatcher, with or without a timeout layer; the smaller wins. */
  readonly timeoutMs?: number;
  readonly retry?: ToolRetry;
  readonly idempotency?: 'none' | 'safe' | 'keyed';
  readonly metadata?: object;
  /** What the tool is about to do, said before it does it. */
  readonly proposedRequests?: (
    args: InferArgs<S>,
    context: ToolContext,
  ) => readonly JsonObject[] | Promise<readonly JsonObject[]>;
  /**
   * A returned value is the result; a thrown error is `executor_error`, its message shown to the
   * model.
   */
  readonly execute?: (args: InferArgs<S>, context: ToolContext) => Value;
}

const A_SCHEMA = {
  text: 'a schema',
  test: (value: unknown) => isObject(value) || isStandardSchema(value),
};

const EXPECTED = {
  name: expected.required(expected.string),
  description: expected.required({
    text: 'a string',
    test: (value: unknown) => typeof value === 'string',
  }),
  inputSchema: expected.required(A_SCHEMA),
  outputSchema: A_SCHEMA,
  injected: expected.listOf({ text: '{ name, from }', test: isHiddenArgument }),
  annotations: { text: 'annotations', test: isAnnotations },
  executor: expected.oneOf('local', 'host_bridge', 'mcp_server', 'provider_native'),
  timeoutMs: expected.integer(1),
  retry: expected.object,
  idempotency: expected.oneOf('none', 'safe', 'keyed'),
  metadata: expected.object,
  proposedRequests: expected.function,
  execute: expected.function,
} as const;

/** Checks a definition and freezes it. Schemas are compiled on first use, not here. */
export function defineTool<
  const S extends ToolInputSchema,
  const Name extends string,
  const Hidden extends string = never,
  Value = unknown,
>(
  definition: ToolDefinition<S, Name, Hidden, Value>,
): TypedTool<Name, SentArgs<S, Hidden>, Awaited<Value>> {
  checkOptions(
    `tool ${typeof definition?.name === 'string' ? `"${definition.name}"` : '?'}`,
    definition,
    EXPECTED,
  );
  const {
    name,
    description,
    inputSchema,
    outputSchema,
    injected = [],
    annotations,
    executor = 'local',
    metadata,
    ...rest
  } = definition;
  checkToolName(name, 'mcp');
  const written = writtenSchema(inputSchema, name, `tool "${name}"`, { objectRoot: true });
  const hidden = new Set(injected.map((argument) => argument.name));
  if (hidden.size !== injected.length)
    throw new AlliumError(
      'ERR_INVALID_TOOL',
      `tool "${name}": two injected arguments share a name`,
      { toolName: name },
    );
  const schema = hideParameters(written, hidden);
  const fields = {
    ...rest,
    name,
    description,
    inputSchema: schema,
    ownSchema: schema,
    injected: Object.freeze(injected.map((argument) => Object.freeze({ ...argument }))),
    annotations: completeAnnotations(annotations),
    executor,
    ...(outputSchema === undefined
      ? {}
      : { outputSchema: writtenSchema(outputSchema, name, `output of tool "${name}"`) }),
    ...(metadata === undefined ? {} : { metadata: snapshotObject(metadata) }),
    ...(isStandardSchema(inputSchema)
      ? {
          parse: visibleParser(parserOf(inputSchema), hidden, (key) =>
            declaresParameter(written, key),
          ),
        }
      : {}),
    ...(isStandardSchema(outputSchema) ? { parseOutput: parserOf(outputSchema) } : {}),
  };
  // Types were inferred for the author; from here on every tool is the same plain shape.
  return defineOwn(Object.freeze(fields as unknown as Tool)) as TypedTool<Name, never, never>;
}

/**
 * The JSON Schema of a definition. An object without any keyword would accept everything: it is a
 * mistake, such as `{ city: 'string' }`.
 */
function writtenSchema(
  schema: ToolInputSchema,
  toolName: string,
  where: string,
  options: CheckSchemaOptions = {},
): JsonSchema {
  const checked = checkSchema(
    isStandardSchema(schema) ? jsonSchemaOf(schema, toolName) : schema,
    where,
    options,
  );
  const names = Object.keys(checked);
  if (names.length > 0 && !names.some(isKeyword))
    throw unsupported(
      where,
      null,
      'has no keyword of JSON Schema, so it would accept everything; write {} for a schema that shall',
    );
  return checked;
}

/**
 * A library's object schema drops or refuses what it does not declare, so undeclared hidden
 * arguments go around it.
 */
function visibleParser(
  parse: NonNullable<Tool['parse']>,
  hidden: ReadonlySet<string>,
  declares: (name: string) => boolean,
): NonNullable<Tool['parse']> {
  const around = [...hidden].filter((name) => !declares(name));
  return async (args) => {
    const seen = Object.fromEntries(
      Object.entries(args).filter(([name]) => !around.includes(name)),
    );
    const parsed = await parse(seen);
    if (!('value' in parsed)) return parsed;
    return {
      value: {
        ...parsed.value,
        ...Object.fromEntries(
          around.filter((name) => Object.hasOwn(args, name)).map((name) => [name, args[name]]),
        ),
      },
    };
  };
}

const PLAIN_SOURCES = new Set(words('sessionId runId turn signal state events report'));

function isHiddenArgument(value: unknown): boolean {
  if (
    !isObject(value) ||
    typeof value.name !== 'string' ||
    value.name === '' ||
    value.name === '__proto__'
  )
    return false;
  const { from } = value;
  return (
    typeof from === 'function' ||
    (typeof from === 'string' && (PLAIN_SOURCES.has(from) || /^(store|secret):.+$/s.test(from)))
  );
}

function isAnnotations(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { kind, sideEffectLevel, capabilities } = value;
  return (
    (kind === undefined || TOOL_KINDS.some((known) => known === kind)) &&
    (sideEffectLevel === undefined ||
      SIDE_EFFECT_LEVELS.some((known) => known === sideEffectLevel)) &&
    (capabilities === undefined ||
      expected.mapOf(expected.listOf(expected.string)).test(capabilities))
  );
}
