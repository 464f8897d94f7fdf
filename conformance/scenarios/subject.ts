/**
 * What a subject of the suite has to do: put a stack together from data, do the steps, and tell
 * what was to be seen.
 */

import type { JsonObject, JsonValue } from '../../src/index.ts';
import type { Setup, Step } from './scenario.ts';

/**
 * An implementation that is judged: the built-in one, somebody's own, or one in another process.
 */
export interface Subject {
  readonly name: string;
  /**
   * Rejects where the stack cannot be put together; the error's `code` and `message` are what a
   * scenario may expect.
   */
  open(setup: Setup): Promise<SubjectSession>;
  close?(): Promise<void>;
}

/** One scenario under way. */
export interface SubjectSession {
  do(step: Step): Promise<Reply>;
  /** Closes everything and tells what was seen. */
  finish(): Promise<Traces>;
}

/** What came of a step. */
export type Reply =
  /** A result or a tool as it goes over the wire. */
  | { readonly value: JsonValue }
  | { readonly values: readonly Reply[] }
  | { readonly throws: JsonObject }
  /** The call has not ended, and nothing but time would end it. */
  | { readonly pending: true }
  | { readonly done: true };

/** What was to be seen beside the replies. */
export interface Traces {
  readonly received: readonly JsonObject[];
  readonly events: readonly JsonObject[];
  readonly sinks: Readonly<Record<string, readonly JsonValue[]>>;
  readonly logs: readonly JsonValue[];
  readonly files: JsonObject | null;
  /** Large results that were kept aside. */
  readonly outputs: readonly JsonValue[];
  readonly timers: number;
  /** Scripted answers that nobody asked for. */
  readonly unused: readonly string[];
  /** Questions for which no answer was scripted. */
  readonly unexpected: readonly string[];
}
