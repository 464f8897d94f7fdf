/**
 * The servers in the TOML file of Codex: one `[mcp_servers.<name>]` table each. Other ways to write
 * the same are refused.
 */

import {
  type Dialect,
  type Document,
  type Member,
  type Server,
  spaceBefore,
  type Value,
} from './document.ts';
import { notUnderstood, refused } from './problem.ts';
import { type Cursor, cursorOf, take, takeSeries, takeText } from './cursor.ts';

/** A text as a basic string of TOML. */
export const tomlQuote = (text: string): string =>
  // JSON's escapes are TOML's too. There is one control character that JSON leaves as it is.
  JSON.stringify(text.toWellFormed()).replace(/\u007f/g, '\\u007f');

/** A key, in quotes where it needs them. */
export const tomlKey = (name: string): string =>
  /^[A-Za-z0-9_-]+$/.test(name) ? name : tomlQuote(name);

const dialect: Dialect = {
  headersKey: 'http_headers',
  quote: tomlQuote,
  key: tomlKey,
  member: (name, value) => `${tomlKey(name)} = ${value}`,
  between: (text, { keyStart }) =>
    `${text.includes('\r\n') ? '\r\n' : '\n'}${spaceBefore(text, keyStart).replace(/^[^]*\n/, '')}`,
};

interface Table {
  readonly name: string;
  readonly members: Member[];
  problem?: string;
}

/**
 * The document of a `config.toml`. Throws `ERR_CLIENT_CONFIG` for what it cannot read, and where
 * there are no servers.
 */
export function tomlDocument(text: string): Document {
  const tables = new Map<string, Table>();
  const heads = new Set<string>();
  /** Where the pairs of the table at hand go; `null` for tables that are none of ours. */
  let add: ((pair: Statement & { readonly kind: 'pair' }) => void) | null = (pair) =>
    refuseRootServers(text, pair.path);
  for (const statement of scanToml(text)) {
    if (statement.kind === 'pair') add?.(statement);
    else if (statement.path[0]?.name !== 'mcp_servers') add = null;
    else {
      const id = JSON.stringify(statement.path.map(({ name }) => name));
      if (statement.kind === 'tables')
        throw notUnderstood(
          text,
          statement.start,
          'a list of tables where the tables of MCP servers are',
        );
      if (heads.size === heads.add(id).size)
        throw notUnderstood(text, statement.start, 'this table is there twice');
      add = openTable(tables, statement);
    }
  }
  const servers = [...tables.values()].map(serverOf);
  if (servers.length === 0)
    throw refused(
      'no_servers',
      'there are no MCP servers in it: it has no [mcp_servers.<name>] table',
    );
  return { text, servers, dialect };
}

function refuseRootServers(text: string, [first]: readonly KeyPart[]): void {
  if (first?.name === 'mcp_servers')
    throw notUnderstood(
      text,
      first.start,
      'MCP servers that are not written as [mcp_servers.<name>] tables; write them so first',
    );
}

function openTable(
  tables: Map<string, Table>,
  { path, end }: Statement & { readonly kind: 'table' | 'tables' },
) {
  const [, server, sub, ...deeper] = path;
  const tableOf = ({ name }: KeyPart): Table => {
    const table = tables.get(name) ?? { name, members: [] };
    tables.set(name, table);
    return table;
  };
  if (server === undefined)
    return ({ path: [first] }: Statement & { readonly kind: 'pair' }): void => {
      if (first !== undefined) tableOf(first).problem = 'it is not written as a table of its own';
    };
  const table = tableOf(server);
  // The members of a table below are put in as they come: the list is the value's own.
  const members: Member[] = sub === undefined ? table.members : [];
  if (sub !== undefined)
    table.members.push(memberFrom([sub, ...deeper], { kind: 'map', start: end, end, members }));
  return ({ path: keys, value }: Statement & { readonly kind: 'pair' }): void =>
    void members.push(memberFrom(keys, value));
}

const serverOf = ({ name, members, problem }: Table): Server => ({
  name,
  place: 'mcp_servers',
  members,
  ...(problem === undefined ? {} : { problem }),
});

