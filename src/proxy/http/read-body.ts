/** The body of a POST: one JSON object, of bounded size. */

import type { IncomingMessage } from 'node:http';
import { isObject } from '../../core/json.ts';
import { parseWire } from '../../core/wide-json.ts';
import { CODES, type WireMessage } from '../wire.ts';

/** Told apart by a name of ours: a message may have any member. */
export type Body = { readonly message: WireMessage } | { readonly problem: BodyProblem };

export interface BodyProblem {
  readonly status: number;
  readonly message: string;
  readonly code?: number;
}

/** Reads a message, or says what is wrong with it. `null`: the client went away while it was sending. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Body | null> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return TOO_LARGE;
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) return TOO_LARGE;
      chunks.push(chunk);
    }
  } catch {
    return null;
  }
  let parsed: unknown;
  try {
    const { value, isReplaced } = parseWire(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)));
    if (isReplaced) return TOO_WIDE;
    parsed = value;
  } catch (error) {
    if (error instanceof RangeError) return TOO_WIDE;
    return { problem: { status: 400, message: 'the body is not JSON', code: CODES.parse } };
  }
  // Lists of messages went out of the protocol: one that is let through could hold a call that nobody sees.
  if (!isObject(parsed)) return { problem: { status: 400, message: 'the body is not one message' } };
  // What was parsed from JSON is JSON.
  return { message: parsed as WireMessage };
}

const TOO_WIDE: Body = { problem: { status: 413, message: 'the body holds too many values' } };
const TOO_LARGE: Body = { problem: { status: 413, message: 'the body is too large' } };
