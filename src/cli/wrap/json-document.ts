/** The servers in the JSON files of Claude Desktop, Claude Code, Cursor and VS Code. */

import {
  type Dialect,
  type Document,
  type Member,
  memberOf,
  repeatedKey,
  type Server,
  spaceBefore,
  type Value,
} from './document.ts';
import { notUnderstood, refused } from './problem.ts';
import { type Cursor, cursorOf, take, takeSeries, takeText } from './cursor.ts';

const dialect: Dialect = {
  headersKey: 'headers',
  quote: (text) => JSON.stringify(text),
  key: (name) => JSON.stringify(name),
  member: (key, value) => `${JSON.stringify(key)}: ${value}`,
  between: (text, { keyStart }) => `,${spaceBefore(text, keyStart)}`,
};

/**
 * Looks where the clients do: `mcpServers` (Claude, Cursor), `servers` (VS Code), `mcp.servers`
 * (the settings of VS Code) and `projects.<folder>.mcpServers` (Claude Code).
 */
export function jsonDocument(text: string): Document {
  const root = scanJson(text);
  const top = membersOf(text, root, 'the file');
  const projects = memberOf(top, 'projects');
  const servers = [
    ...serversAt(text, top, ['mcpServers']),
    ...serversAt(text, top, ['servers']),
    ...serversAt(text, top, ['mcp', 'servers']),
    ...(projects?.value.kind === 'map' ? projects.value.members : []).flatMap(({ key }) =>
      serversAt(text, top, ['projects', key, 'mcpServers']),
    ),
  ];
  if (servers.length === 0)
    throw refused(
      'no_servers',
      'there are no MCP servers in it: neither "mcpServers" nor "servers" has any',
    );
  return { text, servers, dialect };
}

function serversAt(
  text: string,
  top: readonly Member[],
  path: readonly string[],
): readonly Server[] {
  let members = top;
  for (const key of path) {
    const found = memberOf(members, key);
    if (found === undefined || found.value.kind !== 'map') return [];
    members = membersOf(text, found.value, `"${key}"`);
  }
  const place = path.join('.');
  return members.map(({ key: name, value }) =>
    value.kind === 'map'
      ? { name, place, members: value.members }
      : { name, place, members: [], problem: 'it is no object' },
  );
}

/** The members of a map in which servers are looked for. */
function membersOf(text: string, value: Value, what: string): readonly Member[] {
  if (value.kind !== 'map') throw notUnderstood(text, value.start, `${what} is no object`);
  if (repeatedKey(value.members) !== undefined)
    throw notUnderstood(
      text,
      value.start,
      `${what} has a key twice; nobody could tell which one counts`,
    );
  return value.members;
}

const MAX_DEPTH = 200;
const SPACE = /[ \t\r\n]*/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** The value of a whole text. Throws `ERR_CLIENT_CONFIG` where it is not JSON with comments. */
function scanJson(text: string): Value {
  const cursor = cursorOf(text);
  skipTrivia(cursor);
  const value = scanValue(cursor, 0);
  skipTrivia(cursor);
  if (cursor.at < text.length)
    throw notUnderstood(text, cursor.at, 'there is something behind the end');
  return value;
}

function scanValue(cursor: Cursor, depth: number): Value {
  const { text, at: start } = cursor;
  if (depth > MAX_DEPTH) throw notUnderstood(text, start, `nested deeper than ${MAX_DEPTH}`);
  if (text[start] === '"') return { kind: 'text', start, text: scanString(cursor), end: cursor.at };
  if (text[start] === '[')
    return {
      kind: 'list',
      start,
      items: takeSeries(cursor, ']', skipTrivia, () => scanValue(cursor, depth + 1)),
      end: cursor.at,
    };
  if (text[start] === '{')
    return {
      kind: 'map',
      start,
      members: takeSeries(cursor, '}', skipTrivia, () => scanMember(cursor, depth + 1)),
      end: cursor.at,
    };
  if (!take(cursor, SCALAR)) throw notUnderstood(text, start, 'expected a JSON value');
  return { kind: 'other', start, end: cursor.at };
}

function scanMember(cursor: Cursor, depth: number): Member {
  const keyStart = cursor.at;
  if (cursor.text[keyStart] !== '"')
    throw notUnderstood(cursor.text, keyStart, 'expected a key in double quotes');
  const key = scanString(cursor);
  const keyEnd = cursor.at;
  skipTrivia(cursor);
  takeText(cursor, ':');
  skipTrivia(cursor);
  return { key, keyStart, keyEnd, value: scanValue(cursor, depth) };
}

function scanString(cursor: Cursor): string {
  const { text, at: start } = cursor;
  let end = start + 1;
  // One character after the other: a pattern would keep a way back for each of a million.
  while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1;
  try {
    const value: unknown = JSON.parse(text.slice(start, end + 1));
    cursor.at = end + 1;
    if (typeof value === 'string') return value;
  } catch {
    // Said below, without the text.
  }
  throw notUnderstood(
    text,
    start,
    'a string does not end, or has characters that JSON does not allow',
  );
}

/** White space and comments. */
function skipTrivia(cursor: Cursor): void {
  const { text } = cursor;
  for (;;) {
    take(cursor, SPACE);
    if (text.startsWith('//', cursor.at)) cursor.at = endOr(text, text.indexOf('\n', cursor.at));
    else if (text.startsWith('/*', cursor.at)) {
      const end = text.indexOf('*/', cursor.at + 2);
      if (end === -1) throw notUnderstood(text, cursor.at, 'a comment does not end');
      cursor.at = end + 2;
    } else return;
  }
}

const endOr = (text: string, found: number): number => (found === -1 ? text.length : found);
