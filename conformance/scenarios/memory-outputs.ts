/**
 * Output files that stay in memory, so that a scenario leaves nothing behind and its outputs can be
 * looked at.
 */

import { createHash } from 'node:crypto';
import { type JsonObject, type OutputFiles, toWire } from '../../src/index.ts';

/** Where large results of one scenario go, and what went there. */
export function memoryOutputs(outputs: JsonObject[] = []): {
  readonly outputFiles: OutputFiles;
  readonly outputs: readonly JsonObject[];
} {
  return {
    outputs,
    outputFiles: {
      async write(output) {
        outputs.push(toWire(output));
        const sha256 = createHash('sha256').update(output.text).digest('hex');
        return {
          uri: `memory:${sha256}`,
          bytes: Buffer.byteLength(output.text),
          sha256,
          mediaType: output.mediaType,
        };
      },
    },
  };
}
