/**
 * Claims: who may do the work that a key stands for, and what came of it. The port that idempotency
 * is built on.
 */

import type { JsonObject } from '../core/json/json-value.ts';

/** A store may answer at once or later. */
export type Awaitable<T> = T | Promise<T>;

/** What an attempt says of itself when it asks for a key. */
export interface ClaimRequest {
  /**
   * What the key is used for. A record keeps it, so that a second use for something else can be
   * told from a repetition.
   */
  readonly fingerprint: string;
  /** How long the claim counts as alive without being renewed. */
  readonly leaseMs: number;
  /**
   * Unique to this attempt, over all processes: the fence that keeps a late owner from writing over
   * the next one.
   */
  readonly token: string;
  /**
   * The work may be done again: a claim whose owner is gone, or whose answer is, is taken over
   * instead of reported.
   * @default false
   */
  readonly repeatable?: boolean;
  /**
   * For whom the key is claimed, such as a session: one of them cannot take all the room of a
   * store.
   */
  readonly owner?: string;
}

/** What is known about a key. */
export interface ClaimRecord {
  /**
   * `unknown` also stands for a claim whose lease ran out: its owner may have died at any point of
   * the work.
   */
  readonly state: 'in_progress' | 'done' | 'unknown';
  /** `null` where the record cannot be read. */
  readonly fingerprint: string | null;
  readonly token: string;
  /** What came of the work; `null` where there is nothing yet, or nothing was kept. */
  readonly answer: JsonObject | null;
}

/** Whether the attempt has the key, and what is known of the one that has it. */
export type Claimed =
  | { readonly won: true }
  | { readonly won: false; readonly record: ClaimRecord };

/** How the work of a claim ended. */
export interface ClaimEnding {
  readonly state: 'done' | 'unknown';
  readonly answer: JsonObject | null;
  /**
   * How long a `done` key is remembered. An `unknown` one is not forgotten by time. @default the
   * store's own
   */
  readonly ttlMs?: number;
}

/**
 * Five steps, each of which is one step: no store may let two callers of `claim` win the same key
 * while the first claim lives. `complete`, `release` and `renew` answer `false`, and change
 * nothing, when the token is no longer the key's. A store that fails throws; its caller then treats
 * the key as not claimed. One without room throws `ERR_STORE_FULL`, where possible with
 * `details.retryAfterMs`.
 */
export interface ClaimStore {
  claim(key: string, request: ClaimRequest): Awaitable<Claimed>;
  complete(key: string, token: string, ending: ClaimEnding): Awaitable<boolean>;
  /** Gives a key back whose work certainly was not done. */
  release(key: string, token: string): Awaitable<boolean>;
  get(key: string): Awaitable<ClaimRecord | null>;
  renew(key: string, token: string, leaseMs: number): Awaitable<boolean>;
}
