/**
 * The other side of `commandSubject`: a subject of this process, asked over standard input and
 * output.
 */

import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { JsonObject } from '../../src/index.ts';
import { objectFrom, textOf } from './json-parts.ts';
import type { Setup, Step } from './scenario.ts';
import type { Subject, SubjectSession } from './subject.ts';
import { thrownAs } from './thrown-as.ts';

/** Serves a subject until the input ends. A line that is no request is answered with an error. */
export async function serveSubject(
  subject: Subject,
  input: Readable = process.stdin,
  output: Writable = process.stdout,
): Promise<void> {
  let session: SubjectSession | null = null;
  const answer = async ({ method, params }: JsonObject): Promise<unknown> => {
    if (method === 'open') {
      // A subject checks what it is given: it refuses what it cannot put together.
      session = await subject.open((params ?? {}) as Setup);
      return {};
    }
    if (session === null) throw new Error('no scenario is open');
    if (method === 'do') return session.do((params ?? {}) as unknown as Step);
    if (method !== 'finish') throw new Error(`there is no method "${textOf(method)}"`);
    const ended = session;
    session = null;
    return ended.finish();
  };
  for await (const line of createInterface({ input })) {
    const request = objectFrom(line);
    const said = await answer(request).then(
      (result) => ({ result }),
      (error: unknown) => ({ error: thrownAs(error) }),
    );
    output.write(`${JSON.stringify({ id: request.id ?? null, ...said })}\n`);
  }
  await subject.close?.();
}
