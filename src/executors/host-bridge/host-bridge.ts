/**
 * `hostBridge`: tools that live in another process, in any language, at the other end of a pipe or
 * a socket.
 */

import type { JsonObject } from '../../core/json/json-value.ts';
import type { ToolProgress } from '../../core/contract/call.ts';
import { type Clock, systemClock } from '../../core/time/clock.ts';
import { AlliumError } from '../../core/contract/errors.ts';
import { isObject, snapshotObject } from '../../core/json/json.ts';
import { checkOptions, expected } from '../../core/contract/options.ts';
import { toWire, type ToolCallAuditEvent } from '../../core/wire/wire.ts';
import type { NamePolicy } from '../../tools/names.ts';
import { createRegistry, type Registry } from '../../tools/registry.ts';
import type { ToolContext, ToolExecutor } from '../../tools/tool.ts';
import { type BridgeChannel, checkChannel, openWire, type Wire } from './wire.ts';
import { type BridgeProblem, problemTeller, type TellProblem } from './problems.ts';
import {
  CODES,
  DEFAULT_MAX_LINE_BYTES,
  HOST_BRIDGE_PROTOCOL,
  METHODS,
  MIN_LINE_BYTES,
} from './protocol.ts';
import { readReply, unsentCall } from './read-reply.ts';
import { readTools, type RefusedTool } from './read-tools.ts';
import { createRequests, receiveReplies, type Reply, type Requests } from './requests.ts';

export interface HostBridgeOptions {
  /** How long the host may take to say which tools it has. @default 10000 */
  readonly connectTimeoutMs?: number;
  /** The longest message, in both directions. @default 10000000 */
  readonly maxLineBytes?: number;
  /** What the host's tools may be called, as for `createRegistry`. @default 'portable' */
  readonly names?: NamePolicy;
  /** Hears what the host does wrong, which ends nothing. @default nobody is told */
  readonly onProblem?: (problem: BridgeProblem) => void;
  readonly clock?: Clock;
}

/**
 * A connected host. An executor for tools that were defined here with `executor: 'host_bridge'`;
 * the host's own bring their way to it along.
 */
