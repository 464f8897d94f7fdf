/**
 * The call: what the model asked for, frozen, with one private slot for what belongs to this call
 * alone.
 */

import { randomUUID } from 'node:crypto';
import type { ToolAnnotations } from './annotations.ts';
import type { JsonObject } from '../json/json-value.ts';

export type ExecutorKind = 'local' | 'host_bridge' | 'mcp_server' | 'provider_native';
export type JsonSchema = JsonObject;

/** Where in the agent's work a call belongs. */
export interface Turn {
  readonly iteration: number;
  readonly sessionId: string;
  readonly turnId?: string;
  readonly runId?: string;
  readonly model?: string;
  readonly provider?: string;
  /** Position in the batch the model emitted. */
  readonly emitOrder?: number;
  readonly prefetchNextTurn?: boolean;
  /** How often this call was interrupted and taken up again. Set by `resume`, never by a host. */
  readonly resumes?: number;
}

export interface ToolProgress {
  readonly progress?: number;
  readonly total?: number;
  readonly message?: string;
}

export const SLOT: unique symbol = Symbol('allium.call');

export interface ToolCall {
  readonly toolName: string;
  /** What the model chose; hidden arguments are not in here. */
  readonly toolArgs: JsonObject;
  readonly callId: string;
  readonly declaredExecutor: ExecutorKind | null;
  /** The tool's own input schema, without what layers injected. */
  readonly schema: JsonSchema | null;
  readonly description: string;
  readonly annotations: ToolAnnotations;
  readonly turn: Turn;
  readonly signal: AbortSignal;
  /** A layer may wrap it; it may not swallow it. */
  readonly report: (progress: ToolProgress) => void;
  readonly metadata?: JsonObject;
  /** What the framework keeps with the call. Only the onion looks inside. */
  readonly [SLOT]: object;
}

export type CallFields = Omit<ToolCall, typeof SLOT>;

export type CreateId = () => string;

export const randomId: CreateId = () => randomUUID();
