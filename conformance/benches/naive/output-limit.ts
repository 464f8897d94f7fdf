/**
 * Cut the text. What is naive: characters are taken for bytes and cut in half, only the text is
 * looked at while the structured value still holds everything, and a store that fails fails the
 * call.
 */

import {
  annotate,
  defineLayer,
  type OutputFiles,
  type ToolLayer,
  withResult,
} from '../../../src/layer.ts';
import { createSubject } from '../../scenarios/create-subject.ts';

interface Options {
  readonly maxBytes?: number;
  readonly store: OutputFiles;
  readonly readTool?: string;
}

const NOTE = 400;

export function naiveOutputLimit({
  maxBytes = 8192,
  store,
  readTool = 'read_output',
}: Options): ToolLayer {
  return defineLayer({
    name: 'outputLimit',
    async caller(call, next) {
      const result = await next(call);
      const whole = result.renderedResult;
      if (whole.length <= maxBytes) return result;
      const file = await store.write({
        sessionId: call.turn.sessionId,
        text: whole,
        mediaType: 'text/plain',
      });
      const offset = maxBytes - NOTE;
      const id = JSON.stringify({ id: file.sha256, offset });
      const note = `[cut: the first ${offset} of ${whole.length} bytes are shown; to read on, call ${readTool} with ${id}]`;
      const cut = withResult(result, {
        renderedResult: `${whole.slice(0, offset)}\n${note}`,
        outputFiles: [file],
      });
      return annotate(
        cut,
        {},
        { status: 'cut', bytes: whole.length, shownBytes: offset, kept: true },
      );
    },
  });
}

export default createSubject({
  name: 'naive outputLimit',
  factories: { outputLimit: naiveOutputLimit },
});

export const fails: readonly string[] = [
  'output-limit.a-large-text-is-kept-aside',
  'output-limit.a-store-that-fails-costs-the-rest',
  'output-limit.cuts-between-characters',
  'output-limit.errors-are-cut-too',
  'output-limit.must-stand-outside-redaction',
  'output-limit.refuses-wrong-options',
  'output-limit.structured-values-count',
];
