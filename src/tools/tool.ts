/** A tool: what the model is shown, and how it runs. */

import type { JsonObject, JsonValue } from '../core/json/json-value.ts';
import type { ExecutorKind, JsonSchema, ToolProgress, Turn } from '../core/contract/call.ts';
import type { Content, ContentBlock } from '../core/contract/content.ts';
import { Same, snapshot } from '../core/json/json.ts';
import type { ToolSpec } from '../core/contract/layer.ts';
import type { ToolResult } from '../core/contract/result.ts';
import type { ErrorClass, Executed } from '../core/contract/status.ts';

/** A request for a call: an object, or the model's raw JSON text. */
export interface ToolRequest {
  readonly name: string;
  readonly arguments: object | string;
  readonly id?: string;
}

/** Where a tool may log to; pino's loggers are such. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/**
 * What a tool gets beside its arguments. Narrow on purpose: it cannot reach the dispatcher or
 * another call.
 */
export interface ToolContext {
  readonly callId: string;
  readonly turn: Turn;
  readonly signal: AbortSignal;
  readonly report: (progress: ToolProgress) => void;
  readonly state: unknown;
  readonly stores: Readonly<Record<string, unknown>>;
  /** What the call may do at most; `null` where nothing restricts it. */
  readonly permissions: JsonObject | null;
  readonly logger: Logger;
  readonly idempotencyKey?: string;
  /** Calls another tool through the same stack. Never wider than this call. */
  readonly call: (request: ToolRequest) => Promise<ToolResult>;
}

/** Where a hidden argument comes from. */
export type HiddenSource =
  | 'sessionId'
  | 'runId'
  | 'turn'
  | 'signal'
  | 'state'
  | 'events'
  | 'report'
  | `store:${string}`
  | `secret:${string}`
  | ((context: ToolContext) => unknown);

/** An argument the host supplies and the model never sees. */
export interface HiddenArgument {
  readonly name: string;
  readonly from: HiddenSource;
}

/**
 * How a tool may be tried again, for layers that ask. No bundled one does, and the dispatcher
 * itself never repeats a call.
 */
export interface ToolRetry {
  readonly maxAttempts: number;
  readonly backoffMs?: number;
}

/** A tool as a registry holds it. */
export interface Tool extends ToolSpec {
  /**
   * What the executor is entered with must fit this; `inputSchema` may have been changed for
   * showing.
   */
  readonly ownSchema: JsonSchema;
  readonly injected: readonly HiddenArgument[];
  readonly executor: ExecutorKind;
  readonly timeoutMs?: number;
  readonly retry?: ToolRetry;
  readonly idempotency?: 'none' | 'safe' | 'keyed';
  readonly metadata?: JsonObject;
  /** A schema library's own check, run right before the tool, after every layer. */
  readonly parse?: (args: Readonly<Record<string, unknown>>) => Promise<ParsedArgs>;
  /**
   * A schema library's own check of what the tool answered. Its problems count, its value is not
   * used: what was answered stays as it is.
   */
  readonly parseOutput?: (value: unknown) => Promise<ParsedArgs>;
  readonly proposedRequests?: (
    args: JsonObject,
    context: ToolContext,
  ) => readonly JsonObject[] | Promise<readonly JsonObject[]>;
  readonly execute?: (args: Readonly<Record<string, unknown>>, context: ToolContext) => unknown;
  /**
   * Answers calls at once and runs the tool behind them. The dispatcher sees to it that each run is
   * governed like any call.
   */
  readonly background?: BackgroundRuns;
}

/** What a tool that runs in the background is started for. */
interface BackgroundOwner {
  readonly toolName: string;
  /** The call that started it. */
  readonly callId: string;
  readonly sessionId: string;
}

/** What somebody who listens hears of it. */
export interface BackgroundUpdate {
  readonly taskId: string;
  readonly status: 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled';
  /** The text the model would read, once there is an answer. */
  readonly text?: string;
}

