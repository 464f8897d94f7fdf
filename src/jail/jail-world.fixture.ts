/**
 * A root with every kind of link that leads out of it, and what must never be reached beside it.
 */

import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What only what lies outside of the root holds, and is called. */
export const SENTINEL = 'outside-sentinel-7f3a';

export interface JailWorld {
  readonly base: string;
  readonly root: string;
  readonly outside: string;
  /**
   * Every name outside of the root with what it holds: the same text means that nothing was written
   * there.
   */
  outsideText(): string;
  remove(): void;
}

export function jailWorld(): JailWorld {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'allium-jail-')));
  const [root, outside] = [join(base, 'root'), join(base, 'outside')];
  mkdirSync(join(root, 'dir', 'deep'), { recursive: true });
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret.txt'), SENTINEL);
  for (const folder of [base, outside]) writeFileSync(join(folder, SENTINEL), '');
  writeFileSync(join(root, 'inside.txt'), 'inside');
  writeFileSync(join(root, 'dir', 'deep', 'file.txt'), 'deep');
  const links = {
    ...{
      'link-up': '..',
      'link-out': '../outside',
      'link-absolute': outside,
      'link-chain': 'link-out',
      'link-loop': 'link-loop',
    },
    ...{
      'link-proc': '/proc/self/root',
      'link-fd': '/proc/self/fd',
      'link-file': '../outside/secret.txt',
      'link-inside': 'inside.txt',
    },
    ...{
      'link-dangling': '../outside/new.txt',
      'dir/link-out': '../../outside',
      'dir/link-file': join(outside, 'secret.txt'),
    },
  };
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(root, name));
  return {
    base,
    root,
    outside,
    outsideText: () =>
      JSON.stringify([
        readdirSync(base),
        readdirSync(outside).map((name) => [name, readFileSync(join(outside, name), 'utf8')]),
      ]),
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}
