/** Somebody at a terminal, for commands that run in the process of a test. */

import { PassThrough } from 'node:stream';
import type { Terminal } from './io/io.ts';

/**
 * Types the number that the terminal asks for, or something else, and keeps what was on the screen.
 */
export function personAtTerminal(keys: (number: string) => string = (number) => number) {
  let screen = '';
  const openTerminal = (): Terminal => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    let asked = '';
    output.setEncoding('utf8').on('data', (chunk: string) => {
      asked += chunk;
      screen += chunk;
      const [, number] = /type (\d{4}); /.exec(asked) ?? [];
      if (number !== undefined) input.end(`${keys(number)}\n`);
    });
    return { input, output, close: () => [input, output].forEach((stream) => stream.destroy()) };
  };
  return { openTerminal, screen: () => screen };
}