/** The port behind tools whose calls are answered before they have run. */
export interface BackgroundRuns {
  /**
   * Starts `run` under an id of its own and answers what the call comes to, without waiting. The
   * run goes through the whole stack and is to be stopped by its signal. Throws where no more can
   * be started.
   */
  start(
    owner: BackgroundOwner,
    run: (id: string, signal: AbortSignal) => Promise<ToolResult>,
    tell: (update: BackgroundUpdate) => void,
  ): JsonValue | Promise<JsonValue>;
  /** A run that had waited for an approval was resumed elsewhere, and this is its result. */
  resumed(id: string, result: ToolResult): void | Promise<void>;
}

/** Checked arguments, or what is wrong with them. */
export type ParsedArgs =
  | { readonly value: Readonly<Record<string, unknown>> }
  | { readonly problems: readonly { path: string; message: string }[] };

/** What a tool answered, in parts; made by `toolOutput`. */
export interface ToolOutput {
  readonly content: Content;
  /** Usually an object; newer MCP servers may answer with any value. */
  readonly structuredContent?: JsonValue;
  readonly isError?: boolean;
  /** `false`: the answer is for this call alone, and no layer may keep it for another. */
  readonly keep?: boolean;
}

/** The mark of what `toolOutput` made: a private member, which no other object has. */
class Output extends Same {
  readonly #made = true;
  static readonly isOne = (value: unknown): value is ToolOutput =>
    typeof value === 'object' && value !== null && #made in value;
}

/**
 * An answer in MCP's shape. Without this mark an object that merely looks like one is an ordinary
 * value.
 */
export function toolOutput(output: {
  content: readonly ContentBlock[];
  structuredContent?: unknown;
  isError?: boolean;
  keep?: boolean;
}): ToolOutput {
  // A snapshot has the shape of what was copied.
  const copied = Object.freeze({ ...(snapshot(output) as unknown as ToolOutput) });
  new Output(copied);
  return copied;
}

/** Whether `toolOutput` made the value: one that only looks alike is plain data. */
export const isToolOutput = Output.isOne;

/** What a tool says of its own failure. */
export interface FailureDetails {
  readonly category?: string;
  readonly errorClass?: ErrorClass;
  /** What an executor knows about side effects; a tool that just throws leaves it unknown. */
  readonly executed?: Executed;
  /**
   * Nothing was done, because a person has to sign in first: what they are shown, such as an
   * address. The call waits for them.
   */
  readonly signIn?: JsonObject;
}

const failures = new WeakMap<object, FailureDetails>();

/**
 * An error for a tool or an executor to throw when it knows more than "it failed". The message is
 * for the model.
 */
export function toolFailure(message: string, details: FailureDetails = {}): Error {
  const error = new Error(message);
  failures.set(error, details);
  return error;
}

/**
 * Failures that mean: the tool is not what it was, and nothing was sent. Not a category, which the
 * other end of a bridge may claim.
 */
const definitionChanges = new WeakSet<object>();

/**
 * For executors: the tool is not any more what it was when the call was decided about, and nothing
 * was sent.
 */
export function definitionChanged(message: string): Error {
  const error = toolFailure(message, {
    executed: 'no',
    category: 'definition_changed',
    errorClass: 'fatal',
  });
  definitionChanges.add(error);
  return error;
}

/** Whether a tool failed because its definition is not the one that was called. */
export const isDefinitionChanged = (thrown: unknown): boolean =>
  typeof thrown === 'object' && thrown !== null && definitionChanges.has(thrown);

/** What `toolFailure` noted about a thrown value; nothing for any other. */
export const failureDetails = (thrown: unknown): FailureDetails =>
  (typeof thrown === 'object' && thrown !== null ? failures.get(thrown) : undefined) ?? {};

/** One run of a tool, as an executor gets it. `args` hold the hidden arguments too. */
export interface Invocation {
  readonly tool: Tool;
  readonly args: Readonly<Record<string, unknown>>;
  readonly context: ToolContext;
}

/**
 * The port every executor implements. It answers with a plain value or `toolOutput(…)`, or throws;
 * it heeds `context.signal`. Time limits, schemas, hidden arguments and results are the
 * dispatcher's business.
 */
export interface ToolExecutor {
  readonly kind: ExecutorKind;
  execute(invocation: Invocation): unknown;
  close?(): Promise<void>;
}
