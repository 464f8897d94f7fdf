/** Readers of lines in other languages, to see what each takes a stream of messages for. */

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isObject } from '../../../src/core/json/json.ts';

/** What a reader saw: a digest for each message, in order. */
export type Seen = readonly string[];

export interface LineReading {
  /** By reader. Each must be what was sent. */
  readonly byReader: Readonly<Record<string, Seen>>;
  /** Readers that are not installed here, in words. */
  readonly skipped: readonly string[];
}

const digest = (text: string): string =>
  createHash('sha256').update(text, 'utf8').digest('hex').slice(0, 16);

/**
 * A message by its value, however it is written: members in the order of their names, numbers by
 * their bits.
 */
export function digestOf(message: unknown): string {
  try {
    return digest(`${canonical(message)} ${forgiving(message)}`);
  } catch {
    return 'it nests too deep';
  }
}

function canonical(value: unknown): string {
  if (typeof value === 'number') return `n${bits(value)}`;
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (!isObject(value)) return ascii(value);
  const names = Object.keys(value).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return `{${names.map((name) => `${ascii(name)}:${canonical(value[name])}`).join()}}`;
}

function bits(value: number): string {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes.toString('hex');
}

const ascii = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[\x7f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/**
 * What decides about a message, as a reader sees it that takes names without regard to case, and
 * the first of two.
 */
function forgiving(message: unknown): string {
  const method = member(message, 'method');
  const params = member(message, 'params');
  return [method, member(message, 'id'), member(params, 'name')]
    .map((part) => (typeof part === 'string' ? ascii(part) : '-'))
    .join(' ');
}

const member = (holder: unknown, name: string): unknown =>
  isObject(holder) && Object.hasOwn(holder, name) ? holder[name] : undefined;

const PYTHON = `
import hashlib, io, json, struct, sys
sys.setrecursionlimit(20000)
def canonical(v):
    if v is None or isinstance(v, (bool, str)): return json.dumps(v)
    if isinstance(v, (int, float)):
        try: exact = float(v)
        except OverflowError: return 'inexact'
        return 'n' + struct.pack('>d', exact).hex() if exact == v else 'inexact'
    if isinstance(v, list): return '[' + ','.join(map(canonical, v)) + ']'
    names = sorted(v.keys(), key=lambda name: name.encode('utf-8', 'surrogatepass'))
    return '{' + ','.join(json.dumps(name) + ':' + canonical(v[name]) for name in names) + '}'
class First(dict): pass
def first(pairs):
    made = First()
    for name, value in pairs: made.setdefault(name.casefold().strip(), value)
    return made
def member(holder, name): return holder.get(name) if isinstance(holder, First) else None
def part(value): return json.dumps(value) if isinstance(value, str) else '-'
def seen(line):
    try:
        read, other = json.loads(line), json.loads(line, object_pairs_hook=first)
        parts = [member(other, 'method'), member(other, 'id'), member(member(other, 'params'), 'name')]
        text = canonical(read) + ' ' + ' '.join(map(part, parts))
    except Exception as error:
        text = 'unreadable ' + type(error).__name__
    return hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]
mode, path = sys.argv[1], sys.argv[2]
if mode == 'universal':
    lines = io.TextIOWrapper(open(path, 'rb'), encoding='utf-8', newline=None, errors='surrogateescape')
else:
    lines = open(path, 'rb').read().decode('utf-8', 'surrogateescape').splitlines()
sys.stdout.write('\\n'.join(seen(line) for line in lines if line.strip() != ''))
`;

const JAVA = `
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
public class Reader {
  public static void main(String[] args) throws Exception {
    BufferedReader lines = new BufferedReader(new InputStreamReader(new FileInputStream(args[0]), StandardCharsets.UTF_8));
    StringBuilder out = new StringBuilder();
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      if (line.isBlank()) continue;
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(line.getBytes(StandardCharsets.UTF_8));
      for (int at = 0; at < 8; at++) out.append(String.format("%02x", hash[at]));
      out.append('\\n');
    }
    System.out.print(out);
  }
}
`;

/**
 * Reads the same bytes as Python does with universal newlines and with `splitlines`, as `readLine`
 * does, and by line feeds alone. Where there is no Java, lines that end at a carriage return, a
 * line feed or both are cut here. Throws where there is no Python: nothing would be proved.
 */
export function readEverywhere(bytes: Buffer): LineReading {
  const folder = mkdtempSync(join(tmpdir(), 'allium-read-'));
  const file = join(folder, 'lines');
  try {
    writeFileSync(file, bytes);
    writeFileSync(join(folder, 'Reader.java'), JAVA);
    const java = run('java', ['-Xshare:auto', join(folder, 'Reader.java'), file]);
    const byFeed = linesOf(bytes, /\n/);
    const byReturn = linesOf(bytes, /\r\n|\r|\n/);
    return {
      byReader: {
        'line feeds': byFeed.map(seen),
        readLine: sameLines(java ?? byReturn.map(digest), byFeed),
        'universal newlines': required('python3', ['-c', PYTHON, 'universal', file]),
        splitlines: required('python3', ['-c', PYTHON, 'split', file]),
      },
      skipped:
        java === null
          ? ['There is no Java here that runs a source file: its readLine is imitated.']
          : [],
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const linesOf = (bytes: Buffer, end: RegExp): readonly string[] =>
  bytes
    .toString('utf8')
    .split(end)
    .filter((line) => line.trim() !== '');

function seen(line: string): string {
  try {
    return digestOf(JSON.parse(line));
  } catch {
    return 'unreadable';
  }
}

/**
 * Java has no reader of JSON of its own: where its lines are those between line feeds, so are its
 * messages.
 */
const sameLines = (found: Seen, lines: readonly string[]): Seen => {
  const own = lines.map(digest);
  return found.map((each, at) =>
    each === own[at] ? seen(lines[at] ?? '') : `another line ${each}`,
  );
};

function run(command: string, args: readonly string[]): Seen | null {
  const { status, stdout, error } = spawnSync(command, [...args], {
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  });
  if (error !== undefined || status !== 0) return null;
  return stdout.split('\n').filter((line) => line !== '');
}

function required(command: string, args: readonly string[]): Seen {
  const found = run(command, args);
  if (found === null) throw new Error(`${command} is needed to read the lines`);
  return found;
}
