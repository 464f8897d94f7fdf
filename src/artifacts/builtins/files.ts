/** `fs.*`: files of the workspace, through a jail. */

import { randomUUID } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonValue } from '../../core/json/json-value.ts';
import { isoTime } from '../../core/time/clock.ts';
import { isAlliumError } from '../../core/contract/errors.ts';
import { type Jail, jail } from '../../jail/jail.ts';
import { partsOf } from '../../jail/path-parts.ts';
import type { HostTree } from '../sandbox/host-function.ts';
import { type BuiltinGrants, MAX_OUTPUT_BYTES } from './builtin-use.ts';
import type { BuiltinCall, DefineBuiltin } from './define-builtin.ts';
import { keptBytes } from './kept-bytes.ts';
import { words } from '../../system/words.ts';

/** A model reads no more names than these. */
const MAX_ENTRIES = 10_000;

/**
 * `read(path)`, `write(path, content)`, `exists(path)`, `stat(path)`, `list(path=".")`; paths from
 * the workspace, `/` between parts.
 */
export function fileBuiltins(grants: BuiltinGrants, define: DefineBuiltin): HostTree {
  const maxBytes = grants.maxOutputBytes ?? MAX_OUTPUT_BYTES;
  return {
    read: define('fs.read', ['path'], async (given, call) => {
      const { files, path } = await permitted(grants, call, given.text('path'), 'filesystem.read');
      return withFile(await files.open(path, 'r'), (file) => readText(file, maxBytes, call));
    }),
    write: define('fs.write', ['path', 'content'], async (given, call) => {
      const content = Buffer.from(given.text('content'));
      if (content.length > maxBytes)
        throw call.error(`the content is larger than ${maxBytes} bytes`);
      const { files, path } = await permitted(grants, call, given.text('path'), 'filesystem.write');
      await replaceFile(files, path, content, call);
      return content.length;
    }),
    exists: define('fs.exists', ['path'], async (given, call) => {
      const { files, path } = await permitted(grants, call, given.text('path'), 'filesystem.read');
      return files.stat(path).then(() => true, absent);
    }),
    stat: define('fs.stat', ['path'], async (given, call) => {
      const { files, path } = await permitted(grants, call, given.text('path'), 'filesystem.read');
      return shownStat(await files.stat(path));
    }),
    list: define('fs.list', ['path'], async (given, call) => {
      const { files, path } = await permitted(
        grants,
        call,
        given.text('path', '.'),
        'filesystem.list',
      );
      const entries = await files.readdir(path);
      if (entries.length > MAX_ENTRIES)
        throw call.error(`the folder has more than ${MAX_ENTRIES} entries`);
      return entries.map(({ name, type }) => ({ name, type }));
    }),
  };
}

/**
 * Asks about the place a path names, and gives the jail to reach it by. A path that no jail takes
 * is not asked about.
 */
async function permitted(
  grants: BuiltinGrants,
  call: BuiltinCall,
  path: string,
  kind: 'filesystem.read' | 'filesystem.write' | 'filesystem.list',
): Promise<{ readonly files: Jail; readonly path: string }> {
  const { workspace, folder = '.' } = grants;
  if (workspace === undefined) throw call.error('not granted: there is no workspace');
  const parts = [...partsOf(folder), ...partsOf(path)];
  if (kind === 'filesystem.write') requireWritable(parts, grants, call);
  const files = jail(workspace);
  await call.ask({ kind, path: join(files.root, ...parts) });
  return { files, path: parts.length === 0 ? '.' : parts.join('/') };
}

/**
 * What describes tools, hooks and the stack: a tool that could write there would grant itself what
 * it likes.
 */
const PROTECTED: readonly string[] = Object.freeze(
  words('.allium .harness allium.yaml allium.yml harness.md'),
);
const BUNDLES: readonly string[] = Object.freeze(['plugins', 'builtins', 'overrides']);

/** Without regard to case: some file systems have none. */
function requireWritable(
  place: readonly string[],
  { protect = PROTECTED }: BuiltinGrants,
  call: BuiltinCall,
): void {
  const parts = place.map((part) => part.normalize('NFKC').toLowerCase());
  const isBundle = BUNDLES.includes(parts[0] ?? '') && parts.at(-1)?.endsWith('.md') === true;
  const isBelow = (name: string): boolean =>
    partsOf(name).every((part, index) => part.toLowerCase() === parts[index]);
  if (isBundle || protect.some(isBelow))
    throw call.error('this path is protected: it describes tools, hooks or the stack');
}

async function withFile<T>(file: FileHandle, work: (file: FileHandle) => Promise<T>): Promise<T> {
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}

const CHUNK_BYTES = 64 * 1024;

/**
 * What a file says of its size need not be true: it is read to its end, or until it is too large.
 */
async function readText(file: FileHandle, maxBytes: number, call: BuiltinCall): Promise<string> {
  const kept = keptBytes(maxBytes);
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, null);
    if (bytesRead === 0) return kept.text();
    if (kept.add(buffer.subarray(0, bytesRead)) > maxBytes)
      throw call.error(`the file is larger than ${maxBytes} bytes`);
  }
}

/** Writes beside the file and moves it there: who reads sees the old text or the new one. */
async function replaceFile(
  files: Jail,
  path: string,
  content: Buffer,
  call: BuiltinCall,
): Promise<void> {
  const earlier = await files.stat(path).catch(absent);
  if (earlier !== false && !earlier.isFile())
    throw call.error('the path names a link, a folder or a special file');
  const folder = partsOf(path).slice(0, -1);
  const beside = [...folder, `.allium-${randomUUID()}.tmp`].join('/');
  try {
    await files.writeFile(beside, content, {
      flags: 'wx',
      mode: earlier === false ? 0o666 : earlier.mode & 0o777,
    });
    await files.rename(beside, path);
  } catch (error) {
    await files.unlink(beside).catch(() => {});
    throw error;
  }
}

function absent(error: unknown): false {
  if (isAlliumError(error, 'ERR_JAIL') && error.details.reason === 'not_found') return false;
  throw error;
}

type Stats = Awaited<ReturnType<Jail['stat']>>;

function fileType(stats: Stats): string {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'directory';
  return stats.isSymbolicLink() ? 'link' : 'other';
}

const shownStat = (stats: Stats): JsonValue => ({
  type: fileType(stats),
  size: stats.size,
  modified: isoTime(Math.floor(stats.mtimeMs)),
});
