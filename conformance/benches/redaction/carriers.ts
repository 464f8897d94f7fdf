/** The texts that people really see a secret in. */

import type { Random } from '../fuzz/random.ts';
import { render, type Shown } from './patterns.ts';

/** A secret in its carrier. */
export interface Sample extends Shown {
  /** The name of the carrier, for the report of what was missed. */
  readonly carrier: string;
}

/** A kind of secret that documentation or a scanner knows. */
export interface SecretKind {
  readonly id: string;
  /** The documentation or the scanner's rule that says what such a secret looks like. */
  readonly source: string;
  /** A fresh sample. The same random numbers give the same sample. */
  make(random: Random): Sample;
}

/** The value goes where `%v` stands, the name of its variable where `%n` stands. */
type Carriers = Readonly<Record<string, string>>;

const ESCAPE = '\u001b';

/** For a token that its own shape gives away: nothing around it says that a secret follows. */
const ANYWHERE: Carriers = {
  bare: '%v',
  prose: 'I pasted %v into the form this morning, can you check whether it still works?',
  'prose, end of a sentence': 'The old one was %v.',
  markdown: '- staging: `%v` (rotate before Friday)',
  'table row': '| deploy | %v | 2031-04-02 |',
  'quoted string': "  client = connect('%v', region='eu-west-1')",
  'JSON array': '["--verbose", "%v", "--retries=3"]',
  'JSON in JSON': '{"body":"{\\"value\\":\\"%v\\",\\"ttl\\":3600}"}',
  'XML element': '<value>%v</value>',
  'command line': '$ ./deploy.sh --env staging --with %v --wait',
  'log line':
    '2031-02-11T09:14:03.112Z WARN  worker[4121]: request refused, sent=%v status=401 attempt=2',
  'CSV row': '4121,staging,%v,active',
  'added line of a diff': '@@ -11,3 +11,4 @@\n   region: eu-west-1\n+  value: %v\n   retries: 3',
  'query of a URL': 'GET https://api.example.org/v2/items?page=2&k=%v&sort=name HTTP/1.1',
  'Bearer header':
    'GET /v2/items HTTP/1.1\r\nHost: api.example.org\r\nAuthorization: Bearer %v\r\nAccept: */*',
  'coloured line': `${ESCAPE}[2m09:14:03${ESCAPE}[0m ${ESCAPE}[33mwarn${ESCAPE}[39m refused ${ESCAPE}[36m%v${ESCAPE}[0m after 3 tries`,
  'hyperlink of a terminal': `${ESCAPE}]8;;https://example.org/docs${ESCAPE}\\%v${ESCAPE}]8;;${ESCAPE}\\`,
};

/** For a value without a shape of its own: the name of the variable says what it is. */
const NAMED: Carriers = {
  '.env file': 'NODE_ENV=production\n%n=%v\nLOG_LEVEL=info\n',
  '.env file, quoted': 'NODE_ENV=production\n%n="%v"\nLOG_LEVEL=info\n',
  'export in a shell': "export %n='%v'",
  'command with a variable': '$ %n=%v npm run deploy',
  'JSON member': '{\n  "region": "eu-west-1",\n  "%n": "%v",\n  "retries": 3\n}',
  'compact JSON': '{"region":"eu-west-1","%n":"%v","retries":3}',
  'JSON in JSON': '{"body":"{\\"%n\\":\\"%v\\",\\"ttl\\":3600}"}',
  'YAML member': 'services:\n  api:\n    environment:\n      %n: %v\n      LOG_LEVEL: info\n',
  'YAML member, quoted': 'env:\n  %n: "%v"\n  LOG_LEVEL: info\n',
  'Compose list': '    environment:\n      - %n=%v\n      - LOG_LEVEL=info\n',
  'list of name and value':
    '        env:\n        - name: %n\n          value: %v\n        - name: LOG_LEVEL\n          value: info\n',
  TOML: '[deploy]\nregion = "eu-west-1"\n%n = "%v"\n',
  INI: '[deploy]\nregion = eu-west-1\n%n = %v\n',
  'Java properties': 'server.port=8080\n%n=%v\n',
  HCL: 'variable_values = {\n  region = "eu-west-1"\n  %n = "%v"\n}\n',
  'XML setting': '<appSettings>\n  <add key="%n" value="%v" />\n</appSettings>',
  Dockerfile: 'FROM node:22\nENV %n=%v\nRUN npm ci\n',
  'docker run': 'docker run --rm -e %n=%v -p 8080:80 registry.example.org/api:2.4.1',
  systemd: '[Service]\nEnvironment="%n=%v"\nExecStart=/usr/bin/api\n',
  PowerShell: '$env:%n = "%v"',
  'source code': "const client = createClient({ region: 'eu-west-1', %n: '%v' });",
  'Python assignment': 'os.environ["%n"] = "%v"',
  'log line': '2031-02-11T09:14:03.112Z DEBUG config[88]: loaded region=eu-west-1 %n=%v retries=3',
  'coloured line': `${ESCAPE}[34m%n${ESCAPE}[0m=${ESCAPE}[32m%v${ESCAPE}[0m`,
  'added line of a diff': '@@ -11,3 +11,4 @@\n   region: eu-west-1\n+  %n: %v\n   retries: 3',
};

/** Texts that come between the characters of a token and that a reader does not see. */
const PARTED: Readonly<Record<string, (head: string, tail: string) => string>> = {
  'coloured match of a search': (head, tail) =>
    `src/config.ts:12:  ${ESCAPE}[01;31m${ESCAPE}[K${head}${ESCAPE}[m${ESCAPE}[K${tail}`,
  'copied from a page with zero-width spaces': (head, tail) =>
    `The key is ${head}\u200b${tail}, it is shown once.`,
};

/** A token that is known by its shape, wherever it stands. */
export function shape(id: string, source: string, ...patterns: readonly string[]): SecretKind {
  return {
    id,
    source,
    make(random) {
      const { text, secret } = render(random.pick(patterns), random);
      const [carrier, around] = random.pick([
        ...Object.entries(ANYWHERE),
        ...Object.entries(PARTED),
      ]);
      if (typeof around === 'string')
        return { text: around.replace('%v', () => text), secret, carrier };
      const at = Math.ceil(text.length / 3);
      return { text: around(text.slice(0, at), text.slice(at)), secret, carrier };
    },
  };
}

/** A value that is known by the name beside it. Names are separated by spaces. */
export function named(
  id: string,
  source: string,
  names: string,
  ...patterns: readonly string[]
): SecretKind {
  return {
    id,
    source,
    make(random) {
      const { text, secret } = render(random.pick(patterns), random);
      const [carrier, around] = random.pick(Object.entries(NAMED));
      const name = random.pick(names.split(' '));
      return { text: around.replace('%n', name).replace('%v', () => text), secret, carrier };
    },
  };
}

/**
 * A secret that comes with a text of its own: a header, a connection string, a command line, a
 * file.
 */
export function whole(id: string, source: string, ...texts: readonly string[]): SecretKind {
  return {
    id,
    source,
    make: (random) => ({ ...render(random.pick(texts), random), carrier: 'its own' }),
  };
}

/**
 * A block between the two lines that PEM and OpenPGP put around it. The label is put in here, so
 * that no file shows a key block.
 */
export const block = (label: string, body: string, end = '\n') =>
  `-----BEGIN ${label}-----${end}${body}${end}-----END ${label}-----${end}`;
