/** Makes the model say why it calls a tool, and writes that down. */

import {
  annotate,
  checkOptions,
  declaresParameter,
  defineLayer,
  type EntryPatch,
  injectParameter,
  type JsonObject,
  type JsonSchema,
  type JsonValue,
  refuse,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
  withCall,
} from '../../src/layer.ts';
import { OPTIONS, type RequiredReasonOptions } from './options.ts';

export type { RequiredReasonOptions };

const BLANK = '(no reason given)';

/**
 * Adds a field to every tool, refuses calls that leave it empty, takes it off, and records it. A
 * tool that declares the field itself keeps it. It does not judge whether a reason is true or good:
 * the words are the model's own.
 */
export function requiredReason(options: RequiredReasonOptions = {}): ToolLayer {
  checkOptions('requiredReason', options, OPTIONS);
  const {
    field = 'reason',
    strip = true,
    auditKey = 'summary',
    minLength = 1,
    onMissing = 'reject',
  } = options;
  const {
    description = 'Brief one-line reason for invoking this tool',
    schemaRequired = onMissing === 'reject',
  } = options;
  const parameter = Object.freeze({ type: 'string', description });
  const isOwned = ownership(field);
  return defineLayer({
    name: 'requiredReason',
    rewrites: true,
    schemaTransform: (tool) =>
      injectParameter(tool, field, parameter, { required: schemaRequired }),
    caller(call, next) {
      const owned = isOwned(call);
      const reason = readReason(call.toolArgs, field, minLength);
      // A tool whose own field of that name takes no text could otherwise never be called.
      const fill = onMissing === 'fill_blank' || (owned && !takesText(call.schema, field));
      if (reason === null && !fill) return rejected(call, field, minLength);
      return next(strip && !owned ? without(call, field) : call).then((result) =>
        reason === null
          ? annotate(result, { [auditKey]: BLANK, reason: BLANK, reasonMissing: true }, FILLED)
          : annotate(result, { [auditKey]: reason, reason }),
      );
    },
  });
}

/**
 * Whether the tool declares the field itself. Asked for every call, and the schema of a tool stays
 * the same.
 */
function ownership(field: string): (call: ToolCall) => boolean {
  const known = new WeakMap<JsonSchema, boolean>();
  return ({ schema }) => {
    if (schema === null) return false;
    const before = known.get(schema);
    if (before !== undefined) return before;
    const owned = declaresParameter(schema, field);
    known.set(schema, owned);
    return owned;
  };
}

const FILLED: EntryPatch = { status: 'fill_blank' };

function rejected(call: ToolCall, field: string, minLength: number): ToolResult {
  const length = minLength === 1 ? '' : `, at least ${minLength} characters long`;
  const text = `${call.toolName} was not called: it takes a "${field}" that says in one line why you call it${length}. Add it and call again.`;
  return annotate(
    refuse(call, 'schema_violation', text),
    { reasonMissing: true },
    { status: 'rejected' },
  );
}

function without(call: ToolCall, field: string): ToolCall {
  if (!Object.hasOwn(call.toolArgs, field)) return call;
  const { [field]: _reason, ...toolArgs } = call.toolArgs;
  return withCall(call, { toolArgs });
}

/** A reason is a line: what is longer is an argument that found its way into the record. */
const MAX_LENGTH = 2_000;

/** Characters that do not show say nothing. */
const SHOWS = /[^\p{Cc}\p{Cf}\p{Zs}]/u;

/** The reason without the space around it, or `null` where there is none that counts. */
function readReason(args: JsonObject, field: string, minLength: number): string | null {
  const value = Object.hasOwn(args, field) ? args[field] : undefined;
  if (typeof value !== 'string') return null;
  const text = value.trim();
  if (!SHOWS.test(text) || text.length < minLength) return null;
  const cut = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
  return cut.toWellFormed();
}

/**
 * Whether a tool's own field of that name can hold a text, as far as the top of its schema says.
 */
function takesText(schema: JsonSchema | null, field: string): boolean {
  const member = memberOf(memberOf(schema, 'properties'), field);
  const type = memberOf(member, 'type');
  return (
    type === undefined || type === 'string' || (Array.isArray(type) && type.includes('string'))
  );
}

const memberOf = (value: JsonValue | undefined, name: string): JsonValue | undefined =>
  isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;

const isRecord = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
