/**
 * A real pseudo-terminal: the test holds the keyboard and reads the screen, the code under test
 * gets the other end.
 */

import { spawn, spawnSync } from 'node:child_process';
import { constants, openSync } from 'node:fs';
import { once } from 'node:events';
import { ReadStream, WriteStream } from 'node:tty';

/**
 * Opens a pair, tells the name of one end, and carries bytes between the other end and its own
 * input and output.
 */
const RELAY = `
import fcntl, os, pty, select, struct, sys, termios
master, slave = pty.openpty()
fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 80, 0, 0))
os.write(2, os.ttyname(slave).encode())
while True:
    ready, _, _ = select.select([0, master], [], [])
    if master in ready: os.write(1, os.read(master, 65536))
    if 0 in ready:
        keys = os.read(0, 65536)
        if not keys: sys.exit(0)
        os.write(master, keys)
`;

export const hasPty =
  process.platform !== 'win32' && spawnSync('python3', ['-c', 'import pty']).status === 0;

export const KEYS = {
  up: '\u001b[A',
  down: '\u001b[B',
  enter: '\r',
  ctrlC: '\u0003',
  ctrlD: '\u0004',
  escape: '\u001b',
} as const;

export interface Pty {
  readonly input: ReadStream;
  readonly output: WriteStream;
  /** Everything that was written to the screen, byte for byte. */
  readonly screen: () => string;
  press(...keys: readonly string[]): void;
  /** Waits until a text has been written so many times. */
  shows(text: string, times?: number): Promise<void>;
  close(): Promise<void>;
}

export async function openPty(): Promise<Pty> {
  const relay = spawn('python3', ['-c', RELAY]);
  const [name] = (await once(relay.stderr, 'data')) as [Buffer];
  const open = () => openSync(name.toString(), constants.O_RDWR | constants.O_NOCTTY);
  const input = new ReadStream(open());
  const output = new WriteStream(open());
  let screen = '';
  relay.stdout.setEncoding('utf8').on('data', (chunk: string) => void (screen += chunk));
  return {
    input,
    output,
    screen: () => screen,
    press: (...keys) => void relay.stdin.write(keys.join('')),
    async shows(text, times = 1) {
      while (screen.split(text).length <= times) await once(relay.stdout, 'data');
    },
    async close() {
      input.destroy();
      output.destroy();
      relay.stdin.end();
      await once(relay, 'exit');
    },
  };
}
