/** The body of a POST: one JSON object, of bounded size. */

import type { IncomingMessage } from 'node:http';
import { readMessage } from '../../core/json-rpc.ts';
import { refusalOf } from '../doubtful-message.ts';
import { answerInstead, CODES, type RequestId, type WireMessage } from '../wire.ts';

/** Told apart by a name of ours: a message may have any member. */
export type Body = { readonly message: WireMessage } | { readonly problem: BodyProblem };

export interface BodyProblem {
  readonly status: number;
  readonly message: string;
  readonly code?: number;
  /** Of a request whose sender can be told. */
  readonly id?: RequestId;
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
  const reading = readMessage(Buffer.concat(chunks));
  // A request that only some readers take for one is not opened here, or nobody would answer it. Answers are judged where they are waited for.
  const refused = 'message' in reading ? refusalOf(reading.message) : reading;
  if ('message' in reading && (refused === null || refused.isAnswer)) return reading;
  if (refused === null) return null;
  const message = answerInstead(refused);
  if (message !== null) return { message };
  const { problem, id } = refused;
  const code = id === undefined ? CODES.parse : CODES.invalidRequest;
  return {
    problem: {
      status: 400,
      message: `the body holds ${problem}`,
      code,
      ...(id === undefined ? {} : { id }),
    },
  };
}

const TOO_LARGE: Body = { problem: { status: 413, message: 'the body is too large' } };
