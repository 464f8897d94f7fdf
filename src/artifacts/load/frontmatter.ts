/**
 * The YAML of a frontmatter: its members in the order of the file, each with the place it stands
 * at.
 */

import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type Scalar,
  visit,
} from 'yaml';
import { oneLine } from '../../core/contract/errors.ts';
import type { Position } from '../artifact.ts';

/** Many more than anybody writes, and few enough that a bomb of them stays small. */
const MAX_ALIASES = 100;
/** More takes the parser seconds. The body may be longer. */
export const MAX_FRONTMATTER = 131_072;
export const TOO_DEEP = 'the frontmatter is nested too deeply';
export const TOO_MANY_ALIASES = `there are too many aliases; ${MAX_ALIASES} are taken`;

/** One member of a mapping. A value that is left out stands where its key does. */
export interface Member {
  readonly key: string;
  readonly keyAt: Position;
  readonly value: unknown;
  readonly at: Position;
}

/** A scalar of YAML and the way it is written, without a word of the parser's types. */
export interface ScalarNode {
  readonly value: unknown;
  readonly type?: string | undefined;
  readonly source?: string | undefined;
  /** Where it begins and ends. */
  readonly range?: readonly number[] | null | undefined;
}

/**
 * What was parsed. Values are handed around as they are and looked at only through these functions.
 */
export interface Frontmatter {
  readonly members: readonly Member[];
  /** `null` for what is no mapping. */
  readonly membersOf: (value: unknown) => readonly Member[] | null;
  /** `null` for what is no list. */
  readonly itemsOf: (value: unknown) => readonly Pick<Member, 'value' | 'at'>[] | null;
  /** As plain data. Members called like those of every object are plain members. */
  readonly dataOf: (value: unknown) => unknown;
  /** The scalar itself, where the way it is written matters. */
  readonly scalarOf: (value: unknown) => ScalarNode | null;
  readonly at: (offset: number) => Position;
  readonly text: string;
}

type ReportAt = (at: Position, message: string) => void;

/**
 * A file that asks for more than it may. Thrown while it is read, and told as a problem of the
 * whole file.
 */
export class ExcessError extends Error {
  override readonly name = 'ExcessError';
}

/**
 * YAML 1.2, core schema: `no` is text, there are no merge keys, and tags are refused. `null` where
 * the text is no YAML: everything that is wrong was reported. `firstLine` is where the text begins
 * in its file.
 */
export function parseFrontmatter(
  text: string,
  firstLine: number,
  report: ReportAt,
): Frontmatter | null {
  const lines = new LineCounter();
  const at = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    // An empty text has no lines to count.
    return { line: Math.max(line, 1) + firstLine - 1, column: Math.max(col, 1) };
  };
  let clean = true;
  const wrong = (offset: number, message: string): void => {
    clean = false;
    report(at(offset), message);
  };
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    logLevel: 'silent',
    version: '1.2',
    schema: 'core',
    uniqueKeys: false,
  });
  // What follows the first place that is no YAML is only the echo of it.
  const [first] = document.errors;
  if (first !== undefined) wrong(first.pos[0], said(first.message));
  // The parser would take the rest for another document and drop it.
  const ended = /^\.\.\.(?=\s|$)/m.exec(text);
  if (ended !== null)
    wrong(ended.index, '"..." ends a YAML document; a frontmatter is one, and ends with ---');
  if (first === undefined) checkNodes(document, wrong);
  const { contents } = document;
  if (
    clean &&
    contents !== null &&
    !isMap(contents) &&
    !(isScalar(contents) && contents.value === null)
  )
    wrong(
      contents.range?.[0] ?? 0,
      'the frontmatter must be keys with values, such as "script: |"',
    );
  return clean ? viewOf(document, at, text) : null;
}

/** What the parser lets pass. */
function checkNodes(document: Document, wrong: (offset: number, message: string) => void): void {
  let aliases = 0;
  visit(document, {
    Node(_key, node) {
      // An alias has no tag, and no unresolved one either.
      if (!isAlias(node) && node.tag !== undefined) wrong(offsetOf(node), 'tags are not taken');
    },
    Alias(_key, node) {
      aliases += 1;
      if (node.resolve(document) === undefined)
        wrong(offsetOf(node), `there is no anchor "${node.source.slice(0, 60)}"`);
      if (aliases === MAX_ALIASES + 1) wrong(offsetOf(node), TOO_MANY_ALIASES);
    },
    Map(_key, node) {
      const seen = new Set<string>();
      for (const { key } of node.items) {
        if (!isScalar(key) || (typeof key.value === 'object' && key.value !== null))
          wrong(offsetOf(key), 'a key must be plain text');
        else if (seen.has(String(key.value)))
          wrong(offsetOf(key), `the key "${String(key.value).slice(0, 60)}" is there twice`);
        else seen.add(String(key.value));
      }
    },
  });
}

function viewOf(document: Document, at: (offset: number) => Position, text: string): Frontmatter {
  let followed = 0;
  // Aliases of aliases multiply: what is followed is counted, not what is written.
  const resolved = (value: unknown): unknown => {
    if (!isAlias(value)) return value;
    followed += 1;
    if (followed > MAX_ALIASES) throw new ExcessError(TOO_MANY_ALIASES);
    return value.resolve(document);
  };
  const isNothing = (value: unknown): boolean =>
    value === null || value === undefined || (isScalar(value) && value.value === null);
  const membersOf = (given: unknown): readonly Member[] | null => {
    const value = resolved(given);
    if (!isMap(value)) return null;
    return value.items.map((pair) => {
      const keyAt = at(offsetOf(pair.key));
      const inner = resolved(pair.value);
      const isAbsent = isNothing(inner);
      // Keys were seen to be scalars.
      return {
        key: String((pair.key as Scalar).value),
        keyAt,
        value: isAbsent ? null : inner,
        at: isAbsent ? keyAt : at(offsetOf(inner)),
      };
    });
  };
  return {
    members: membersOf(document.contents) ?? [],
    membersOf,
    at,
    text,
    itemsOf(given) {
      const value = resolved(given);
      return isSeq(value)
        ? value.items.map((item) => ({ value: resolved(item), at: at(offsetOf(item)) }))
        : null;
    },
    dataOf: (value) =>
      isNode(value) ? (value.toJS(document, { maxAliasCount: MAX_ALIASES }) as unknown) : value,
    scalarOf: (value) => (isScalar(value) ? value : null),
  };
}

// Keys and values are nodes or nothing.
const offsetOf = (node: unknown): number => (node as Partial<Node> | null)?.range?.[0] ?? 0;

/** The parser's own words, without a capital and without the text it quotes. */
function said(message: string): string {
  if (message.startsWith('Unresolved tag')) return 'tags are not taken';
  if (message.startsWith('Maximum call stack')) return TOO_DEEP;
  const [first = ''] = message.split(/[:;\n]/);
  return `this is not YAML: ${oneLine(first.replaceAll(/(["'`]).*?\1/g, '…').slice(0, 120))}`;
}
