/** Large results are kept aside whole, and the model gets a preview cut from the same text. */

import { createHash, randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { withResult } from '../../core/onion/results.ts';
import { cutUtf8 } from '../../core/json/cut-utf8.ts';
import { isAlliumError } from '../../core/contract/errors.ts';
import { quoteVoice } from '../../core/contract/voice.ts';
import { safeName, stateFolder } from '../../system/state-folder.ts';
import type { OutputFileRef, ToolResult } from '../../core/contract/result.ts';
import { checkFolder, makeFolder, openRegularHandle } from '../../system/open-regular.ts';
import { type OutputSlice, readSlice } from './read-output.ts';

/** Where output files go. */
export interface OutputFiles {
  write(output: {
    readonly sessionId: string;
    readonly text: string;
    readonly mediaType: string;
  }): Promise<OutputFileRef>;
}

/**
 * Which part of which output is wanted. `id` is the `sha256` or the `uri` that `write` answered
 * with.
 */
export interface OutputRequest {
  /** Only outputs of this session can be read. */
  readonly sessionId: string;
  readonly id: string;
  /** Where to begin, in bytes. */
  readonly offset: number;
  /** How many bytes at most. */
  readonly length: number;
}

/** Output files that can be read again. */
export interface ReadableOutputs extends OutputFiles {
  /** `null` for what is not there, and for what belongs to another session. */
  read(request: OutputRequest): Promise<OutputSlice | null>;
}

/**
 * Keeps output files in `<state>/outputs/<session>/<sha256>.txt`, readable by the owner only. What
 * was put in the place of a file or folder is neither written to nor read; a warning of the process
 * names it, because models and layers are not told paths.
 */
export function fileOutputs(folder = join(stateFolder(), 'outputs')): ReadableOutputs {
  const pathOf = (sessionId: string, sha256: string): string =>
    join(folder, safeName(sessionId), `${sha256}.txt`);
  return {
    async write({ sessionId, text, mediaType }) {
      const bytes = Buffer.from(text);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const path = pathOf(sessionId, sha256);
      await warned(async () => {
        for (const each of [folder, dirname(path)]) makeFolder(each);
        await replaceFile(path, bytes);
      });
      return Object.freeze({
        uri: pathToFileURL(path).href,
        bytes: bytes.length,
        sha256,
        mediaType,
      });
    },
    async read({ sessionId, id, offset, length }) {
      // Nothing of what was sent becomes part of a path but 64 hexadecimal digits.
      const [sha256] = /[0-9a-f]{64}(?=(\.txt)?$)/.exec(id) ?? [];
      if (sha256 === undefined) return null;
      const path = pathOf(sessionId, sha256);
      if (id !== sha256 && id !== pathToFileURL(path).href) return null;
      const isThere = () => [folder, dirname(path)].every((each) => checkFolder(each));
      return warned(async () => (isThere() ? readSlice(path, offset, length) : null)).catch(
        unsafeIsNull,
      );
    },
  };
}

async function warned<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isAlliumError(error, 'ERR_UNSAFE_FILE'))
      process.emitWarning(`an output file: ${error.message}`, 'AlliumWarning');
    throw error;
  }
}

function unsafeIsNull(error: unknown): null {
  if (isAlliumError(error, 'ERR_UNSAFE_FILE')) return null;
  throw error;
}

/** Whole or not at all: a reader never meets half a file. */
async function replaceFile(path: string, bytes: Buffer): Promise<void> {
  const draft = `${path}.${randomUUID()}.part`;
  // A rename would replace anything without a word.
  await (await openRegularHandle(path, { access: 'read' }))?.close();
  try {
    await writeFile(draft, bytes, { mode: 0o600, flag: 'wx' });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** The result with a preview in place of its text, and the file it was cut from. */
export function previewOf(
  result: ToolResult,
  file: OutputFileRef | null,
  maxBytes: number,
): ToolResult {
  const total = Buffer.byteLength(result.renderedResult);
  const preview = cutUtf8(result.renderedResult, maxBytes);
  const note = `[cut: the first ${Buffer.byteLength(preview)} of ${total} bytes; ${file === null ? 'the rest could not be kept' : `all of it is in ${file.uri}`}]`;
  const text = `${quoteVoice(preview)}\n${note}`;
  return withResult(result, {
    renderedResult: text,
    content: [{ type: 'text', text }],
    outputFiles: file === null ? [] : [file],
  });
}
