/**
 * The Markdown files of a project that hold tools and hooks, in the order in which they are read.
 */

import { isAlliumError } from '../../core/contract/errors.ts';
import { closest } from '../../core/contract/closest.ts';
import type { Jail, JailEntry } from '../../jail/jail.ts';
import type { ArtifactProblem } from '../artifact.ts';

export interface FoundFile {
  /** Relative to the root. */
  readonly path: string;
  readonly role: 'tool' | 'hook' | 'bundle' | 'harness';
}

/** Takes what is wrong with a file or folder as a whole. */
export type ReportFile = (
  file: string,
  message: string,
  rule: string,
  severity?: ArtifactProblem['severity'],
) => void;

/** The folders that hold files of one kind: below these, and for bundles below the root as well. */
const HOMES = ['.allium', '.harness'];
const OWN_FOLDERS: Readonly<Record<string, FoundFile['role']>> = { tools: 'tool', hooks: 'hook' };
const BUNDLE_FOLDERS = ['builtins', 'plugins', 'overrides'];
const HARNESS = 'harness.md';
const MAX_FILES = 2_000;

/**
 * Folders are read without those below. What is not there is no mistake; what is there and cannot
 * be read is one.
 */
export async function findFiles(
  root: Jail,
  lenient: boolean,
  report: ReportFile,
): Promise<readonly FoundFile[]> {
  const found: FoundFile[] = [];
  const add = async (folder: string, role: FoundFile['role']): Promise<void> => {
    for (const { name } of await markdownIn(root, folder, role, report))
      found.push({ path: joined(folder, name), role });
  };
  const homes = [];
  for (const home of HOMES) homes.push({ home, entries: await entriesOf(root, home, report) });
  const top = await entriesOf(root, '.', report);
  for (const { home, entries } of [{ home: '.', entries: top }, ...homes]) {
    if (entries.some(({ name }) => name === HARNESS))
      found.push({ path: joined(home, HARNESS), role: 'harness' });
  }
  for (const [folder, role] of Object.entries(OWN_FOLDERS))
    for (const home of HOMES) await add(`${home}/${folder}`, role);
  for (const folder of BUNDLE_FOLDERS)
    for (const home of ['.', ...HOMES]) await add(joined(home, folder), 'bundle');
  for (const { home, entries } of homes) {
    const stray = entries.filter(({ name }) => name.endsWith('.md') && name !== HARNESS);
    if (lenient)
      found.push(
        ...stray.map(({ name }): FoundFile => ({ path: `${home}/${name}`, role: 'bundle' })),
      );
    else warnOf(home, stray, report);
    warnOfFolders(home, entries, report);
  }
  if (found.length > MAX_FILES)
    report('.', `there are ${found.length} files; ${MAX_FILES} are taken`, 'file');
  return found.slice(0, MAX_FILES);
}

const joined = (folder: string, name: string): string =>
  folder === '.' ? name : `${folder}/${name}`;

function warnOf(home: string, stray: readonly JailEntry[], report: ReportFile): void {
  for (const { name } of stray)
    report(
      `${home}/${name}`,
      `this file is not read: bundles stand in ${BUNDLE_FOLDERS.join('/, ')}/`,
      'not-read',
      'warning',
    );
}

/** A guard in a folder that nobody reads guards nothing. */
function warnOfFolders(home: string, entries: readonly JailEntry[], report: ReportFile): void {
  const known = [...Object.keys(OWN_FOLDERS), ...BUNDLE_FOLDERS];
  for (const { name } of entries.filter(({ type }) => type === 'directory' || type === 'link')) {
    const meant = known.includes(name) ? undefined : closest(name, known);
    if (meant !== undefined)
      report(
        `${home}/${name}`,
        `this folder is not read; did you mean "${meant}"?`,
        'not-read',
        'warning',
      );
    if (name === 'agents')
      report(
        `${home}/${name}`,
        'agents are not read: allium has tools and hooks',
        'not-read',
        'warning',
      );
  }
}

/**
 * Files that look like artifacts and are none, and folders in which somebody may have put guards.
 */
function warnOfOthers(
  folder: string,
  others: readonly JailEntry[],
  role: FoundFile['role'],
  report: ReportFile,
): void {
  for (const { name, type } of others) {
    const warn = (message: string) => report(joined(folder, name), message, 'not-read', 'warning');
    if (type === 'directory' && role === 'hook')
      warn('this folder is not read: hooks stand in hooks/ itself');
    if (type !== 'directory' && /\.(?:md|mdx|markdown)$/i.test(name))
      warn('this file is not read: artifacts end in ".md"');
  }
}

async function markdownIn(
  root: Jail,
  folder: string,
  role: FoundFile['role'],
  report: ReportFile,
): Promise<readonly JailEntry[]> {
  const all = await entriesOf(root, folder, report);
  const entries = all.filter(({ name }) => name.endsWith('.md'));
  warnOfOthers(
    folder,
    all.filter((entry) => !entries.includes(entry)),
    role,
    report,
  );
  // Passed over in silence, a guard behind a link would guard nothing.
  for (const { name, type } of entries.filter((entry) => entry.type !== 'file'))
    report(
      joined(folder, name),
      type === 'link' ? 'this is a link, and links are not followed' : 'this is no regular file',
      'file',
    );
  return entries.filter(({ type }) => type === 'file');
}

async function entriesOf(
  root: Jail,
  folder: string,
  report: ReportFile,
): Promise<readonly JailEntry[]> {
  try {
    return await root.readdir(folder);
  } catch (thrown) {
    if (!isAlliumError(thrown, 'ERR_JAIL')) throw thrown;
    if (thrown.details.reason !== 'not_found')
      report(
        folder,
        `this folder cannot be read: ${thrown.message.replace(/^jail: /, '')}`,
        'file',
      );
    return [];
  }
}
