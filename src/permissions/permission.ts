/** What a call is about to do, and what is said about it before it does. */

import type { JsonObject } from '../core/json/json-value.ts';
import type { ToolCall } from '../core/contract/call.ts';
import type { Awaitable } from '../stores/claim-store.ts';

/** What a rule or a checker says. */
export const PERMISSION_DECISIONS = Object.freeze([
  'allow',
  'deny',
  'require_approval',
  'no_opinion',
] as const);
/** One of `PERMISSION_DECISIONS`. */
export type PermissionDecision = (typeof PERMISSION_DECISIONS)[number];

/** Every kind of request that is about a file or a folder. */
export const FILESYSTEM_KINDS = Object.freeze([
  'filesystem.read',
  'filesystem.write',
  'filesystem.edit',
  'filesystem.delete',
  'filesystem.move',
  'filesystem.list',
  'filesystem.mkdir',
] as const);
/** One of `FILESYSTEM_KINDS`. */
export type FilesystemKind = (typeof FILESYSTEM_KINDS)[number];

/**
 * What a tool says it is about to do. Every call proposes `tool.call` first, without its tool
 * having to say so.
 */
export type ProposedRequest =
  | { readonly kind: 'tool.call' }
  | {
      readonly kind: FilesystemKind;
      readonly path: string;
      /** Where it is moved to. */
      readonly to?: string;
    }
  | {
      readonly kind: 'process.command';
      /** A line for a shell, or `argv` for a program that is started without one. */
      readonly command?: string;
      readonly argv?: readonly string[];
      readonly cwd?: string;
      readonly env?: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'network.connect'; readonly host: string; readonly port?: number }
  | { readonly kind: 'mcp.connect' | 'mcp.invoke'; readonly server: string; readonly tool?: string }
  | { readonly kind: 'payment'; readonly amount: number; readonly currency: string }
  | ({ readonly kind: `custom.${string}` } & JsonObject);

/** A request as a checker gets it: frozen, with the call it belongs to. */
export type PermissionRequest = ProposedRequest & {
  readonly toolName: string;
  readonly callId: string;
  readonly call: ToolCall;
};

/**
 * An answer with its why. `reason` is for the model and the record: it says what would pass, and
 * holds no argument's value.
 */
export interface PermissionAnswer {
  readonly decision: PermissionDecision;
  readonly reason?: string;
  /** Which rule spoke, for tests and records: stable, snake_case. */
  readonly code?: string;
}

/** Looks at one request. What it throws, and whatever is none of these answers, denies. */
export type CheckerFunction = (
  request: PermissionRequest,
) => Awaitable<PermissionDecision | PermissionAnswer>;

/** A checker with a name. Ready-made policies are these; they answer with the object form. */
export interface PermissionPolicy {
  readonly name: string;
  evaluate(request: PermissionRequest): Awaitable<PermissionDecision | PermissionAnswer>;
  /**
   * Stands for the rules it was made from: an approval that was given under other rules does not
   * count.
   */
  readonly digest?: string;
  /**
   * Whether no call of this tool can be allowed, whatever its arguments: then it need not be shown
   * to a model. `false` says nothing. Only who is certain answers `true`.
   */
  alwaysDenies?(toolName: string): boolean;
}

/** What options take as a checker. */
export type PermissionChecker = CheckerFunction | PermissionPolicy;
