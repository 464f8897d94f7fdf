/** Large results are kept aside whole, and the model gets a preview cut from the same text. */

import { createHash, randomUUID } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { safeName, stateFolder } from '../core/state-folder.ts';
import { type OutputFileRef, type ToolResult, withResult } from '../core/result.ts';

/** Where output files go. */
export interface OutputFiles {
  write(output: { readonly sessionId: string; readonly text: string; readonly mediaType: string }): Promise<OutputFileRef>;
}

/** Keeps output files in `<state>/outputs/<session>/<sha256>.txt`, readable by the owner only. */
export function fileOutputs(folder = join(stateFolder(), 'outputs')): OutputFiles {
  return {
    async write({ sessionId, text, mediaType }) {
      const bytes = Buffer.from(text);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const home = join(folder, safeName(sessionId));
      const path = join(home, `${sha256}.txt`);
      await mkdir(home, { recursive: true, mode: 0o700 });
      await replaceFile(path, bytes);
      return Object.freeze({ uri: pathToFileURL(path).href, bytes: bytes.length, sha256, mediaType });
    },
  };
}

/** Whole or not at all: a reader never meets half a file. */
async function replaceFile(path: string, bytes: Buffer): Promise<void> {
  const draft = `${path}.${randomUUID()}.part`;
  try {
    await writeFile(draft, bytes, { mode: 0o600, flag: 'wx' });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** The result with a preview in place of its text, and the file it was cut from. */
export function previewOf(result: ToolResult, file: OutputFileRef | null, maxBytes: number): ToolResult {
  const total = Buffer.byteLength(result.renderedResult);
  const preview = cutUtf8(result.renderedResult, maxBytes);
  const note = `[cut: the first ${Buffer.byteLength(preview)} of ${total} bytes; ${file === null ? 'the rest could not be kept' : `all of it is in ${file.uri}`}]`;
  const text = `${preview}\n${note}`;
  return withResult(result, { renderedResult: text, content: [{ type: 'text', text }], outputFiles: file === null ? [] : [file] });
}

/** Cuts between characters, never inside one. */
function cutUtf8(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  let end = Math.min(maxBytes, bytes.length);
  while (end > 0 && end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end).toString();
}
