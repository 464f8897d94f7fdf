/** A question that a server has for a person, and its answer. */

import type { JsonObject } from '../../core/json/json-value.ts';

/**
 * A form that a server wants filled in. All of it was written by the server: show whose it is, and
 * never type a password into it.
 */
export interface McpQuestion {
  readonly server: string;
  readonly message: string;
  /** A flat object of texts, numbers, flags and choices. */
  readonly schema: JsonObject;
  /** Aborts when the server no longer waits for the answer. */
  readonly signal: AbortSignal;
}

export type McpAnswer =
  | { readonly action: 'accept'; readonly content: JsonObject }
  | { readonly action: 'decline' | 'cancel' };
export type AskPerson = (question: McpQuestion) => McpAnswer | Promise<McpAnswer>;