export interface HostBridge extends ToolExecutor {
  readonly kind: 'host_bridge';
  /**
   * What the host offers. Stays tied to this host when it is renamed, or merged with tools from
   * elsewhere.
   */
  readonly tools: Registry;
  /** What the host offered and was left out. */
  readonly refused: readonly RefusedTool[];
  /**
   * Sends the host an audit event, for `governed.on('tool_call_audit', bridge.audit)`. One that a
   * slow host cannot take is lost, and told.
   */
  readonly audit: (event: ToolCallAuditEvent) => void;
  /** Resolves when the host has gone, or the bridge was closed. It does not connect again. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

const EXPECTED = {
  connectTimeoutMs: expected.integer(1),
  maxLineBytes: expected.integer(MIN_LINE_BYTES),
  names: expected.oneOf('portable', 'mcp'),
  onProblem: expected.function,
  clock: expected.object,
} as const;

/**
 * Asks a host for its tools. Throws `ERR_HOST_BRIDGE` for one that goes, stays silent, or speaks
 * another protocol, and closes the channel then. The host is trusted to run its tools and to say
 * whether they ran, and with nothing else. Starts and ends no process.
 */
export async function hostBridge(
  channel: BridgeChannel,
  options: HostBridgeOptions = {},
): Promise<HostBridge> {
  checkOptions('hostBridge', options, EXPECTED);
  checkChannel('hostBridge', channel);
  const {
    maxLineBytes = DEFAULT_MAX_LINE_BYTES,
    clock = systemClock,
    connectTimeoutMs = 10_000,
    names = 'portable',
  } = options;
  const tell = problemTeller(options.onProblem);
  const { wire, requests, closed, notify } = connect(channel, { maxLineBytes, clock, tell });
  const listed = await listTools(wire, requests, clock, connectTimeoutMs);

  const call = async (
    name: string,
    args: Readonly<Record<string, unknown>>,
    context: ToolContext,
  ): Promise<unknown> =>
    readReply(await ask(requests, name, args, context), { tell, maxLineBytes });
  const { tools, refused } = readTools(
    listed,
    names,
    (name) => (args, context) => call(name, args, context),
  );
  for (const { name, reason } of refused)
    tell('refused_tool', `tool "${name}" was left out: ${reason}`);
  return Object.freeze({
    kind: 'host_bridge' as const,
    tools: createRegistry(tools, { names }),
    refused,
    execute: ({ tool, args, context }: Parameters<ToolExecutor['execute']>[0]) =>
      call(tool.name, args, context),
    audit: (event: ToolCallAuditEvent) => notify(METHODS.audit, event),
    closed,
    close: () => wire.close(),
  });
}

interface Connection {
  readonly wire: Wire;
  readonly requests: Requests;
  readonly notify: (method: string, params: object) => void;
  readonly closed: Promise<void>;
}

function connect(
  channel: BridgeChannel,
  parts: { maxLineBytes: number; clock: Clock; tell: TellProblem },
): Connection {
  const { tell } = parts;
  let onClosed = (): void => {};
  const closed = new Promise<void>((resolve) => {
    onClosed = resolve;
  });
  const notify = (method: string, params: object): void => {
    const sent = wire.send({ jsonrpc: '2.0', method, params });
    if (typeof sent === 'string') tell('not_sent', `a "${method}" was not sent: ${sent}`);
  };
  const requests: Requests = createRequests({
    send: (message) => wire.send(message),
    push: (message) => wire.push(message),
  });
  const onEnd = (): void => {
    requests.end();
    onClosed();
  };
  // A host has nothing to ask here. One that does not read its answers gets none.
  const refuse = ({ id }: Readonly<Record<string, unknown>>): void => {
    tell('unknown_method', 'the host sent a request or a notification that is not known here');
    if (!wire.isReading || (typeof id !== 'number' && typeof id !== 'string')) return;
    wire.send({
      jsonrpc: '2.0',
      id,
      error: { code: CODES.unknownMethod, message: 'method not found' },
    });
  };
  const wire = openWire(channel, {
    ...parts,
    onIncoming: receiveReplies(requests, tell, refuse),
    onEnd,
  });
  return { wire, requests, closed, notify };
}

async function listTools(
  wire: Wire,
  requests: Requests,
  clock: Clock,
  timeoutMs: number,
): Promise<readonly unknown[]> {
  let late = false;
  const inTime = clock.after(timeoutMs, () => {
    late = true;
    wire.end();
  });
  const reply = await requests.ask({
    method: METHODS.list,
    params: { protocol: HOST_BRIDGE_PROTOCOL },
  });
  inTime();
  try {
    return listFrom(reply, late ? timeoutMs : null);
  } catch (error) {
    wire.end();
    throw error;
  }
}

function listFrom(reply: Reply, lateMs: number | null): readonly unknown[] {
  if (lateMs !== null)
    throw failedToConnect('timeout', `the host did not say within ${lateMs} ms which tools it has`);
  if (reply.by === 'lost' || reply.by === 'unsent')
    throw failedToConnect('closed', 'the host went away before it said which tools it has');
  if (reply.by === 'error')
    throw failedToConnect('refused', 'the host refused to say which tools it has');
  const { protocol, tools } = reply.by === 'result' && isObject(reply.result) ? reply.result : {};
  if (protocol === HOST_BRIDGE_PROTOCOL && Array.isArray(tools)) return tools;
  throw failedToConnect(
    'protocol',
    `the host does not speak version ${HOST_BRIDGE_PROTOCOL} of the protocol`,
  );
}

const failedToConnect = (reason: string, message: string): AlliumError =>
  new AlliumError('ERR_HOST_BRIDGE', message, { reason });

async function ask(
  requests: Requests,
  name: string,
  args: Readonly<Record<string, unknown>>,
  { callId, turn, signal, report, idempotencyKey }: ToolContext,
): Promise<Reply> {
  const { sessionId, iteration, turnId, runId } = turn;
  const meta = toWire({ iteration, turnId, runId, idempotencyKey });
  const params = { name, arguments: plainArgs(args), call_id: callId, session_id: sessionId, meta };
  return requests.ask({
    method: METHODS.call,
    params,
    // What is no number and no text, the dispatcher takes out.
    call: {
      callId,
      signal,
      onProgress: ({ progress, total, message }) =>
        report({ progress, total, message } as ToolProgress),
    },
  });
}

function plainArgs(args: Readonly<Record<string, unknown>>): JsonObject {
  try {
    return snapshotObject(args);
  } catch {
    throw unsentCall('not_json');
  }
}
