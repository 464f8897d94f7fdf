import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tomlQuote } from './toml-document.ts';
import { unwrapText, wrapText } from './wrap-text.ts';
import { howMany } from '../../../conformance/how-many.fixture.ts';

const wrapped = (text: string) => wrapText(text, 'toml', { program: ['allium'] });
const TEXT = `model = "o4" # the model
notify = """
[mcp_servers.fake]
command = "no"
"""

[mcp_servers.files]
command = 'npx' # mine
args = [
  "-y", # yes
  "srv",
]
startup_timeout_sec = 20.5
[mcp_servers.files.env]
KEY = "secret"

  [mcp_servers."my server"]
  command = "uvx"
  env = { "A" = "b" }

[mcp_servers.web]
url = "https://a.example/mcp"
http_headers = { "X-Key" = "secret" }

[mcp_servers.web2]
url = "https://b.example/mcp"

[mcp_servers.web2.http_headers]
Authorization = "Bearer secret"

[profiles.x]
when = 1979-05-27 07:32:00
[[other.list]]
a = [1, [2, {b = "c"}]]`;

/** Names, words and line ends as nobody would write them. */
const tables = fc
  .tuple(
    fc.uniqueArray(fc.string({ unit: 'binary', maxLength: 8 }), { minLength: 1, maxLength: 3 }),
    fc.array(fc.string({ unit: 'binary', maxLength: 8 }), { maxLength: 3 }),
    fc.constantFrom('\n', '\r\n', ' # "\n', '\r\n\t \r\n'),
    fc.constantFrom('', '\ufeff', "a = '''\n[mcp_servers.x]'''\n"),
    fc.boolean(),
  )
  .map(([names, words, end, head, hasArgs]) => {
    const table = (name: string) =>
      [
        `[ mcp_servers . ${tomlQuote(name)} ]`,
        "command = 'a'",
        ...(hasArgs ? [`args = [ ${words.map(tomlQuote).join(' ,')} ]`] : []),
        'x.y = 1e3',
        '',
      ].join(end);
    return head + names.map((name) => table(name.toWellFormed())).join('');
  });

