/** Hostile lines through the relay, and what every kind of reader finds on the other side. */

import { PassThrough } from 'node:stream';
import type { JsonObject } from '../../../src/core/json/json-value.ts';
import { passThrough } from '../../../src/index.ts';
import { aggregateLinks } from '../../../src/mcp/aggregate/aggregate-links.ts';
import { createProxy } from '../../../src/mcp/proxy/create-proxy.ts';
import type { Link } from '../../../src/mcp/proxy/link.ts';
import { streamLink } from '../../../src/mcp/stdio/stdio-links.ts';
import { mutatedFrame } from '../mcp/mutate-frames.ts';
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

/** One quarter of a run: hostile lines from one side, with so many servers. */
export interface QuarterFigures {
  readonly servers: number;
  readonly from: 'client' | 'server';
  lines: number;
  /** Lines that a link read while it was open. All others prove nothing. */
  read: number;
  /** Messages that left the relay. */
  messages: number;
}

export interface FramesFigures {
  frames: number;
  readonly quarters: QuarterFigures[];
  /** Messages that were forwarded, and compared. */
  messages: number;
  readonly byKind: Record<string, number>;
  /** Of each reader, how often it saw something else than was sent. */
  readonly differences: Record<string, number>;
  /** Readers that were not there, in words. */
  readonly skipped: string[];
}

/**
 * Lines for one connection. Each batch has a new one, for a server that was given up reads nothing
 * more, and ids are used up.
 */
const BATCH = 500;
/**
 * Requests that are open meanwhile: without any, all false answers of a server would be dropped
 * alike. Half of all hostile ids are below this.
 */
const OPEN_REQUESTS = 500;
/** So long nothing may be sent anywhere for a batch to be over. */
const QUIET_TURNS = 10;
/**
 * A request that goes to the server that its name begins with, and that no server of this run
 * answers.
 */
const LEFT_OPEN = 'prompts/get';

/**
 * The quarters of which less than nine lines in ten were read, in words: such a run says nothing
 * about them.
 */
export function hardlyRead({ quarters }: Pick<FramesFigures, 'quarters'>): readonly string[] {
  return quarters
    .filter(({ read, lines }) => read < 0.9 * lines)
    .map(
      ({ servers, from, read, lines }) =>
        `only ${read} of ${lines} lines from the ${from} were read (servers: ${servers})`,
    );
}

/** Never throws for what it finds. */
export async function fuzzFrames({
  frames,
  seed,
  link = streamLink,
  onProgress,
}: FramesOptions): Promise<FramesFigures> {
  const figures: FramesFigures = {
    frames: 0,
    quarters: [],
    messages: 0,
    byKind: {},
    differences: {},
    skipped: [],
  };
  const sides: Side[] = [];
  for (const [index, servers] of [1, 2].entries()) {
    for (const from of ['client', 'server'] as const) {
      const random = createRandom(seed + index * 2 + (from === 'client' ? 0 : 1));
      const quarter: QuarterFigures = { servers, from, lines: 0, read: 0, messages: 0 };
      figures.quarters.push(quarter);
      for (
        let left = index === 0 ? Math.ceil(frames / 2) : Math.floor(frames / 2);
        left > 0;
        left -= BATCH
      ) {
        const bench = await openBench(servers, link);
        await sendBatch(bench, Math.min(BATCH, left), random, quarter, figures);
        await bench.close();
        sides.push(...bench.sides);
        quarter.messages += bench.sides.reduce((sum, { sent }) => sum + sent.length, 0);
        onProgress?.(figures.frames);
      }
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
  /** How many bytes the link read while it was open. */
  readBytes: number;
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
    start(handlers) {
      input.on('data', (chunk: Buffer) => void (side.readBytes += isOpen ? chunk.length : 0));
      return own.start(handlers);
    },
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
  const side: Side = { input, sent, chunks, link, readBytes: 0, answered: 0 };
  return side;
}

const line = (message: object): string => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
const ECHO = { name: 'echo', description: 'Echoes.', inputSchema: { type: 'object' } };
const GREETING = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'fuzz', version: '1' },
};

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
  const specs = Array.from({ length: count }, (_, at) => ({
    name: `s${at}`,
    open: () => open(at),
  }));
  const upstream = (): Link =>
    count === 1 ? open(0) : aggregateLinks(specs, { report: () => {} });
  // Calls of hostile clients are answered in their place, so that none is open for long.
  const proxy = createProxy({ stack: [passThrough], upstream, report: () => {} });
  const relay = await proxy.connect(client.link);
  const isUnread = ({ input }: Side): boolean =>
    !input.destroyed && input.readableLength + input.writableLength > 0;
  const ask = async (id: string, method: string, params: object): Promise<void> => {
    // The answer may come before `write` returns.
    const from = client.sent.length;
    client.input.write(line({ id, method, params }));
    const isAnswered = (): boolean =>
      client.input.destroyed || client.sent.slice(from).some((message) => message.id === id);
    // Calls take some turns of the loop to go through the stack, and a `ping` overtakes them.
    for (
      let [quiet, seen] = [0, 0];
      quiet < QUIET_TURNS || sides.some(isUnread) || !isAnswered();
    ) {
      await new Promise(setImmediate);
      servers.forEach(answerAll);
      const now = sides.reduce((sum, { sent }) => sum + sent.length, 0);
      quiet = now === seen ? quiet + 1 : 0;
      seen = now;
    }
  };
  // Several servers answer a `ping` through the proxy before they were greeted, so the answer to
  // this is waited for.
  await ask('hello', 'initialize', { ...GREETING, clientInfo: GREETING.serverInfo });
  client.input.write(line({ method: 'notifications/initialized' }));
  return {
    client,
    servers,
    sides,
    settle: () => ask('settle', 'ping', {}),
    async close() {
      await relay.close();
      await proxy.close();
    },
  };
}

