/** What a script may use: what its file asks for, as far as the host lets it. */

import { resolve } from 'node:path';
import type { FileGrants } from './artifact.ts';
import type { BuiltinGrants } from './builtins/builtin-use.ts';

/**
 * A host that says nothing about a grant leaves it to the file, except for the right to register
 * tools and hooks, which no file gives itself. What a host says is the most there is. A file's
 * workspace is a folder of the project, and the whole of it where it names none: the way there is
 * walked like every other, because a link on it is nothing that the host has named.
 */
export function effectiveGrants(
  root: string,
  file: FileGrants,
  host: BuiltinGrants = {},
): BuiltinGrants {
  const { allowedDomains, allowedPorts, env, shell = false, meta = false, maxOutputBytes } = file;
  const bytes = Math.min(maxOutputBytes ?? Infinity, host.maxOutputBytes ?? Infinity);
  return {
    ...host,
    workspace: resolve(host.workspace ?? root),
    folder: file.workspace ?? '.',
    allowedDomains: narrowed(allowedDomains ?? [], host.allowedDomains),
    ...(allowedPorts === undefined && host.allowedPorts === undefined
      ? {}
      : { allowedPorts: both(allowedPorts, host.allowedPorts) }),
    env: both(env ?? [], host.env),
    shell: shell && host.shell !== false,
    meta: meta && host.meta === true,
    ...(Number.isFinite(bytes) ? { maxOutputBytes: bytes } : {}),
  };
}

function both<T>(file: readonly T[] | undefined, host: readonly T[] | undefined): readonly T[] {
  if (file === undefined) return host ?? [];
  return host === undefined ? file : file.filter((item) => host.includes(item));
}

/** A name stands for all below it, so what is narrower on either side is what both allow. */
function narrowed(file: readonly string[], host: readonly string[] | undefined): readonly string[] {
  if (host === undefined) return file;
  const lies = (name: string, within: string): boolean =>
    within === '*' || name === within || name.endsWith(`.${within}`);
  const kept = [
    ...file.filter((name) => host.some((other) => lies(name.toLowerCase(), other.toLowerCase()))),
    ...host.filter((name) => file.some((other) => lies(name.toLowerCase(), other.toLowerCase()))),
  ];
  return [...new Set(kept)];
}