const MAX_DEPTH = 100;
const BLANK = /[ \t]*/y;
const TRIVIA = /[ \t\r\n]+|#[^\n]*/y;
const LINE_END = /[ \t]*(?:#[^\n]*)?(?:\r?\n|$)/y;
const BARE_KEY = /[A-Za-z0-9_-]+/y;
/** Numbers, booleans, and dates, which may have a blank before the time. */
const SCALAR = /[A-Za-z0-9+_.:-]+(?: \d\d:[0-9:.]+(?:[Zz]|[+-][0-9:]+)?)?/y;

/** One part of a key, with its quotes. */
interface KeyPart {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** A line that says something: the head of a table, or a key with its value. */
type Statement =
  | {
      readonly kind: 'table' | 'tables';
      readonly path: readonly KeyPart[];
      readonly start: number;
      readonly end: number;
    }
  | { readonly kind: 'pair'; readonly path: readonly KeyPart[]; readonly value: Value };

/** The statements of a file, in order. Throws `ERR_CLIENT_CONFIG` for what it cannot read. */
function scanToml(text: string): readonly Statement[] {
  const cursor = cursorOf(text);
  const found: Statement[] = [];
  for (skipTrivia(cursor); cursor.at < text.length; skipTrivia(cursor)) {
    found.push(text[cursor.at] === '[' ? scanHead(cursor) : scanPair(cursor));
    if (!take(cursor, LINE_END))
      throw notUnderstood(text, cursor.at, 'expected the end of the line');
  }
  return found;
}

function scanHead(cursor: Cursor): Statement {
  const start = cursor.at;
  const isMany = cursor.text.startsWith('[[', start);
  cursor.at += isMany ? 2 : 1;
  const path = scanKey(cursor);
  takeText(cursor, isMany ? ']]' : ']');
  return { kind: isMany ? 'tables' : 'table', path, start, end: cursor.at };
}

function scanPair(cursor: Cursor): Statement & { readonly kind: 'pair' } {
  const path = scanKey(cursor);
  takeText(cursor, '=');
  take(cursor, BLANK);
  return { kind: 'pair', path, value: scanValue(cursor, 0) };
}

function scanKey(cursor: Cursor): readonly KeyPart[] {
  const parts: KeyPart[] = [];
  for (;;) {
    take(cursor, BLANK);
    const start = cursor.at;
    const name = scanKeyPart(cursor);
    parts.push({ name, start, end: cursor.at });
    take(cursor, BLANK);
    if (cursor.text[cursor.at] !== '.') return parts;
    cursor.at += 1;
  }
}

function scanValue(cursor: Cursor, depth: number): Value {
  const { text, at: start } = cursor;
  const first = text[start];
  if (depth > MAX_DEPTH) throw notUnderstood(text, start, `nested deeper than ${MAX_DEPTH}`);
  if (text.startsWith('"""', start) || text.startsWith("'''", start)) return scanLongString(cursor);
  if (first === '"' || first === "'")
    return { kind: 'text', start, text: scanString(cursor), end: cursor.at };
  if (first === '[')
    return {
      kind: 'list',
      start,
      items: takeSeries(cursor, ']', skipTrivia, () => scanValue(cursor, depth + 1)),
      end: cursor.at,
    };
  if (first === '{')
    return {
      kind: 'map',
      start,
      members: takeSeries(cursor, '}', skipTrivia, () => scanMember(cursor, depth + 1)),
      end: cursor.at,
    };
  if (!take(cursor, SCALAR)) throw notUnderstood(text, start, 'expected a TOML value');
  return { kind: 'other', start, end: cursor.at };
}

/** A key with dots is one member whose value is not looked at. */
function scanMember(cursor: Cursor, depth: number): Member {
  const path = scanKey(cursor);
  takeText(cursor, '=');
  take(cursor, BLANK);
  return memberFrom(path, scanValue(cursor, depth));
}

/** The member that a path of keys makes of a table. */
function memberFrom([first, ...more]: readonly KeyPart[], value: Value): Member {
  const { name = '', start = value.start, end = value.start } = first ?? {};
  return {
    key: name,
    keyStart: start,
    keyEnd: end,
    value: more.length === 0 ? value : { kind: 'other', start: value.start, end: value.end },
  };
}

const ESCAPES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    b: '\b',
    t: '\t',
    n: '\n',
    f: '\f',
    r: '\r',
    e: '\u001b',
    '"': '"',
    '\\': '\\',
  }),
);

function scanString(cursor: Cursor): string {
  const { text, at: start } = cursor;
  const quote = text[start] ?? '';
  let end = start + 1;
  while (end < text.length && text[end] !== quote && text[end] !== '\n')
    end += quote === '"' && text[end] === '\\' ? 2 : 1;
  if (text[end] !== quote) throw notUnderstood(text, start, 'a string does not end');
  cursor.at = end + 1;
  const raw = text.slice(start + 1, end);
  return quote === "'"
    ? raw
    : raw.replace(
        /\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.?))/g,
        (_all, ...hex: readonly string[]) => {
          const code = hex.slice(0, 3).find((each) => each !== undefined);
          const character =
            code === undefined ? ESCAPES.get(hex[3] ?? '') : fromCode(Number.parseInt(code, 16));
          if (character === undefined)
            throw notUnderstood(text, start, 'a string has an escape that TOML does not know');
          return character;
        },
      );
}

/** TOML has no halves of surrogate pairs. */
const fromCode = (code: number): string | undefined =>
  code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? undefined : String.fromCodePoint(code);

/** A string of several lines is stepped over: no server is written with one. */
function scanLongString(cursor: Cursor): Value {
  const { text, at: start } = cursor;
  const quotes = text.slice(start, start + 3);
  let end = start + 3;
  while (end < text.length && !text.startsWith(quotes, end))
    end += quotes === '"""' && text[end] === '\\' ? 2 : 1;
  if (!text.startsWith(quotes, end)) throw notUnderstood(text, start, 'a string does not end');
  // Up to two quotes may stand right before the closing ones.
  for (let more = 0; more < 2 && text[end + 3] === quotes[0]; more += 1) end += 1;
  cursor.at = end + 3;
  return { kind: 'other', start, end: cursor.at };
}

/** White space, line ends and comments. */
function skipTrivia(cursor: Cursor): void {
  while (take(cursor, TRIVIA));
}

function scanKeyPart(cursor: Cursor): string {
  const start = cursor.at;
  const first = cursor.text[start];
  if (first === '"' || first === "'") return scanString(cursor);
  if (take(cursor, BARE_KEY)) return cursor.text.slice(start, cursor.at);
  throw notUnderstood(cursor.text, start, 'expected a key');
}
