/** What kind of server an entry describes, and whether the proxy can stand before it. */

import { type Member, memberOf, type Server, type Value } from './document.ts';
import { type ProxyLine, readProxyLine } from './proxy-line.ts';
import { words } from '../../system/words.ts';

type Text = Value & { readonly kind: 'text' };
type List = Value & { readonly kind: 'list' };

/** A server that is started as a process. */
export interface ProcessServer {
  readonly kind: 'process';
  readonly command: Member & { readonly value: Text };
  readonly args: (Member & { readonly value: List }) | null;
  readonly type: Member | null;
  /** The command and its arguments. */
  readonly words: readonly string[];
}

/** A server that is reached by streamable HTTP. */
export interface HttpServer {
  readonly kind: 'http';
  readonly url: Member & { readonly value: Text };
  readonly type: Member | null;
  readonly headers: Member | null;
  readonly headerKeys: readonly Member[];
}

export interface WrappedServer {
  readonly kind: 'wrapped';
  readonly server: ProcessServer;
  readonly line: ProxyLine | 'foreign';
}

/** One that stays as it is, and why. The reason holds no value of the file. */
export interface OtherServer {
  readonly kind: 'other';
  readonly reason: string;
}

export type ServerShape = ProcessServer | HttpServer | WrappedServer | OtherServer;

const HTTP_TYPES = ['http', 'streamable-http', 'streamableHttp', 'streamable_http'];

/** What the client itself does to be let in. Behind the proxy nobody would do it. */
const LOGIN_KEYS = words(`
  oauth auth authorization authProviderType headersHelper scopes oauth_resource oauth_client_id
  bearer_token bearer_token_env_var env_http_headers http_headers_helper
`);

/** Takes an entry apart. Never throws: what is not understood is a server that stays as it is. */
export function readServer(server: Server, headersKey: string): ServerShape {
  const { members, problem, name } = server;
  if (problem !== undefined) return other(problem);
  const [type, command, url] = ['type', 'command', 'url'].map((key) => memberOf(members, key));
  const twice = ['type', 'command', 'args', 'url', 'env', headersKey].find(
    (key) => members.filter((each) => each.key === key).length > 1,
  );
  if (twice !== undefined && !(twice === 'env' && url === undefined))
    return other(`it has "${twice}" twice`);
  if (command !== undefined && url !== undefined) return other('it has both a command and a url');
  const word = type?.value.kind === 'text' ? type.value.text : '';
  const named = type === undefined ? null : word;
  if (named === 'sse')
    return other('it is an SSE server; the proxy speaks stdio and streamable HTTP');
  if (command !== undefined)
    return named === null || named === 'stdio'
      ? readProcess(members, command, type ?? null, name)
      : other('its "type" does not go with a command');
  if (url === undefined) return other('it has neither a command nor a url');
  return named === null || HTTP_TYPES.includes(named)
    ? readHttp(members, url, type ?? null, headersKey)
    : other('its "type" does not go with a url');
}

const other = (reason: string): OtherServer => ({ kind: 'other', reason });

function readProcess(
  members: readonly Member[],
  command: Member,
  type: Member | null,
  name: string,
): ServerShape {
  const args = memberOf(members, 'args');
  const listed = args?.value.kind === 'list' ? args.value.items : [];
  const items = listed.filter(isText);
  if (!hasText(command)) return other('its "command" is not a plain string');
  if ((args !== undefined && args.value.kind !== 'list') || items.length < listed.length)
    return other('its "args" are not a list of plain strings');
  // Some clients split such a line themselves. The proxy starts one program, and would not find one
  // of that name.
  const isLine =
    /\s/.test(command.value.text) && items.length === 0 && !/[\\/]/.test(command.value.text);
  if (isLine)
    return other('its "command" is a whole line; put the words behind the first into "args"');
  const words = [command.value.text, ...items.map(({ text }) => text)];
  const server: ProcessServer = {
    kind: 'process',
    command,
    args: args !== undefined && hasList(args) ? args : null,
    type,
    words,
  };
  const line = readProxyLine(words, name);
  return line === null ? server : { kind: 'wrapped', server, line };
}

function readHttp(
  members: readonly Member[],
  url: Member,
  type: Member | null,
  headersKey: string,
): ServerShape {
  const headers = memberOf(members, headersKey);
  const login = members.find(({ key }) => LOGIN_KEYS.includes(key));
  if (login !== undefined)
    return other(
      `the client itself logs in ("${login.key}"), which the proxy cannot do in its place`,
    );
  if (memberOf(members, 'env') !== undefined) return other('it has both a url and an "env"');
  if (!hasText(url)) return other('its "url" is not a plain string');
  if (type === null && /\/sse\/?$/i.test(url.value.text))
    return other('it looks like an SSE server; the proxy speaks stdio and streamable HTTP');
  if (/[?#]|\/\/[^/]*@/.test(url.value.text))
    return other(
      'its "url" has more than a host and a path, which may be secret; a command line can be read by every user of the machine',
    );
  if (headers === undefined) return { kind: 'http', url, type, headers: null, headerKeys: [] };
  const keys = headers.value.kind === 'map' ? headers.value.members : [];
  const names = new Set(keys.map(({ key }) => key.toLowerCase()));
  const isPlain =
    headers.value.kind === 'map' &&
    names.size === keys.length &&
    keys.every((each) => HEADER_NAME.test(each.key) && isText(each.value));
  return isPlain
    ? { kind: 'http', url, type, headers, headerKeys: keys }
    : other(`its "${headersKey}" are not plain headers`);
}

/** A token of RFC 9110. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~\w-]+$/;

const isText = (value: Value): value is Text => value.kind === 'text';
const hasText = (member: Member): member is Member & { readonly value: Text } =>
  isText(member.value);
const hasList = (member: Member): member is Member & { readonly value: List } =>
  member.value.kind === 'list';
