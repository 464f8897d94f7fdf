/** Where `allium call` gets the arguments from. */

import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { type CliIo, UsageError } from './io/io.ts';

/** More than any dispatcher takes by default. */
const MAX_BYTES = 8 * 1024 * 1024;

/** The text of a JSON object. Throws for more than one source, and never says what stands in it. */
export async function readArguments(
  io: CliIo,
  input: string | undefined,
  flags: { readonly args?: string; readonly argsFile?: string },
): Promise<string> {
  if (input !== undefined && input !== '-')
    throw new UsageError('arguments are given with --args, --args-file or - (standard input)');
  const given = [flags.args, flags.argsFile, input].filter((each) => each !== undefined);
  if (given.length > 1) throw new UsageError('give the arguments once: --args, --args-file or -');
  const file = flags.argsFile ?? input;
  if (file === undefined) return demandObject(flags.args ?? '{}', '--args');
  const where = file === '-' ? 'standard input' : file;
  const stream = file === '-' ? io.stdin : createReadStream(resolve(io.cwd, file));
  return demandObject(await readAll(stream, where, io.signal), where);
}

function demandObject(text: string, where: string): string {
  if (!isJsonObject(text)) throw new UsageError(`${where}: the arguments must be a JSON object`);
  return text;
}

async function readAll(stream: Readable, where: string, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  const stop = () => stream.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    for await (const chunk of stream) {
      const bytes = Buffer.from(chunk as Uint8Array | string); // A stream of text or bytes.
      chunks.push(bytes);
      size += bytes.length;
      if (size > MAX_BYTES) throw new UsageError(`${where}: more than ${MAX_BYTES} bytes`);
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      `${where}: cannot be read (${error instanceof Error && 'code' in error ? String(error.code) : 'it failed'})`,
    );
  } finally {
    signal.removeEventListener('abort', stop);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
