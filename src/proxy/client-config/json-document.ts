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
import { scanJson } from './scan-json.ts';

const dialect: Dialect = {
  headersKey: 'headers',
  quote: (text) => JSON.stringify(text),
  key: (name) => JSON.stringify(name),
  member: (key, value) => `${JSON.stringify(key)}: ${value}`,
  between: (text, { keyStart }) => `,${spaceBefore(text, keyStart)}`,
};

/**
 * Looks where the clients do: `mcpServers` (Claude, Cursor), `servers` (VS Code), `mcp.servers` (the settings of VS Code) and
 * `projects.<folder>.mcpServers` (Claude Code).
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
