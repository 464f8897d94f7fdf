/** `serveHostTools`: the other half of a bridge, for hosts that run Node. */

import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { givenContent } from '../../core/onion/make-result.ts';
import type { ToolProgress, Turn } from '../../core/contract/call.ts';
import { type Clock, systemClock } from '../../core/time/clock.ts';
import { isObject, snapshot } from '../../core/json/json.ts';
import type { ToolSpec } from '../../core/contract/layer.ts';
import { checkOptions, expected } from '../../core/contract/options.ts';
import type { ToolResult } from '../../core/contract/result.ts';
import { specOf } from '../../tools/own-definition.ts';
import { toWire } from '../../core/wire/wire.ts';
import { validateJson } from '../../tools/schema/validator.ts';
import type { ToolRequest } from '../../tools/tool.ts';
import { type BridgeChannel, checkChannel, type Incoming, openWire, type Wire } from './wire.ts';
import { type BridgeProblem, problemTeller, type TellProblem } from './problems.ts';
import {
  CALL_SCHEMA,
  type CallParams,
  CODES,
  DEFAULT_MAX_LINE_BYTES,
  HOST_BRIDGE_PROTOCOL,
  METHODS,
  MIN_LINE_BYTES,
} from './protocol.ts';

/** What a host serves. `governTools(…)` gives it, with layers of the host's own or with none. */
export interface ServedTools {
  readonly tools: readonly ToolSpec[];
  call(
    request: ToolRequest,
    options: {
      readonly signal: AbortSignal;
      readonly turn: Partial<Turn>;
      readonly onProgress: (progress: ToolProgress) => void;
    },
  ): Promise<ToolResult>;
}

export interface ServeHostToolsOptions {
  /**
   * Gets what the governing side has on record about each call, in wire form. Not checked: it is
   * whatever came.
   */
  readonly onAudit?: (event: JsonObject) => void;
  /** Hears what the governing side does wrong, which ends nothing. @default nobody is told */
  readonly onProblem?: (problem: BridgeProblem) => void;
  /** The longest message, in both directions. @default 10000000 */
  readonly maxLineBytes?: number;
  readonly clock?: Clock;
}

