/** The edits that put a server behind the proxy, and those that take it away again. */

import { type Document, type Edit, memberOf, type Server, type Value } from './document.ts';
import { commandWords, type HeaderVariable, httpWords, type ProxyOptions } from './proxy-line.ts';
import type { HttpServer, OtherServer, ProcessServer, WrappedServer } from './read-server.ts';

/**
 * Only the words of the proxy are put in: the server's own stay where they are and as they are
 * written.
 */
export function wrapEdits(
  shape: ProcessServer | HttpServer,
  document: Document,
  options: ProxyOptions,
): readonly Edit[] {
  return shape.kind === 'process'
    ? wrapProcess(shape, document, options)
    : wrapHttp(shape, document, options);
}

function wrapProcess(
  { command, args }: ProcessServer,
  { text, dialect }: Document,
  options: ProxyOptions,
): readonly Edit[] {
  const [program = '', ...words] = commandWords(options);
  const own = text.slice(command.value.start, command.value.end);
  const put = [...words.map((word) => dialect.quote(word)), own].join(', ');
  const start = {
    start: command.value.start,
    end: command.value.end,
    text: dialect.quote(program),
  };
  if (args === null) {
    const member = dialect.member('args', `[${put}]`);
    return [
      start,
      {
        start: command.value.end,
        end: command.value.end,
        text: `${dialect.between(text, command)}${member}`,
      },
    ];
  }
  const inside = args.value.start + 1;
  const comma = /[\r\n]/.test(text[inside] ?? '') ? ',' : ', ';
  const added = args.value.items.length === 0 ? put : `${put}${comma}`;
  return [start, { start: inside, end: inside, text: added }];
}

function wrapHttp(
  { url, type, headers, headerKeys }: HttpServer,
  { text, dialect }: Document,
  options: ProxyOptions,
): readonly Edit[] {
  const variables = variablesFor(headerKeys.map(({ key }) => key));
  const [program = '', ...words] = httpWords(options, url.value.text, variables);
  // The address as it is written, so that it is put back as it was.
  const at = words.length - variables.length * 2 - 1;
  const put = words
    .map((word, index) =>
      index === at ? text.slice(url.value.start, url.value.end) : dialect.quote(word),
    )
    .join(', ');
  const members = [
    dialect.member('command', dialect.quote(program)),
    dialect.member('args', `[${put}]`),
  ].join(dialect.between(text, url));
  return [
    { start: url.keyStart, end: url.value.end, text: members },
    ...(type === null
      ? []
      : [{ start: type.value.start, end: type.value.end, text: dialect.quote('stdio') }]),
    ...(headers === null
      ? []
      : [{ start: headers.keyStart, end: headers.keyEnd, text: dialect.key('env') }]),
    ...headerKeys.map(({ keyStart, keyEnd }, index) => ({
      start: keyStart,
      end: keyEnd,
      text: dialect.key(variables[index]?.variable ?? ''),
    })),
  ];
}

/**
 * A variable for each header. Two headers may come to the same name, and then one of them gets a
 * number.
 */
function variablesFor(headers: readonly string[]): readonly HeaderVariable[] {
  const taken = new Set<string>();
  return headers.map((header) => {
    const plain = `ALLIUM_HEADER_${header.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`;
    let variable = plain;
    for (let count = 2; taken.has(variable); count += 1) variable = `${plain}_${count}`;
    taken.add(variable);
    return { header, variable };
  });
}

/** Takes a wrapped server apart, as far as it still is what was written. */
export function unwrapEdits(
  { server, line }: WrappedServer,
  entry: Server,
  document: Document,
): readonly Edit[] | OtherServer {
  if (line === 'foreign')
    return {
      kind: 'other',
      reason: 'its proxy has options that "allium wrap" does not write; take it apart by hand',
    };
  const { upstream } = line;
  if (upstream.kind === 'command') return unwrapProcess(server, document, upstream.at - 1);
  return unwrapHttp(server, entry, document, upstream.urlAt - 1, upstream.headers);
}

/** `at` says which of the arguments is the server's own command. */
function unwrapProcess(
  { command, args }: ProcessServer,
  { text }: Document,
  at: number,
): readonly Edit[] {
  const items = args?.value.items ?? [];
  const [first, own, next] = [items[0], items[at], items[at + 1]];
  if (first === undefined || own === undefined) return [];
  const comma = /^[ \t\r\n]*, ?/.exec(text.slice(own.end));
  let { end } = own;
  if (next !== undefined) end = comma === null ? next.start : end + comma[0].length;
  return [
    { start: command.value.start, end: command.value.end, text: sliceOf(text, own) },
    { start: first.start, end, text: '' },
  ];
}

function unwrapHttp(
  { command, args, type }: ProcessServer,
  { members }: Server,
  { text, dialect }: Document,
  at: number,
  headers: readonly HeaderVariable[],
): readonly Edit[] | OtherServer {
  const url = args?.value.items[at];
  const isTogether =
    args !== null && /^[ \t\r\n,]*$/.test(text.slice(command.value.end, args.keyStart));
  const moved: OtherServer = {
    kind: 'other',
    reason: 'it was changed since it was wrapped; take it apart by hand',
  };
  if (url === undefined || !isTogether) return moved;
  const env = memberOf(members, 'env');
  const keys = env?.value.kind === 'map' ? env.value.members : [];
  const named = new Map(headers.map(({ header, variable }) => [variable, header]));
  if (keys.length !== named.size || keys.some(({ key }) => !named.has(key))) return moved;
  return [
    {
      start: command.keyStart,
      end: args.value.end,
      text: dialect.member('url', sliceOf(text, url)),
    },
    ...(type === null
      ? []
      : [{ start: type.value.start, end: type.value.end, text: dialect.quote('http') }]),
    ...(env === undefined
      ? []
      : [{ start: env.keyStart, end: env.keyEnd, text: dialect.key(dialect.headersKey) }]),
    ...keys.map(({ key, keyStart, keyEnd }) => ({
      start: keyStart,
      end: keyEnd,
      text: dialect.key(named.get(key) ?? key),
    })),
  ];
}

const sliceOf = (text: string, { start, end }: Value): string => text.slice(start, end);
