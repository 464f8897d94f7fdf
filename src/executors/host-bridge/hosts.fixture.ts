/**
 * Hosts of every kind for the tests of this folder: over real sockets, in real processes,
 * well-behaved and not.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import {
  type GovernedTools,
  type GovernOptions,
  governTools,
} from '../../dispatch/govern-tools.ts';
import type { ToolContext } from '../../tools/tool.ts';
import type { BridgeChannel } from './wire.ts';

export type Message = Readonly<Record<string, unknown>> & {
  readonly id?: number;
  readonly params?: Readonly<Record<string, unknown>>;
};

const openSockets = new Set<Socket>();
const children = new Set<ChildProcess>();

/** Ends what a test has left open. */
export function endAll(): void {
  for (const socket of openSockets) socket.destroy();
  openSockets.clear();
  for (const child of children) child.kill('SIGKILL');
  children.clear();
}

export const channelOf = (socket: Socket): BridgeChannel => ({
  readable: socket,
  writable: socket,
});

/**
 * Two ends of one connection on loopback. The first one does not close by itself when the other
 * says nothing more.
 */
export async function socketPair(): Promise<readonly [Socket, Socket]> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const accepted = once(server, 'connection');
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const here = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const [there] = (await accepted) as [Socket];
  server.close();
  for (const socket of [here, there]) {
    socket.on('error', () => {});
    openSockets.add(socket);
  }
  return [here, there];
}

/** One tool that takes anything, as a host lists it. */
export const wireTool = (name = 'echo', more: object = {}) => ({
  name,
  description: 'Answers with its arguments.',
  input_schema: { type: 'object' },
  annotations: { kind: 'read', read_only: true },
  ...more,
});

export interface RawHost {
  readonly socket: Socket;
  readonly channel: BridgeChannel;
  /** Everything that came, in order. */
  readonly received: readonly Message[];
  readonly say: (message: object) => void;
  readonly write: (text: string | Buffer) => void;
  /** The `tool/call` requests among it. */
  readonly calls: () => readonly Message[];
}

export interface RawHostOptions {
  /** `null`: it knows no such method. */
  readonly list?: unknown;
  readonly onCall?: (call: Message, host: RawHost) => void;
}

/**
 * A host written by hand, which does exactly what a test tells it to. `channel` is the other end.
 */
export async function rawHost({
  list = { protocol: 1, tools: [wireTool()] },
  onCall = () => {},
}: RawHostOptions = {}): Promise<RawHost> {
  const [here, there] = await socketPair();
  const received: Message[] = [];
  const host: RawHost = {
    socket: there,
    channel: channelOf(here),
    received,
    say: (message) => void there.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
    write: (text) => void there.write(text),
    calls: () => received.filter(({ method }) => method === 'tool/call'),
  };
  createInterface({ input: there }).on('line', (line) => {
    const message = JSON.parse(line) as Message;
    received.push(message);
    if (message.method === 'tool/list')
      host.say({
        id: message.id,
        ...(list === null ? { error: { code: -32601, message: 'what?' } } : { result: list }),
      });
    if (message.method === 'tool/call') onCall(message, host);
  });
  return host;
}

/** Answers with the arguments. */
export const echoCall = (call: Message, { say }: RawHost): void =>
  say({ id: call.id, result: { value: call.params?.arguments } });

/**
 * A host in a process of its own, whose program is told as JavaScript: it has `request` and `say`.
 */
export function processHost(onRequest: string): {
  readonly child: ChildProcess;
  readonly channel: BridgeChannel;
} {
  const program = `
    const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
    const tools = [${JSON.stringify(wireTool())}];
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const request = JSON.parse(line);
      if (request.method === 'tool/list') say({ id: request.id, result: { protocol: 1, tools } });
      else if (request.method === 'tool/call') { ${onRequest} }
    });`;
  return commandHost(process.execPath, ['-e', program]);
}

export function commandHost(
  command: string,
  args: readonly string[],
): { readonly child: ChildProcess; readonly channel: BridgeChannel } {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  children.add(child);
  return { child, channel: { readable: child.stdout, writable: child.stdin } };
}

/** A dispatcher for the tools of a bridge, with nothing else around it. */
export const govern = (
  options: Pick<GovernOptions, 'tools' | 'executor'> & Partial<GovernOptions>,
): GovernedTools => governTools({ layers: [], ...options });

/** As much of a tool's context as a bridge reads. */
export const contextFor = (callId: string, more: Partial<ToolContext> = {}): ToolContext => ({
  ...{
    callId,
    turn: { iteration: 0, sessionId: 's1' },
    signal: new AbortController().signal,
    report: () => {},
    state: null,
    stores: {},
  },
  ...{
    permissions: null,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    call: () => Promise.reject(new Error('not here')),
  },
  ...more,
});