export interface ServedHost {
  /** Resolves when the other side has gone, or this one was closed. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

const EXPECTED = {
  onAudit: expected.function,
  onProblem: expected.function,
  maxLineBytes: expected.integer(MIN_LINE_BYTES),
  clock: expected.object,
} as const;

type Message = Readonly<Record<string, unknown>>;
type RequestId = string | number;

interface Running {
  readonly callId: string;
  readonly abort: AbortController;
}

interface Host {
  readonly served: ServedTools;
  readonly listed: readonly JsonObject[];
  readonly running: Map<RequestId, Running>;
  readonly tell: TellProblem;
  readonly onAudit: (event: JsonObject) => void;
  readonly wire: () => Wire;
}

/**
 * Answers `tool/list` and `tool/call` until the other side goes; what runs then is aborted. Does
 * not close what it serves.
 */
export function serveHostTools(
  channel: BridgeChannel,
  served: ServedTools,
  options: ServeHostToolsOptions = {},
): ServedHost {
  checkOptions('serveHostTools', options, EXPECTED);
  checkChannel('serveHostTools', channel);
  const {
    maxLineBytes = DEFAULT_MAX_LINE_BYTES,
    clock = systemClock,
    onAudit = () => {},
  } = options;
  const listed = served.tools.map(wireTool);
  const host: Host = {
    served,
    listed,
    running: new Map(),
    tell: problemTeller(options.onProblem),
    onAudit,
    wire: () => wire,
  };
  let onClosed = (): void => {};
  const closed = new Promise<void>((resolve) => {
    onClosed = resolve;
  });
  const wire = openWire(channel, {
    ...{ maxLineBytes, clock },
    onIncoming: (incoming) => receive(host, incoming),
    onEnd() {
      for (const { abort } of host.running.values()) abort.abort();
      onClosed();
    },
  });
  return Object.freeze({ closed, close: () => wire.close() });
}

function receive(host: Host, incoming: Incoming): void {
  if ('unreadable' in incoming) {
    host.tell(incoming.unreadable, 'a line was skipped');
    // Who floods this side with nonsense and does not read is not answered.
    if (host.wire().isReading) answer(host, null, errorOf(CODES.parse, 'a line could not be read'));
    return;
  }
  const { id, method, params } = incoming.message;
  if (typeof id === 'string' || typeof id === 'number') request(host, id, method, params);
  else notified(host, method, isObject(params) ? params : {});
}

function request(host: Host, id: RequestId, method: unknown, params: unknown): void {
  if (host.running.has(id))
    return answer(host, id, errorOf(CODES.invalidRequest, 'a request of that id is open'));
  if (method === METHODS.list)
    return answer(host, id, { result: { protocol: HOST_BRIDGE_PROTOCOL, tools: host.listed } });
  if (method !== METHODS.call)
    return answer(host, id, errorOf(CODES.unknownMethod, 'method not found'));
  const call = callFrom(params);
  if (call === null)
    return answer(
      host,
      id,
      errorOf(CODES.invalidParams, 'tool/call takes name, arguments, call_id and session_id'),
    );
  void run(host, id, call);
}

function notified({ running, tell, onAudit }: Host, method: unknown, params: Message): void {
  if (method === METHODS.cancel) return cancel(running, params);
  if (method !== METHODS.audit)
    return tell('unknown_method', 'a notification came that is not known here');
  try {
    onAudit(params as JsonObject); // It came as JSON.
  } catch {
    tell('audit_failed', 'onAudit threw');
  }
}

async function run(
  host: Host,
  id: RequestId,
  { name, arguments: args, call_id: callId, session_id: sessionId }: CallParams,
): Promise<void> {
  const { served, running, tell } = host;
  const abort = new AbortController();
  running.set(id, { callId, abort });
  const onProgress = (progress: ToolProgress): void => {
    const said = {
      jsonrpc: '2.0',
      method: METHODS.progress,
      params: { call_id: callId, request_id: id, ...progress },
    };
    if (running.has(id) && typeof host.wire().send(said) === 'string')
      tell('not_sent', 'progress was not sent');
  };
  const said = await callServed(
    served,
    { name, arguments: args, id: callId },
    { signal: abort.signal, turn: { sessionId }, onProgress },
  );
  running.delete(id);
  answer(host, id, said);
}

async function callServed(
  served: ServedTools,
  ...call: Parameters<ServedTools['call']>
): Promise<object> {
  try {
    return answerFor(await served.call(...call));
  } catch {
    return FAILED;
  }
}

function answer(host: Host, id: RequestId | null, said: object): void {
  const sent = host.wire().push({ jsonrpc: '2.0', id, ...said });
  if (sent === 'line_too_long') host.wire().push({ jsonrpc: '2.0', id, ...TOO_LARGE });
}

/** Ids of calls are the model's and may repeat; the id of a request does not. */
function cancel(
  running: ReadonlyMap<RequestId, Running>,
  { call_id: callId, request_id: requestId }: Message,
): void {
  for (const [id, { callId: open, abort }] of running)
    if (open === callId && (requestId ?? id) === id) abort.abort();
}

function callFrom(params: unknown): CallParams | null {
  try {
    const call = snapshot(params ?? null);
    // The schema has just said so.
    return validateJson(CALL_SCHEMA, call).length === 0 ? (call as unknown as CallParams) : null;
  } catch {
    return null;
  }
}

const wireTool = (tool: ToolSpec): JsonObject => toWire({ ...specOf(tool) });

const errorOf = (code: number, message: string, data?: object) => ({
  error: { code, message, ...(data && { data }) },
});

const FAILED = errorOf(CODES.internal, 'The host failed outside the tool.');
const TOO_LARGE = errorOf(
  CODES.callFailed,
  'The tool answered with more than can be sent. Ask for less at a time.',
  {
    ...{ executed: 'yes', category: 'result_too_large', error_class: 'repairable' },
  },
);

/** What goes over the wire for a result. */
function answerFor(result: ToolResult): object {
  const { status, error, errorCategory, executed, errorClass } = result;
  if (result.ok) return { result: contentOf(result, result.result) };
  if (errorCategory === 'tool_error')
    return { result: { ...contentOf(result, error), is_error: true } };
  const code =
    status === 'tool_not_found' || status === 'schema_violation'
      ? CODES.invalidParams
      : CODES.callFailed;
  return errorOf(code, error ?? status, {
    executed,
    category: errorCategory ?? status,
    ...(errorClass && { error_class: errorClass }),
  });
}

/** Blocks where the tool gave any, and otherwise its value. */
function contentOf(result: ToolResult, value: JsonValue): object {
  const content = givenContent(result);
  if (content.length === 0) return { value };
  return { content, ...(isObject(result.result) ? { structured_content: result.result } : {}) };
}
