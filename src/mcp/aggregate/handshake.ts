/**
 * How a client opened its connection, and how each server answers when it is opened the same way.
 */

import type { JsonObject } from '../../core/json/json-value.ts';
import { isObject } from '../../core/json/json.ts';
import { METHODS, objectAt, requestMessage, type WireMessage } from '../wire.ts';

/** Kept, so that a server that comes late or again is greeted as the first ones were. */
export type Opening =
  | { readonly era: 'legacy'; readonly params: JsonObject }
  | { readonly era: 'modern'; readonly version: string; readonly meta: JsonObject };

/** What a server said about itself. */
export interface Account {
  readonly capabilities: JsonObject;
  readonly instructions: string;
  /** One in the legacy era; all that it offers in the modern one. */
  readonly versions: readonly string[];
}

export type Outcome =
  | { readonly is: 'ready'; readonly account: Account }
  /**
   * It works, but not for this client. `versions` are what it offers instead; none where it knows
   * only the handshake.
   */
  | { readonly is: 'other_era'; readonly why: string; readonly versions: readonly string[] }
  | { readonly is: 'broken'; readonly why: string };

const META = 'io.modelcontextprotocol/';
/**
 * What every request of a client says about it. What belongs to one request, such as its progress
 * token, is not kept.
 */
const ENVELOPE = ['protocolVersion', 'clientCapabilities', 'clientInfo'].map(
  (name) => `${META}${name}`,
);

/** A client that never shakes hands says in each request who it is. */
export function modernOpening(version: string, meta: JsonObject): Opening {
  const kept = ENVELOPE.flatMap((key) =>
    meta[key] === undefined ? [] : [[key, meta[key]] as const],
  );
  return { era: 'modern', version, meta: Object.fromEntries(kept) };
}

/** Its id is replaced when it is sent. */
export const greetingOf = (opening: Opening): WireMessage =>
  opening.era === 'legacy'
    ? requestMessage(0, METHODS.initialize, opening.params)
    : requestMessage(0, METHODS.discover, { _meta: opening.meta });

const UNSUPPORTED_VERSION = -32_022;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/**
 * Reads what a server answered to its greeting. Nothing of it is believed to have the shape it
 * should have.
 */
export function readGreeting(opening: Opening, { result, error }: WireMessage): Outcome {
  if (isObject(result))
    return opening.era === 'legacy'
      ? readInitialize(opening.params, result)
      : readDiscover(opening.version, result);
  const code = isObject(error) && typeof error.code === 'number' ? error.code : Number.NaN;
  if (code === UNSUPPORTED_VERSION) {
    const versions = isObject(error) ? textsIn(objectAt(error, 'data').supported) : [];
    return { is: 'other_era', why: 'it does not speak the revision of this client', versions };
  }
  return opening.era === 'legacy'
    ? { is: 'broken', why: `it refused to be initialized (${code})` }
    : { is: 'other_era', why: 'it knows only the revisions before 2026-07-28', versions: [] };
}

function readInitialize({ protocolVersion: asked }: JsonObject, result: JsonObject): Outcome {
  const { protocolVersion: version } = result;
  if (typeof version !== 'string' || !DATE.test(version))
    return { is: 'broken', why: 'it answered initialize without a revision' };
  // A client that was told so would leave. It need not leave the others.
  if (typeof asked === 'string' && version > asked)
    return {
      is: 'other_era',
      why: `it speaks no older revision than ${version}`,
      versions: [version],
    };
  return { is: 'ready', account: accountOf(result, [version]) };
}

function readDiscover(version: string, result: JsonObject): Outcome {
  const versions = textsIn(result.supportedVersions);
  if (!versions.includes(version))
    return { is: 'other_era', why: 'it does not speak the revision of this client', versions };
  return { is: 'ready', account: accountOf(result, versions) };
}

const accountOf = (result: JsonObject, versions: readonly string[]): Account => ({
  capabilities: objectAt(result, 'capabilities'),
  instructions: typeof result.instructions === 'string' ? result.instructions : '',
  versions,
});

const textsIn = (value: unknown): readonly string[] =>
  Array.isArray(value)
    ? value.filter((item): item is string => typeof item === 'string' && DATE.test(item))
    : [];
