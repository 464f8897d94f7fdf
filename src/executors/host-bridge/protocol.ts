/** The words of the bridge. `docs/host-bridge.md` writes them down for hosts in any language. */

import type { JsonObject } from '../../core/json/json-value.ts';
import type { JsonSchema } from '../../core/contract/call.ts';
import { snapshotObject } from '../../core/json/json.ts';

/** The version that a `tool/list` asks for and its answer has to name. */
export const HOST_BRIDGE_PROTOCOL = 1;

export const METHODS = Object.freeze({
  list: 'tool/list',
  call: 'tool/call',
  cancel: 'tool/cancel',
  progress: 'tool/progress',
  audit: 'tool_call_audit',
});

/** JSON-RPC's codes, and the one for a call that failed. */
export const CODES = Object.freeze({
  parse: -32_700,
  invalidRequest: -32_600,
  unknownMethod: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  callFailed: -32_000,
});

/** Codes that say the request was not carried out. */
export const NOT_CARRIED_OUT: ReadonlySet<unknown> = new Set([
  CODES.parse,
  CODES.invalidRequest,
  CODES.unknownMethod,
  CODES.invalidParams,
]);

export const DEFAULT_MAX_LINE_BYTES = 10_000_000;
export const MIN_LINE_BYTES = 1_024;

/** Compiled once: a snapshot is known by identity. */
const schema = (literal: object): JsonSchema => snapshotObject(literal);
const text = { type: 'string' };
const flag = { type: 'boolean' };
const texts = { type: 'array', items: text };

const ANNOTATIONS = {
  type: 'object',
  properties: {
    title: text,
    // What else these may be, `defineTool` knows.
    ...{ kind: text, side_effect_level: text, capabilities: { type: 'object' } },
    ...{
      read_only: flag,
      destructive: flag,
      idempotent: flag,
      open_world: flag,
      needs_approval: flag,
      supports_streaming: flag,
    },
    safety: {
      type: 'object',
      properties: {
        ...{
          filesystem: flag,
          process: flag,
          network: flag,
          payment: flag,
          requires_confirmation: flag,
        },
        ...{ allowed_roots: texts, redaction: texts },
      },
    },
  },
};

/**
 * What a host may say of a tool. Hidden arguments are not among it: a host cannot ask for secrets.
 */
export const TOOL_SCHEMA = schema({
  type: 'object',
  properties: {
    ...{
      name: text,
      description: text,
      input_schema: { type: 'object' },
      output_schema: { type: 'object' },
    },
    ...{
      annotations: ANNOTATIONS,
      timeout_ms: { type: 'integer', minimum: 1 },
      metadata: { type: 'object' },
    },
  },
  required: ['name', 'description', 'input_schema'],
});

const block = (type: string, required: readonly string[], properties: object = {}) => ({
  properties: {
    type: { const: type },
    ...Object.fromEntries(required.map((name) => [name, text])),
    ...properties,
  },
  required: ['type', ...required],
});

const CONTENT = {
  type: 'array',
  items: {
    type: 'object',
    properties: { annotations: { type: 'object' } },
    anyOf: [
      block('text', ['text']),
      block('image', ['data', 'mimeType']),
      block('audio', ['data', 'mimeType']),
      block('resource_link', ['uri', 'name'], { description: text, mimeType: text }),
      {
        properties: {
          type: { const: 'resource' },
          resource: {
            type: 'object',
            properties: { uri: text, mimeType: text, text, blob: text },
            required: ['uri'],
          },
        },
        required: ['type', 'resource'],
      },
    ],
  },
};

export const ANSWER_SCHEMA = schema({
  type: 'object',
  properties: {
    content: CONTENT,
    structured_content: { type: 'object' },
    value: true,
    is_error: flag,
  },
  // A plain value, or an answer in MCP's shape.
  not: {
    required: ['value'],
    anyOf: [{ required: ['content'] }, { required: ['structured_content'] }],
  },
});

/** What a `tool/call` asks for. */
export interface CallParams {
  readonly name: string;
  readonly arguments: JsonObject;
  readonly call_id: string;
  readonly session_id: string;
  readonly meta?: JsonObject;
}

export const CALL_SCHEMA = schema({
  type: 'object',
  properties: {
    name: text,
    arguments: { type: 'object' },
    call_id: text,
    session_id: text,
    meta: { type: 'object' },
  },
  required: ['name', 'arguments', 'call_id', 'session_id'],
});
