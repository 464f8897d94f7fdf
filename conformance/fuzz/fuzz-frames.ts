/** Hostile lines through the relay, and what every kind of reader finds on the other side. */

import { PassThrough } from 'node:stream';
import type { JsonObject } from '../../src/core/json.ts';
import { passThrough } from '../../src/index.ts';
import { aggregateLinks } from '../../src/proxy/aggregate/aggregate-links.ts';
import { createProxy } from '../../src/proxy/create-proxy.ts';
import type { Link } from '../../src/proxy/link.ts';
import { streamLink } from '../../src/proxy/stdio-links.ts';
import { mutatedFrame, UNANSWERED } from '../mcp/mutate-frames.ts';
import { createRandom, type Random } from './random.ts';
import { digestOf, readEverywhere } from './read-frames.ts';

/** What reads lines on one side and writes them to the other. */
export type LinkOver = (input: PassThrough, output: PassThrough) => Link;

export interface FramesOptions {
  /** Hostile lines from each side. Half of them with one server, half with two behind one proxy. */
  readonly frames: number;
  readonly seed: number;
  /** Another link over streams, to see it caught. @default the proxy's own */
  readonly link?: LinkOver;
  readonly onProgress?: (done: number) => void;
}

export interface FramesFigures {
  frames: number;
  /** Messages that were forwarded, and compared. */
  messages: number;
  readonly byKind: Record<string, number>;
  /** Of each reader, how often it saw something else than was sent. */
  readonly differences: Record<string, number>;
  /** Readers that were not there, in words. */
  readonly skipped: string[];
}

const BATCH = 500;

/** Never throws for what it finds. */
export async function fuzzFrames({ frames, seed, link = streamLink, onProgress }: FramesOptions): Promise<FramesFigures> {
  const figures: FramesFigures = { frames: 0, messages: 0, byKind: {}, differences: {}, skipped: [] };
  const sides: Side[] = [];
  for (const [index, servers] of [1, 2].entries()) {
    for (const from of ['client', 'server'] as const) {
      const count = index === 0 ? Math.ceil(frames / 2) : Math.floor(frames / 2);
      const bench = await openBench(servers, link);
      await sendAll(bench, from, count, createRandom(seed + index * 2 + (from === 'client' ? 0 : 1)), figures, onProgress);
      await bench.close();
      sides.push(...bench.sides);
    }
  }
  compare(sides, figures);
  return figures;
}

/** One end of the relay: what the relay meant to send there, and the bytes that came. */
interface Side {
  readonly input: PassThrough;
  readonly sent: JsonObject[];
  readonly chunks: Buffer[];
  readonly link: Link;
  /** How many of the messages sent there were answered. */
  answered: number;
}

interface Bench {
  readonly client: Side;
  /** Those that are connected now. */
  readonly servers: readonly Side[];
  /** All that ever were. */
  readonly sides: readonly Side[];
  /** Resolves when everything that was written before has been dealt with. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

function sideOver(over: LinkOver): Side {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const [sent, chunks]: [JsonObject[], Buffer[]] = [[], []];
  output.on('data', (chunk: Buffer) => void chunks.push(chunk));
  const own = over(input, output);
  let isOpen = true;
  const link: Link = {
    ...own,
    send(frame, about) {
      // A link that was closed writes nothing.
      if (isOpen) sent.push(frame.message);
      return own.send(frame, about);
    },
    close() {
      isOpen = false;
      return own.close();
    },
  };
  return { input, sent, chunks, link, answered: 0 };
}

const line = (message: object): string => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
const ECHO = { name: 'echo', description: 'Echoes.', inputSchema: { type: 'object' } };
const GREETING = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'fuzz', version: '1' } };

async function openBench(count: number, over: LinkOver): Promise<Bench> {
  const client = sideOver(over);
  const servers: Side[] = [];
  const sides = [client];
  // A server that was given up is opened again.
  const open = (at: number): Link => {
    const side = sideOver(over);
    servers[at] = side;
    sides.push(side);
    return side.link;
  };
  const specs = Array.from({ length: count }, (_, at) => ({ name: `s${at}`, open: () => open(at) }));
  const upstream = (): Link => (count === 1 ? open(0) : aggregateLinks(specs, { report: () => {} }));
  // Calls of hostile clients are answered in their place, so that none is open for long.
  const proxy = createProxy({ stack: [passThrough], upstream, report: () => {} });
  const relay = await proxy.connect(client.link);
  let pings = 0;
  const bench: Bench = {
    client,
    servers,
    sides,
    async settle() {
      const id = `settle-${(pings += 1)}`;
      // The answer may come before `write` returns.
      const from = client.sent.length;
      client.input.write(line({ id, method: 'ping' }));
      while (!client.sent.slice(from).some((message) => message.id === id)) {
        await new Promise(setImmediate);
        servers.forEach(answerAll);
      }
    },
    async close() {
      await relay.close();
      await proxy.close();
    },
  };
  client.input.write(line({ id: 'hello', method: 'initialize', params: { ...GREETING, clientInfo: GREETING.serverInfo } }));
  await bench.settle();
  return bench;
}

/** A server answers what it was sent, but for what the run leaves open. */
function answerAll(side: Side): void {
  const { sent, input, answered } = side;
  side.answered = sent.length;
  for (const { id, method } of sent.slice(answered)) {
    if (id === undefined || typeof method !== 'string' || method === UNANSWERED) continue;
    input.write(line({ id, result: resultOf(method) }));
  }
}

const resultOf = (method: string): object => {
  if (method === 'initialize') return GREETING;
  return method === 'tools/list' ? { tools: [ECHO] } : { content: [] };
};

async function sendAll(
  bench: Bench,
  from: 'client' | 'server',
  count: number,
  random: Random,
  figures: FramesFigures,
  onProgress: FramesOptions['onProgress'],
): Promise<void> {
  for (let left = count; left > 0; left -= BATCH) {
    // Answers go through where something is asked: a server needs open requests to answer falsely.
    if (from === 'server') for (let id = 0; id < 50; id += 1) bench.client.input.write(line({ id, method: UNANSWERED }));
    for (let each = Math.min(BATCH, left); each > 0; each -= 1) {
      const { kind, bytes } = mutatedFrame(random);
      if (!random.pick(from === 'client' ? [bench.client] : bench.servers).input.write(bytes)) await new Promise(setImmediate);
      figures.frames += 1;
      figures.byKind[kind] = (figures.byKind[kind] ?? 0) + 1;
    }
    await bench.settle();
    onProgress?.(figures.frames);
  }
}

/** All sides as one stream: starting a reader takes longer than reading. */
function compare(sides: readonly Side[], figures: FramesFigures): void {
  const { byReader, skipped } = readEverywhere(Buffer.concat(sides.flatMap(({ chunks }) => chunks)));
  const wanted = sides.flatMap(({ sent }) => sent.map(digestOf));
  figures.messages += wanted.length;
  figures.skipped.push(...skipped);
  for (const [reader, seen] of Object.entries(byReader)) {
    figures.differences[reader] = differencesOf(seen, wanted);
  }
}

function differencesOf(seen: readonly string[], wanted: readonly string[]): number {
  const missing = Math.abs(seen.length - wanted.length);
  return missing + seen.slice(0, wanted.length).filter((each, at) => each !== wanted[at]).length;
}
