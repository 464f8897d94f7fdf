/** The terminal a program was started from, whatever its standard streams are. */

import { randomInt } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { ReadStream, WriteStream } from 'node:tty';
import { type CliIo, type Terminal, UsageError } from './io.ts';

/**
 * Throws a `UsageError` that begins with `what` where the program was not started from a terminal.
 */
export function openTerminal(what: string): Terminal {
  let file: number;
  try {
    file = openSync('/dev/tty', 'r+');
  } catch {
    throw new UsageError(`${what} needs a terminal, and this was not started from one`);
  }
  const input = new ReadStream(file);
  const output = new WriteStream(file);
  return {
    input,
    output,
    close() {
      input.destroy();
      output.destroy();
      try {
        closeSync(file);
      } catch {
        // One of the streams has closed it.
      }
    },
  };
}

/** What a person is to confirm. */
export interface Confirmation {
  /** What needs the terminal, for the sentence where there is none. */
  readonly what: string;
  /** Everything about it. Safe for a terminal, of any number of lines. */
  readonly shown: (columns: number) => string;
  /** What happens, as `To …, type`. */
  readonly action: string;
}

/**
 * Shows something at the controlling terminal and answers whether the person there confirmed it.
 * The number to type is another one every time, so that keys sent blindly, by a pipe or ahead of
 * the question, confirm nothing. Standard input is never read.
 */
export async function confirmAtTerminal(
  { what, shown, action }: Confirmation,
  { signal, openTerminal: open = openTerminal }: Pick<CliIo, 'signal' | 'openTerminal'>,
): Promise<boolean> {
  const { input, output, close } = open(what);
  try {
    const number = String(randomInt(1000, 10_000));
    output.write(
      `${shown(columnsOf(output))}\nTo ${action}, type ${number}; anything else changes nothing: `,
    );
    return (await lineFrom(input, signal)).trim() === number;
  } finally {
    close();
  }
}

const columnsOf = ({ columns }: Terminal['output']): number =>
  columns === undefined || columns < 1 ? 80 : columns;

/** One line; nothing where the input ends, or nobody waits any more. */
function lineFrom(input: Readable, signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    const lines = createInterface({ input, terminal: false });
    const stop = (): void => lines.close();
    signal.addEventListener('abort', stop, { once: true });
    lines.once('line', (line) => {
      resolve(line);
      lines.close();
    });
    lines.once('close', () => {
      signal.removeEventListener('abort', stop);
      resolve('');
    });
    if (signal.aborted) stop();
  });
}
