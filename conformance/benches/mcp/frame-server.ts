/**
 * A server written by hand that answers rightly, with hostile lines around its answers:
 * `frame-server.js <seed> <lines per message> [ms per list]`. With no lines it is just a server
 * that nothing can confuse. It notes every line that holds a hidden call in the file that
 * `FRAMES_SEEN` names.
 */

import { appendFileSync } from 'node:fs';
import { systemClock } from '../../../src/core/time/clock.ts';
import { createRandom } from '../fuzz/random.ts';
import { HIDDEN, mutatedFrame, UNANSWERED, VALID } from './mutate-frames.ts';
import { readLines } from './read-lines.ts';

const [seed = '1', lines = '0', listMs = '10'] = process.argv.slice(2);
const random = createRandom(Number(seed));
const tool = {
  name: 'echo',
  description: 'Echoes.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
};

const say = (message: object): void =>
  void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

interface Request {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: { readonly arguments?: { readonly text?: unknown } | null } | null;
}

// What is no text may be nested so deeply that turning it into one fails.
const plain = (value: unknown): string => (typeof value === 'string' ? value : '');
const textOf = ({ params }: Request): string => plain(params?.arguments?.text);

const ANSWERS: ReadonlyMap<unknown, (request: Request) => object> = new Map<
  unknown,
  (request: Request) => object
>([
  [
    'initialize',
    () => ({
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'frames', version: '1' },
    }),
  ],
  ['tools/list', () => ({ tools: [tool] })],
  ['tools/call', (request) => ({ content: [{ type: 'text', text: textOf(request) }] })],
  ['ping', () => ({})],
]);

readLines(process.stdin, (line) => {
  if (line.includes(HIDDEN)) appendFileSync(process.env.FRAMES_SEEN ?? '', 'hidden\n');
  const request = requestIn(line);
  // An error about one of the hostile lines is not answered with more of them: the two sides would
  // never end.
  if (typeof request?.method !== 'string') return;
  for (let left = Number(lines); left > 0; left -= 1)
    process.stdout.write(mutatedFrame(random).bytes);
  if (request.id === undefined || request.method === UNANSWERED) return;
  const result = ANSWERS.get(request.method)?.(request);
  const { id } = request;
  // Answers need not come in the order of the questions.
  if (request.method === 'tools/list')
    return void systemClock.after(Number(listMs), () => say({ id, result: result ?? {} }));
  say(
    result === undefined
      ? { id, error: { code: -32_601, message: 'no such method' } }
      : { id, result },
  );
  // A second, false answer to a call that was just answered.
  if (Number(lines) > 0 && plain(request.id).startsWith(VALID))
    say({ id: request.id, result: { content: [{ type: 'text', text: 'false' }] } });
});

function requestIn(line: string): Request | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? value : null;
  } catch {
    return null;
  }
}
