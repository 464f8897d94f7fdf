/** Which era a POSTed message speaks, and whether its headers say the same as its body. */

import { isObject } from '../../core/json/json.ts';
import { CODES, kindOf, metaOf, METHODS, paramsOf, type WireMessage } from '../wire.ts';
import { decodeHeaderValue, nameSourceOf } from './standard-headers.ts';

export interface StandardHeaders {
  readonly version: string | undefined;
  readonly method: string | undefined;
  readonly name: string | undefined;
}

export interface Misfit {
  readonly status: number;
  readonly code: number;
  readonly message: string;
}

export const HEADER_MISMATCH = -32_020;

const FIRST_MODERN_VERSION = '2026-07-28';
const META = 'io.modelcontextprotocol/';

/** Revisions are dates, so they compare as text. */
export const isModernVersion = (version: string | undefined): version is string =>
  version !== undefined && /^\d{4}-\d\d-\d\d$/.test(version) && version >= FIRST_MODERN_VERSION;

/**
 * Revisions with sessions. What a server and a client agree on besides is learned from their
 * handshake.
 */
export const LEGACY_VERSIONS: readonly string[] = [
  '2024-10-07',
  '2024-11-05',
  '2025-03-26',
  '2025-06-18',
  '2025-11-25',
];

/** The body decides; headers are for those on the way, and must not tell them something else. */
export function classify(
  message: WireMessage,
  headers: StandardHeaders,
): 'legacy' | 'modern' | Misfit {
  const kind = kindOf(message);
  if (kind === null)
    return {
      status: 400,
      code: CODES.invalidRequest,
      message: 'the body is not a JSON-RPC 2.0 message',
    };
  if (kind === 'response') return 'legacy';
  const hasClaim = `${META}protocolVersion` in metaOf(message);
  const isHandshake = message.method === METHODS.initialize && !hasClaim;
  if (isHandshake && isModernVersion(headers.version))
    return mismatch('a handshake with the version header of a revision without one');
  if (!hasClaim && !isModernVersion(headers.version)) return 'legacy';
  return (
    (kind === 'request' ? misfitOfEnvelope(message) : null) ??
    misfitOfHeaders(message, kind === 'request', headers) ??
    'modern'
  );
}

function misfitOfEnvelope(message: WireMessage): Misfit | null {
  const meta = metaOf(message);
  const wrong =
    typeof meta[`${META}protocolVersion`] !== 'string'
      ? 'protocolVersion'
      : isObject(meta[`${META}clientCapabilities`])
        ? null
        : 'clientCapabilities';
  if (wrong === null) return null;
  return {
    status: 400,
    code: CODES.invalidParams,
    message: `params._meta["${META}${wrong}"] is missing or of the wrong type`,
  };
}

function misfitOfHeaders(
  message: WireMessage,
  isRequest: boolean,
  headers: StandardHeaders,
): Misfit | null {
  const claimed = metaOf(message)[`${META}protocolVersion`];
  if (headers.version === undefined)
    return isRequest ? mismatch('the MCP-Protocol-Version header is missing') : null;
  if (claimed !== undefined && headers.version !== claimed)
    return mismatch('the MCP-Protocol-Version header names another revision');
  if (headers.method === undefined)
    return isRequest ? mismatch('the Mcp-Method header is missing') : null;
  if (headers.method !== message.method)
    return mismatch('the Mcp-Method header names another method');
  // It has just been compared with the header, which is text.
  const source = isRequest ? nameSourceOf(message.method) : undefined;
  const name = source === undefined ? undefined : paramsOf(message)[source];
  if (typeof name !== 'string') return null;
  if (headers.name === undefined) return mismatch('the Mcp-Name header is missing');
  return decodeHeaderValue(headers.name) === name
    ? null
    : mismatch('the Mcp-Name header names something else');
}

const mismatch = (what: string): Misfit => ({
  status: 400,
  code: HEADER_MISMATCH,
  message: `header mismatch: ${what}`,
});
