/** A stream that gives what is written to it to a logger, line by line. */

import { Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { oneLine } from '../../core/errors.ts';
import type { Logger } from '../../tools/tool.ts';

/** A line that never ends is cut into pieces. */
const MAX_LINE = 4096;

/** What a server writes there is its own: it is passed on as `debug`, and may hold what nobody else should read. */
export function logLines(server: string, logger: Logger): Writable {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      const lines = (rest + decoder.write(chunk)).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > MAX_LINE) {
        lines.push(rest);
        rest = '';
      }
      for (const line of lines) if (line.trim() !== '') logger.debug({ server }, oneLine(line));
      done();
    },
  });
}
