/** What the layer needs of the script engine. */

import type { JsonObject, JsonValue } from '../../src/index.ts';

export interface ScriptText {
  readonly source: string;
  readonly file: string;
  readonly firstLine: number;
  readonly firstColumn: number;
}

export type HostFunction = (args: readonly JsonValue[], kwargs: JsonObject, info: { readonly signal: AbortSignal }) => Promise<JsonValue>;
export type HostTree = HostFunction | { readonly [name: string]: HostTree };

export interface ScriptRequest {
  readonly source: string;
  readonly file: string;
  readonly firstLine?: number;
  readonly firstColumn?: number;
  readonly entry:
    | { readonly call: string; readonly args: readonly JsonValue[]; readonly kwargs?: JsonObject }
    | { readonly expression: string; readonly names: Readonly<Record<string, JsonValue>> }
    | { readonly globals: true };
  readonly predeclared?: Readonly<Record<string, JsonValue | HostTree>>;
  readonly libraries?: readonly ('json' | 're' | 'string' | 'hash' | 'time')[];
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
}

export interface ScriptOutcome {
  readonly value: JsonValue;
}

export interface ScriptPool {
  run(request: ScriptRequest): Promise<ScriptOutcome>;
  close(): Promise<void>;
}

export interface BuiltinGrants {
  readonly workspace?: string;
  readonly allowedDomains?: readonly string[];
}
