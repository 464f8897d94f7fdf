/** The servers in the TOML file of Codex: one `[mcp_servers.<name>]` table each. Other ways to write the same are refused. */

import { type Dialect, type Document, type Member, type Server, spaceBefore } from './document.ts';
import { notUnderstood, refused } from './problem.ts';
import { type KeyPart, memberFrom, scanToml, type Statement } from './scan-toml.ts';

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

/** The document of a `config.toml`. Throws `ERR_CLIENT_CONFIG` for what it cannot read, and where there are no servers. */
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
  if (first?.name === 'mcp_servers') {
    throw notUnderstood(
      text,
      first.start,
      'MCP servers that are not written as [mcp_servers.<name>] tables; write them so first',
    );
  }
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
  if (server === undefined) {
    return ({ path: [first] }: Statement & { readonly kind: 'pair' }): void => {
      if (first !== undefined) tableOf(first).problem = 'it is not written as a table of its own';
    };
  }
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
