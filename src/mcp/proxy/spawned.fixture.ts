/** `allium proxy` as a client starts it, before a server that is a program of its own. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { MAIN } from '../../cli/run-command.fixture.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import { splitLines } from '../../system/lines.ts';
import { MAX_LINE_BYTES, objectAt } from '../wire.ts';

/**
 * Calls: `env` tells a variable, `child` starts a process that outlives its parent, `die` ends the
 * server, `wait` is never answered.
 */
const SERVER = `
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
process.stderr.write('the server is here\\n');
const tool = (name) => ({ name, description: name, inputSchema: { type: 'object' } });
const text = (text) => ({ content: [{ type: 'text', text }] });
const work = {
  env: ({ name }) => text(process.env[name] ?? '(none)'),
  child: () => {
    const { pid } = spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    return text(String(pid));
  },
  die: () => process.exit(3),
  wait: () => undefined,
};
const answers = {
  initialize: () => ({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'spawned', version: '1' } }),
  'tools/list': () => ({ tools: Object.keys(work).map(tool) }),
  'tools/call': (params) => work[params.name](params.arguments ?? {}),
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const result = answers[method]?.(params);
  if (id !== undefined && result !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
});
`;

export interface Spawned {
  /** Every line that came on standard output. */
  readonly lines: readonly string[];
  readonly err: () => string;
  send(text: string): void;
  request(id: string | number, method: string, params?: JsonObject): Promise<JsonObject>;
  /** The text that a call came to. */
  call(id: string | number, name: string, args?: JsonObject): Promise<string>;
  /** Ends the input, and resolves with the exit code. */
  leave(): Promise<unknown>;
  readonly ended: Promise<unknown>;
}

/** A folder with a config and a server, gone after the test. */
export function spawnPlace(config: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'allium-spawned-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  writeFileSync(join(folder, 'allium.yaml'), config);
  writeFileSync(join(folder, 'server.mjs'), SERVER);
  return folder;
}

/** What starts it in a folder. */
export const proxyWords = (server: readonly string[]): string[] => [MAIN, 'proxy', '--', ...server];

export async function startSpawned(
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Spawned> {
  const child = spawn(process.execPath, proxyWords([process.execPath, join(cwd, 'server.mjs')]), {
    ...{ cwd, timeout: 50_000, env: { PATH: process.env.PATH, HOME: cwd, ...env } },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines: string[] = [];
  const waiting = new Map<unknown, (message: JsonObject) => void>();
  let err = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => void (err += chunk));
  child.stdin.on('error', () => {});
  const split = splitLines({
    maxBytes: MAX_LINE_BYTES,
    tellLong: 'at_once',
    onLine(bytes) {
      const line = bytes.toString('utf8');
      lines.push(line);
      const message = JSON.parse(line) as JsonObject; // Anything else fails the test.
      waiting.get(message.id)?.(message);
    },
    onLongLine: () => {},
  });
  child.stdout.on('data', split);
  const ended = once(child, 'close').then(([code]: unknown[]) => code);
  const spawned: Spawned = {
    lines,
    err: () => err,
    send: (text) => void child.stdin.write(text),
    request(id, method, params = {}) {
      spawned.send(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
      return new Promise((resolve) => void waiting.set(id, resolve));
    },
    async call(id, name, args = {}) {
      const { content } = objectAt(
        await spawned.request(id, 'tools/call', { name, arguments: args }),
        'result',
      );
      const [block] = content as readonly JsonObject[]; // Every result of this server has one.
      return (block?.text ?? '') as string;
    },
    async leave() {
      child.stdin.end();
      return ended;
    },
    ended,
  };
  const clientInfo = { name: 'spawning', version: '1' };
  await spawned.request('hello', 'initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo,
  });
  spawned.send('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  return spawned;
}
