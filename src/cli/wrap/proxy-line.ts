/**
 * The command line of the proxy: the one place that writes and reads it. `allium proxy` takes
 * exactly these options.
 */

/**
 * A header whose value the proxy takes from a variable of its environment: a command line can be
 * read by every user of the machine.
 */
export interface HeaderVariable {
  readonly header: string;
  readonly variable: string;
}

/**
 * What stands before the server's own command, or before the end for a server that is reached by
 * HTTP.
 */
export interface ProxyOptions {
  /** What starts allium. */
  readonly program: readonly string[];
  readonly name: string | null;
  /** The file of the stack. Without it the proxy uses its own. */
  readonly config: string | null;
}

export interface ProxyLine extends ProxyOptions {
  /** Where the server's own command begins, or where and how it is reached. */
  readonly upstream:
    | { readonly kind: 'command'; readonly at: number }
    | {
        readonly kind: 'http';
        readonly urlAt: number;
        readonly headers: readonly HeaderVariable[];
      };
}

/** The words up to the server's own command. */
export const commandWords = (options: ProxyOptions): readonly string[] => [
  ...optionWords(options),
  '--',
];

/** The words for a server that is reached by HTTP. */
export const httpWords = (
  options: ProxyOptions,
  url: string,
  headers: readonly HeaderVariable[],
): readonly string[] => [
  ...optionWords(options),
  '--http',
  url,
  ...headers.flatMap(({ header, variable }) => ['--header-env', `${header}=${variable}`]),
];

const optionWords = ({ program, name, config }: ProxyOptions): readonly string[] => [
  ...program,
  'proxy',
  ...(name === null ? [] : ['--name', name]),
  ...(config === null ? [] : ['--config', config]),
];

/**
 * Takes a server's words for a line of the proxy: `null` when they are none, and `'foreign'` when
 * they are one that nobody here wrote, with options that cannot be told from the server's. A
 * program that is not called allium is taken for it where the line is to the letter what would be
 * written for a server of that name.
 */
export function readProxyLine(
  words: readonly string[],
  serverName: string,
): ProxyLine | 'foreign' | null {
  for (let at = words.indexOf('proxy', 1); at !== -1; at = words.indexOf('proxy', at + 1)) {
    const line = readOptions(words, at);
    const isAllium = looksLikeAllium(words[at - 1] ?? '');
    if (line !== null && (isAllium || line.name === serverName)) return line;
    if (isAllium) return 'foreign';
  }
  return null;
}

/** `allium`, `allium@1.2.3`, `…/allium.cmd`, `registry/allium:1`, or the script of this package. */
function looksLikeAllium(word: string): boolean {
  const path = word.replaceAll('\\', '/');
  return (
    /(?:^|\/)allium(?:\.(?:cmd|exe|ps1|js|mjs))?(?:[@:][\w.+-]*)?$/i.test(path) ||
    /\/dist\/src\/cli\/main\.js$/.test(path)
  );
}

function readOptions(words: readonly string[], proxyAt: number): ProxyLine | null {
  const found = new Map<string, number>();
  const headers: HeaderVariable[] = [];
  let at = proxyAt + 1;
  for (; at < words.length && words[at] !== '--'; at += 2) {
    const [option = '', value] = [words[at], words[at + 1]];
    if (value === undefined || found.has(option)) return null;
    const header = option === '--header-env' ? /^([^=]+)=([A-Za-z_]\w*)$/.exec(value) : null;
    if (header !== null) headers.push({ header: header[1] ?? '', variable: header[2] ?? '' });
    else if (['--name', '--config', '--http'].includes(option)) found.set(option, at + 1);
    else return null;
  }
  const wordOf = (option: string) => words[found.get(option) ?? -1] ?? null;
  const options = {
    program: words.slice(0, proxyAt),
    name: wordOf('--name'),
    config: wordOf('--config'),
  };
  const urlAt = found.get('--http');
  const hasCommand = at < words.length - 1;
  if (urlAt !== undefined)
    return at < words.length ? null : { ...options, upstream: { kind: 'http', urlAt, headers } };
  return hasCommand && headers.length === 0
    ? { ...options, upstream: { kind: 'command', at: at + 1 } }
    : null;
}