describe('wrapping TOML', () => {
  it('edits the tables of servers and nothing else', () => {
    const { text, servers } = wrapped(TEXT);

    expect(servers.map(({ name, outcome }) => `${name} ${outcome}`)).toEqual([
      'files wrapped',
      'my server wrapped',
      'web wrapped',
      'web2 wrapped',
    ]);
    expect(text).toBe(
      TEXT.replace("'npx'", '"allium"')
        .replace('args = [\n', 'args = ["proxy", "--name", "files", "--", \'npx\',\n')
        .replace('"uvx"', '"allium"\n  args = ["proxy", "--name", "my server", "--", "uvx"]')
        .replace(
          'url = "https://a.example/mcp"\nhttp_headers = { "X-Key"',
          'command = "allium"\nargs = ["proxy", "--name", "web", "--http", "https://a.example/mcp", "--header-env", "X-Key=ALLIUM_HEADER_X_KEY"]\nenv = { ALLIUM_HEADER_X_KEY',
        )
        .replace(
          'url = "https://b.example/mcp"',
          'command = "allium"\nargs = ["proxy", "--name", "web2", "--http", "https://b.example/mcp", "--header-env", "Authorization=ALLIUM_HEADER_AUTHORIZATION"]',
        )
        .replace('web2.http_headers]\nAuthorization', 'web2.env]\nALLIUM_HEADER_AUTHORIZATION'),
    );
  });

  it('is undone to the letter, also with the line ends of Windows and a byte order mark', () => {
    for (const text of [TEXT, `\ufeff${TEXT.replaceAll('\n', '\r\n')}\r\n`]) {
      expect(unwrapText(wrapped(text).text, 'toml', {}, [text]).text).toBe(text);
      expect(wrapped(wrapped(text).text).text).toBe(wrapped(text).text);
    }
  });

  it('ends lines as the file does', () => {
    expect(wrapped(TEXT.replaceAll('\n', '\r\n')).text).not.toMatch(/[^\r]\n/);
    expect(wrapped(TEXT).text).not.toContain('\r');
  });

  it('takes entries apart without an older text', () => {
    expect(unwrapText(wrapped(TEXT).text, 'toml', {}, []).text).toBe(
      TEXT.replace('"uvx"', '"uvx"\n  args = []').replace('"X-Key"', 'X-Key'),
    );
  });

  it('is undone to the letter whatever the names and words are, and is the same twice', () => {
    fc.assert(
      fc.property(tables, (text) => {
        const once = wrapped(text);

        expect(once.servers.every(({ outcome }) => outcome === 'wrapped')).toBe(true);
        expect(wrapped(once.text).text).toBe(once.text);
        expect(unwrapText(once.text, 'toml', {}, [text]).text).toBe(text);
      }),
      { numRuns: howMany(100, 200) },
    );
  });

  it.each([
    [
      'a token from a variable',
      '[mcp_servers.x]\nurl = "https://a.example"\nbearer_token_env_var = "K"',
      /logs in/,
    ],
    ['an inline table', '[mcp_servers]\nx = { command = "a" }', /table of its own/],
    ['dotted keys', '[mcp_servers]\nx.command = "a"', /table of its own/],
    ['a command of several lines', '[mcp_servers.x]\ncommand = """a"""', /"command"/],
    [
      'headers by dotted keys',
      '[mcp_servers.x]\nurl = "https://a.example"\nhttp_headers.A = "b"',
      /plain headers/,
    ],
  ])('leaves %s alone', (_name, text, reason) => {
    expect(wrapped(text).text).toBe(text);
    expect(wrapped(text).servers).toMatchObject([
      { name: 'x', outcome: 'left_alone', reason: expect.stringMatching(reason) as string },
    ]);
  });

  it('leaves an environment alone that is written with dotted keys', () => {
    const text = '[mcp_servers.x]\ncommand = "a"\nargs = []\nenv.A = "b"\nenv.B = "c"\n';

    expect(wrapped(text).text).toBe(
      text.replace('"a"', '"allium"').replace('[]', '["proxy", "--name", "x", "--", "a"]'),
    );
  });

  it.each([
    ['servers at the top', 'mcp_servers.x.command = "a"', 'line 1'],
    ['servers as one inline table', 'mcp_servers = { x = { command = "a" } }', 'line 1'],
    ['a list of tables', '[[mcp_servers.x]]\ncommand = "a"', 'list of tables'],
    [
      'a table that is there twice',
      '[mcp_servers.x]\ncommand = "a"\n[mcp_servers.x]\ncommand = "b"',
      'twice',
    ],
    ['two values on a line', '[mcp_servers.x]\ncommand = "a" args = []', 'end of the line'],
    ['a string without an end', '[mcp_servers.x]\ncommand = "a\nargs = []', 'does not end'],
    ['a long string without an end', 'a = """\n[mcp_servers.x]\ncommand = "a"', 'does not end'],
    ['an escape that is none', '[mcp_servers.x]\ncommand = "\\q"', 'escape'],
    ['half of a character', '[mcp_servers.x]\ncommand = "\\ud800"', 'escape'],
    ['a key without a value', '[mcp_servers.x]\ncommand =\n', 'TOML value'],
    ['no key', '[mcp_servers.x]\n= 1', 'expected a key'],
    ['a head without an end', '[mcp_servers.x\ncommand = "a"', 'expected "]"'],
    ['no servers', 'model = "o4"', 'no MCP servers'],
    ['deep nesting', `a = ${'['.repeat(300)}`, 'nested deeper'],
  ])('refuses %s', (_name, text, message) => {
    expect(() => wrapped(text)).toThrow(
      expect.objectContaining({
        code: 'ERR_CLIENT_CONFIG',
        message: expect.stringContaining(message) as string,
      }),
    );
  });
});
