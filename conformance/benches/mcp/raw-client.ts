/** A client that can send anything, and looks at every line that comes back. */

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { JsonObject } from '../../../src/core/json/json-value.ts';
import { isObject } from '../../../src/core/json/json.ts';
import { readLines } from './read-lines.ts';
import { type Program, type ProgramCommand, startProgram, withinTime } from './processes.ts';

export interface RawClient {
  /** Waits where the other side takes no more. */
  send(bytes: Buffer | string): Promise<void>;
  /** Sends a request, and waits for its answer; an empty one where the other side has ended. */
  request(id: string, method: string, params: JsonObject, withinMs?: number): Promise<JsonObject>;
  /** How often an id was answered. */
  answersTo(id: string): number;
  /** Lines that were no JSON-RPC messages. */
  readonly garbage: () => number;
  readonly isAlive: () => boolean;
  /** The most memory that the process ever had, in MiB. 0 where the system does not tell. */
  peakMemory(): number;
  /** Says no more, as a client that leaves. */
  leave(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a program that speaks on standard input and output, and shakes hands. */
export async function startRawClient(
  command: ProgramCommand,
  onMessage: (message: JsonObject) => void = () => {},
): Promise<RawClient> {
  const program = startProgram(command);
  const answers = new Map<string, number>();
  const waiting = new Map<string, (answer: JsonObject) => void>();
  let garbage = 0;
  const { stdout } = program.child;
  if (stdout === null) throw new TypeError('its output is a pipe');
  // Only then everything that it said has been read.
  const closed = new Promise<void>((resolve) => void program.child.once('close', () => resolve()));
  readLines(stdout, (line) => {
    if (line.trim() === '') return;
    const message = messageIn(line);
    if (message === null) return void (garbage += 1);
    onMessage(message);
    if (typeof message.id === 'string' && !('method' in message)) {
      answers.set(message.id, (answers.get(message.id) ?? 0) + 1);
      waiting.get(message.id)?.(message);
      waiting.delete(message.id);
    }
  });
  const client: RawClient = {
    async send(bytes) {
      const { stdin } = program.child;
      if (stdin !== null && !stdin.destroyed && !stdin.write(bytes))
        await Promise.race([once(stdin, 'drain'), program.ended]);
    },
    async request(id, method, params, withinMs) {
      const answered = new Promise<JsonObject>((resolve) => void waiting.set(id, resolve));
      await client.send(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
      return withinTime(
        `the answer to ${method}`,
        Promise.race([answered, closed.then(() => ({}))]),
        withinMs,
      );
    },
    answersTo: (id) => answers.get(id) ?? 0,
    garbage: () => garbage,
    isAlive: () => program.child.exitCode === null && program.child.signalCode === null,
    peakMemory: () => peakMemoryOf(program),
    async leave() {
      program.child.stdin?.end();
      await withinTime('the program to end', program.ended);
    },
    stop: () => program.stop(),
  };
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'raw', version: '1' },
  };
  await client.request('hello', 'initialize', params);
  await client.send('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  return client;
}

function messageIn(line: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(line);
    // It came from `JSON.parse`.
    return isObject(value) && value.jsonrpc === '2.0' ? (value as JsonObject) : null;
  } catch {
    return null;
  }
}

function peakMemoryOf({ child }: Program): number {
  try {
    const [, kib = '0'] =
      /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${child.pid ?? 0}/status`, 'utf8')) ?? [];
    return Math.round(Number(kib) / 1024);
  } catch {
    return 0;
  }
}
