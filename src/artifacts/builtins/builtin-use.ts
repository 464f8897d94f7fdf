/** What the built-ins of one call may do, and whom they turn to. */

import type { LookupFunction } from 'node:net';
import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import type { Clock } from '../../core/time/clock.ts';
import type { ToolResult } from '../../core/contract/result.ts';
import type { ProposedRequest } from '../../permissions/permission.ts';
import type { FileGrants } from '../artifact.ts';

/** What a host gives to a script. Absent means nothing, and never everything. */
export interface BuiltinGrants extends FileGrants {
  /** The folder that `fs` and `exec` work in. */
  readonly workspace?: string;
  /**
   * Where in the workspace paths begin, `/` between its parts; links on the way are not followed.
   * @default at its root
   */
  readonly folder?: string;
  /**
   * Names that are never written to, from the workspace, whatever their case. @default where
   * artifacts and the stack are described
   */
  readonly protect?: readonly string[];
  /** There is no such grant: addresses inside a network are never reached. */
  readonly allowPrivateNetwork?: false;
  /**
   * Exact loopback addresses with their port, such as `127.0.0.1:8080`. For a host's own tests; no
   * file can say it.
   */
  readonly allowLoopback?: readonly string[];
  /** What asks the resolver. For hosts only. @default that of `node:dns` */
  readonly lookup?: LookupFunction;
  /** Where variables come from. For hosts only. @default `process.env` */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** One use of a built-in, for the record: which, and how it went. Never with what. */
export interface BuiltinRecord {
  readonly builtin: string;
  readonly outcome: 'ok' | 'refused' | 'failed' | 'cancelled';
  readonly durationMs: number;
}

/** Tasks that were started before. */
interface TaskBoard {
  poll(taskId: string): Promise<JsonValue>;
  await(
    taskId: string,
    options: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<JsonValue>;
}

/** What scripts of one tool keep from call to call. */
export interface ScriptCache {
  get(key: string): JsonValue | undefined;
  /** Answers whether it was kept: what is too large is not. */
  set(key: string, value: JsonValue, ttlMs?: number): boolean;
  has(key: string): boolean;
  delete(key: string): boolean;
}

/** One call, as its built-ins see it. */
export interface BuiltinUse {
  readonly signal: AbortSignal;
  /** @default the system's */
  readonly clock?: Clock;
  /** Asks the permission engine. Throws `HostError` with what would pass when it is not allowed. */
  ask(request: ProposedRequest): Promise<void>;
  record(use: BuiltinRecord): void;
  log(level: 'info' | 'warn', text: string): void;
  readonly tasks?: TaskBoard;
  /** A nested call through the same stack. */
  readonly call?: (request: {
    readonly name: string;
    readonly arguments: JsonObject;
  }) => Promise<ToolResult>;
  readonly cache: ScriptCache;
  /** Takes a tool or a hook that a script described. */
  readonly register?: (kind: 'tool' | 'hook', definition: JsonObject) => Promise<JsonValue>;
}

export const MAX_OUTPUT_BYTES = 1024 * 1024;
