/**
 * Ordinary documents: what an agent reads all day and what must come through a cleaner as it is.
 * They are collected from what is installed (packages, manuals, documentation of Debian packages),
 * from the history of this project and from generated diffs and logs. What is not there is left
 * away and said.
 */

import { execFileSync } from 'node:child_process';
import { type Dirent, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { stringify } from 'yaml';
import { createRandom, seedOf } from '../fuzz/random.ts';
import { generateDiff } from './generated-diff.ts';
import { generateLog } from './generated-logs.ts';

/** A text without a secret in it. */
export interface OrdinaryDocument {
  readonly name: string;
  readonly text: string;
}

export interface Collection {
  readonly documents: readonly OrdinaryDocument[];
  /** How many there are of each kind. A kind with 0 is not installed here. */
  readonly kinds: Readonly<Record<string, number>>;
}

/**
 * A document that is not read yet. Documents of one `group` (a package, say) are alike, so that
 * groups take turns.
 */
interface Candidate {
  readonly name: string;
  readonly group: string;
  readonly read: () => string;
}

const MOST_CHARACTERS = 64 * 1024;
const FEWEST_CHARACTERS = 120;
const OLDEST_COMMITS = 400;

/**
 * Left out, by a part of their name and with the reason: a look into them showed what is key
 * material, or is planted to look like it.
 */
const LEFT_OUT: Readonly<Record<string, string>> = {
  '@js-sdsl/ordered-map/README': 'the address of a badge carries the token of its author',
  '@pinojs/redact/': 'a package that masks secrets, whose pages and tests plant passwords',
  'doc/python3-jwt/README': 'shows a whole signed web token',
};

const leftOut = Object.keys(LEFT_OUT);

/**
 * Paths of this project that show secrets on purpose: canaries of tests, scenarios and benchmarks,
 * and examples on the pages of layers.
 */
const SHOWS_SECRETS = [
  '*.test.ts',
  '*.fixture.ts',
  'bench',
  'conformance',
  'docs/middleware',
  'examples',
  'middleware/redaction',
  'src/redaction',
];

/**
 * Collects up to `count` documents, evenly spread over their kinds, the same ones whenever the same
 * things are installed.
 * @param root the folder of this project
 */
export function collectDocuments(root: string, count = 3_000): Collection {
  const packages = listFiles(join(root, 'node_modules'), 'node_modules');
  const debian = listFiles('/usr/share/doc', 'doc');
  const kinds: Readonly<Record<string, readonly Candidate[]>> = {
    source: packages.filter(
      ({ name }) =>
        /\.(?:[cm]?js|jsx|tsx|py|sh|css)$/.test(name) || /(?<!\.d)\.[cm]?ts$/.test(name),
    ),
    declarations: packages.filter(({ name }) => /\.d\.[cm]?ts$/.test(name)),
    markdown: packages.filter(
      ({ name }) => /\.(?:md|markdown|txt)$/i.test(name) && !isChangelog(name),
    ),
    changelogs: [...packages, ...debian].filter(({ name }) => isChangelog(name)),
    JSON: packages.filter(({ name }) => /\.(?:json|map)$/.test(name)),
    YAML: [...packages.filter(({ name }) => /\.ya?ml$/.test(name)), ...asYaml(packages)],
    manuals: ['1', '2', '3', '5', '7', '8'].flatMap((section) => listManuals(section)),
    'Debian documentation': debian.filter(({ name }) => !isChangelog(name)),
    commits: listCommits(root),
    diffs: pairDiffs(packages),
    logs: [...systemLogs(), ...Array.from({ length: count }, (_, number) => generatedLog(number))],
  };
  const queues = Object.entries(kinds).map(([kind, candidates]) => ({
    kind,
    candidates: takeTurns(candidates),
    taken: 0,
  }));
  const documents: OrdinaryDocument[] = [];
  while (documents.length < count && queues.some(({ candidates }) => candidates.length > 0)) {
    for (const queue of queues) {
      const document = documents.length < count ? nextReadable(queue.candidates) : null;
      if (document === null) continue;
      documents.push(document);
      queue.taken += 1;
    }
  }
  return { documents, kinds: Object.fromEntries(queues.map(({ kind, taken }) => [kind, taken])) };
}

const isChangelog = (name: string) =>
  /^(?:changelog|changes|history|news|releases?)/i.test(basename(name));

/**
 * Orders candidates, last first, so that every group comes once before any comes twice. Names
 * decide the rest: a file more moves no other.
 */
function takeTurns(candidates: readonly Candidate[]): Candidate[] {
  const ranks = new Map<string, number>();
  return candidates
    .map((candidate) => ({ candidate, place: createRandom(seedOf(candidate.name)).below(2 ** 32) }))
    .sort((a, b) => a.place - b.place)
    .map(({ candidate, place }) => {
      const rank = ranks.get(candidate.group) ?? 0;
      ranks.set(candidate.group, rank + 1);
      return { candidate, place, rank };
    })
    .sort((a, b) => b.rank - a.rank || b.place - a.place)
    .map(({ candidate }) => candidate);
}

/**
 * The last of `candidates` that can be read as a text of some length. Takes it, and those that
 * cannot, away.
 */
function nextReadable(candidates: Candidate[]): OrdinaryDocument | null {
  for (let candidate = candidates.pop(); candidate !== undefined; candidate = candidates.pop()) {
    if (leftOut.some((part) => candidate.name.includes(part))) continue;
    const text = readText(candidate);
    if (text !== null) return { name: candidate.name, text };
  }
  return null;
}

function readText({ read }: Candidate): string | null {
  let text: string;
  try {
    text = read();
  } catch {
    return null; // Unreadable, a dangling link, or not UTF-8: as good as not installed.
  }
  if (text.length < FEWEST_CHARACTERS || text.includes('\0')) return null;
  if (text.length <= MOST_CHARACTERS) return text;
  const end = text.lastIndexOf('\n', MOST_CHARACTERS);
  return text.slice(0, end > 0 ? end : MOST_CHARACTERS);
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function readFile(path: string): string {
  const bytes = readFileSync(path);
  return utf8.decode(path.endsWith('.gz') ? gunzipSync(bytes) : bytes);
}

/**
 * The files below a folder, sorted. Those of one package, which the first parts of a path name, are
 * a group.
 */
function listFiles(folder: string, label: string): Candidate[] {
  return readFolder(folder)
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort()
    .map((path) => ({
      name: `${label}/${path}`,
      group: path.split('/', path.startsWith('@') ? 2 : 1).join('/'),
      read: () => readFile(join(folder, path)),
    }));
}

function readFolder(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
  } catch {
    return []; // Not installed.
  }
}

/** Families of commands (git-…, systemd-…) have a manual for each: they are one group. */
function listManuals(section: string): Candidate[] {
  const folder = `/usr/share/man/man${section}`;
  return readFolder(folder)
    .map(({ name }) => name)
    .sort()
    .map((name) => ({
      name: `man/man${section}/${name}`,
      group: `${section} ${name.split(/[-_.]/, 1)[0] ?? ''}`,
      read: () => readFile(join(folder, name)),
    }));
}

function asYaml(packages: readonly Candidate[]): Candidate[] {
  return packages
    .filter(({ name }) => name.endsWith('/package.json'))
    .map(({ name, group, read }) => ({
      name: `${name} as YAML`,
      group,
      read: () => stringify(JSON.parse(read())),
    }));
}

/** A diff between two files of the same name, as between two versions of a file. */
function pairDiffs(packages: readonly Candidate[]): Candidate[] {
  const before = new Map<string, Candidate>();
  return packages.flatMap((after) => {
    const name = basename(after.name);
    const other = before.get(name);
    before.set(name, after);
    if (other === undefined) return [];
    return [
      {
        name: `diff ${other.name} ${after.name}`,
        group: `${name} ${after.group}`,
        read: () => generateDiff(after.name, other.read(), after.read()),
      },
    ];
  });
}

/**
 * The oldest changes of this project, where its history is there. The newest are left away: a
 * commit must not change what is measured.
 */
function listCommits(root: string): Candidate[] {
  const git = (...rest: readonly string[]) =>
    execFileSync('git', rest, {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 2 ** 30,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  try {
    const oldest = git('rev-list', '--no-merges', '--reverse', 'HEAD')
      .split('\n', OLDEST_COMMITS)
      .filter(Boolean);
    const excluded = SHOWS_SECRETS.map((path) => `:(exclude)${path}`);
    const log = git(
      'log',
      '-p',
      '--no-color',
      '--no-walk',
      '--format=%x00%h %s%n%n%b',
      ...oldest,
      '--',
      '.',
      ...excluded,
    );
    const texts = log.split('\0').slice(1);
    return texts.map((text) => ({
      name: `commit ${text.split('\n', 1)[0] ?? ''}`,
      group: text.slice(0, 12),
      read: () => text,
    }));
  } catch {
    return []; // No git, or no history.
  }
}

function systemLogs(): Candidate[] {
  const names = ['dpkg.log', 'alternatives.log', 'apt/history.log', 'apt/term.log'];
  return names.map((name) => ({
    name: `log/${name}`,
    group: name,
    read: () => readFile(join('/var/log', name)),
  }));
}

const generatedLog = (number: number): Candidate => ({
  name: `generated log ${number}`,
  group: `log ${number}`,
  read: () => generateLog(number),
});
