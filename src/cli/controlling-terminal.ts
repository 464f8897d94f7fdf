/** The terminal a program was started from, whatever its standard streams are. */

import { closeSync, openSync } from 'node:fs';
import { ReadStream, WriteStream } from 'node:tty';
import { terminalPrompt } from '../../middleware/index.ts';
import type { ApprovalPrompt } from '../index.ts';
import { UsageError } from './io.ts';

export interface Terminal {
  readonly prompt: ApprovalPrompt;
  readonly close: () => void;
}

/** Standard input belongs to the protocol, so people are never asked there. */
export function openTerminal(): Terminal {
  let file: number;
  try {
    file = openSync('/dev/tty', 'r+');
  } catch {
    throw new UsageError('--prompt needs a terminal, and this was not started from one');
  }
  const input = new ReadStream(file);
  const output = new WriteStream(file);
  return {
    prompt: terminalPrompt({ input, output }),
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
