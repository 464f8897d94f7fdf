/** Keeps large results aside, and gives the model the beginning and a way to read on. */

import { fileOutputs } from '../../src/index.ts';
import {
  annotate,
  checkOptions,
  defineLayer,
  must,
  type OutputFileRef,
  should,
  type ToolLayer,
  type ToolResult,
  withResult,
} from '../../src/layer.ts';
import { keepAside, largeTextOf, type Shown, shownPart } from '../../src/outputs/index.ts';
import { OPTIONS, type OutputLimitOptions } from './options.ts';

export type { OutputLimitOptions };
export { readOutputTool, type ReadOutputToolOptions } from '../../src/outputs/index.ts';

/**
 * Replaces the text, the blocks and the structured value of a result that is too large by its
 * beginning and a note; the whole text goes to the store. A store that fails costs the rest of the
 * text, never the call. It does not limit arguments, progress, or how large a result a tool may
 * hold in memory, and it keeps text only: images of a result that is cut are dropped.
 */
export function outputLimit(options: OutputLimitOptions = {}): ToolLayer {
  checkOptions('outputLimit', options, OPTIONS);
  const { maxBytes = 8192, store = fileOutputs(), readTool = 'read_output' } = options;
  return defineLayer({
    name: 'outputLimit',
    order: [
      must.outsideOf('redaction', 'inside it, what is kept aside has not been redacted'),
      should.outsideOf(
        'handoffArtifact',
        'inside it, a handoff in a large result is cut away before it is found',
      ),
    ],
    async caller(call, next) {
      const result = await next(call);
      const text = largeTextOf(result, maxBytes);
      if (text === null) return result;
      const file = await keepAside(store, call, text);
      return cutResult(result, shownPart(text, maxBytes, file, readTool), file);
    },
  });
}

function cutResult(
  result: ToolResult,
  { text, bytes, shownBytes }: Shown,
  file: OutputFileRef | null,
): ToolResult {
  const cut = withResult(result, {
    content: [{ type: 'text', text }],
    // A string, not an object: clients that were shown an output schema would check an object
    // against it, and throw it away.
    result: result.result === null ? null : text,
    outputFiles: file === null ? result.outputFiles : [...result.outputFiles, file],
    ...(result.ok ? {} : { error: text }),
  });
  return annotate(cut, {}, { status: 'cut', bytes, shownBytes, kept: file !== null });
}