/** A server answers what it was sent, but for what the run leaves open. */
function answerAll(side: Side): void {
  const { sent, input, answered } = side;
  side.answered = sent.length;
  for (const { id, method } of sent.slice(answered)) {
    if (id === undefined || typeof method !== 'string' || method === LEFT_OPEN) continue;
    input.write(line({ id, result: resultOf(method) }));
  }
}

const resultOf = (method: string): object => {
  if (method === 'initialize') return GREETING;
  return method === 'tools/list' ? { tools: [ECHO] } : { content: [] };
};

/** With the tokens that a flood of progress names. */
const paramsOf = (id: number): object => ({
  name: `s${id % 2}_x`,
  _meta: { progressToken: `p${id % 9}` },
});

/**
 * Behind a proxy for several servers the tool has another name: calls of the name it has there
 * would all be refused alike.
 */
const named = (bytes: Buffer, servers: number): Buffer =>
  servers === 1
    ? bytes
    : Buffer.from(
        bytes.toString('latin1').replaceAll(`"${ECHO.name}"`, `"s0_${ECHO.name}"`),
        'latin1',
      );

async function sendBatch(
  bench: Bench,
  count: number,
  random: Random,
  quarter: QuarterFigures,
  figures: FramesFigures,
): Promise<void> {
  const { client, servers } = bench;
  if (quarter.from === 'server') {
    for (let id = 0; id < OPEN_REQUESTS; id += 1)
      client.input.write(line({ id, method: LEFT_OPEN, params: paramsOf(id) }));
    await bench.settle();
  }
  /** Where in its stream each line ends. */
  const ends: { readonly side: Side; readonly at: number }[] = [];
  const written = new Map(bench.sides.map((side) => [side, side.readBytes]));
  for (let each = count; each > 0; each -= 1) {
    const { kind, bytes: made } = mutatedFrame(random);
    const bytes = quarter.from === 'client' ? named(made, quarter.servers) : made;
    const side = random.pick(quarter.from === 'client' ? [client] : servers);
    ends.push({ side, at: (written.get(side) ?? 0) + bytes.length });
    written.set(side, (written.get(side) ?? 0) + bytes.length);
    if (!side.input.write(bytes)) await new Promise(setImmediate);
    figures.byKind[kind] = (figures.byKind[kind] ?? 0) + 1;
  }
  await bench.settle();
  quarter.lines += count;
  figures.frames += count;
  // What the run itself answers comes after all lines of a batch, so that it cannot pass for one of
  // them.
  quarter.read += ends.filter(({ side, at }) => at <= side.readBytes).length;
}

/** All sides as one stream: starting a reader takes longer than reading. */
function compare(sides: readonly Side[], figures: FramesFigures): void {
  const { byReader, skipped } = readEverywhere(
    Buffer.concat(sides.flatMap(({ chunks }) => chunks)),
  );
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
