/** `allium proxy` in a process of its own, spoken to by line. */

import { spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { resolve } from 'node:path';
import { vi } from 'vitest';
import type { JsonObject } from '../../core/json/json-value.ts';
import { readLines } from '../../../conformance/benches/mcp/read-lines.ts';
import { MAIN } from '../run-command.fixture.ts';

/**
 * A real server, built with everything else. It says which process it is where `DUAL_PIDS` names a
 * file.
 */
export const DUAL = resolve(
  import.meta.dirname,
  '../../../dist/programs/conformance/benches/mcp/dual-server.js',
);

/**
 * Gives a program a terminal to control it, and leaves its standard streams to the protocol. The
 * screen is written to 3, keys are read from 4.
 */
export const WITH_TERMINAL = `
import fcntl, os, pty, select, signal, struct, sys, termios
master, slave = pty.openpty()
fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 80, 0, 0))
pid = os.fork()
if pid == 0:
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for fd in (3, 4, master, slave): os.close(fd)
    os.execvp(sys.argv[1], sys.argv[1:])
os.close(0)
os.close(1)
while True:
    ready, _, _ = select.select([master, 4], [], [], 0.05)
    if master in ready: os.write(3, os.read(master, 65536))
    if 4 in ready:
        keys = os.read(4, 65536)
        if not keys: os.kill(pid, signal.SIGKILL)
        os.write(master, keys)
    done, status = os.waitpid(pid, os.WNOHANG)
    if done: sys.exit(os.waitstatus_to_exitcode(status))
`;

export interface Start {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly atTerminal?: boolean;
  /** @default this Node.js with the built command */
  readonly program?: readonly string[];
}

/** Starts it with these words. */
export function startProxy(
  words: readonly string[],
  { cwd, env, atTerminal = false, program = [process.execPath, MAIN, 'proxy'] }: Start,
) {
  const [command = '', ...args] = [
    ...(atTerminal ? ['python3', '-c', WITH_TERMINAL] : []),
    ...program,
    ...words,
  ];
  const child = spawn(command, args, {
    cwd,
    env,
    stdio: ['pipe', 'pipe', 'pipe', ...(atTerminal ? (['pipe', 'pipe'] as const) : [])],
  });
  const [stdin, stdout, stderr, screenOut, keys] = child.stdio as unknown as [
    Writable,
    Readable,
    Readable,
    Readable?,
    Writable?,
  ]; // All are pipes.
  const seen = { err: '', screen: '', messages: [] as JsonObject[] };
  stderr.setEncoding('utf8').on('data', (chunk: string) => void (seen.err += chunk));
  screenOut?.setEncoding('utf8').on('data', (chunk: string) => void (seen.screen += chunk));
  stdin.on('error', () => {});
  readLines(stdout, (line) => line !== '' && seen.messages.push(JSON.parse(line) as JsonObject)); // Standard output carries messages only.
  const ended = new Promise<number | null>((done) => void child.once('close', done));
  let last = 0;
  const proxy = {
    child,
    ended,
    err: () => seen.err,
    screen: () => seen.screen,
    press: (text: string) => void keys?.write(text),
    leave: () => void stdin.end(),
    async request(method: string, params: JsonObject = {}): Promise<JsonObject> {
      const id = (last += 1);
      stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
      return vi.waitFor(
        () => {
          const answer = seen.messages.find(
            (message) => message.id === id && message.method === undefined,
          );
          if (answer === undefined) throw new Error(`no answer to ${method} yet: ${seen.err}`);
          return answer;
        },
        { timeout: 30_000, interval: 20 },
      );
    },
    async greet(): Promise<JsonObject> {
      const params = {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'test', version: '1' },
      };
      const answer = await proxy.request('initialize', params);
      stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
      return answer;
    },
    call: (name: string, args_: JsonObject) =>
      proxy.request('tools/call', { name, arguments: args_ }),
  };
  return proxy;
}
