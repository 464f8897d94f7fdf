import { describe, expect, it } from 'vitest';
import { type ServerChoice, unwrapText, wrapText } from './wrap-text.ts';

const program = ['npx', '-y', 'allium'];
const wrapped = (text: string, more: object = {}) => wrapText(text, 'json', { program, ...more });
const undone = (text: string, older: readonly string[] = [], choice: ServerChoice = {}) =>
  unwrapText(text, 'json', choice, older);
const outcomes = ({
  servers,
}: {
  readonly servers: readonly { readonly name: string; readonly outcome: string }[];
}) => servers.map(({ name, outcome }) => `${name} ${outcome}`);
const entry = (text: string) => `{"mcpServers": {"x": ${text}}}`;

describe('wrapping JSON', () => {
  it('puts a server of Claude Desktop behind the proxy, and leaves the rest as it is written', () => {
    const text =
      '{\n  "globalShortcut": "",\n  "mcpServers": {\n    "files": {\n      "command": "npx",\n      "args": ["-y", "srv"],\n      "env": {}\n    }\n  }\n}\n';

    expect(wrapped(text, { config: '/work/allium.yaml' }).text).toBe(
      text
        .replace('"npx"', '"npx"')
        .replace(
          '["-y", "srv"]',
          '["-y", "allium", "proxy", "--name", "files", "--config", "/work/allium.yaml", "--", "npx", "-y", "srv"]',
        ),
    );
  });

  it('keeps comments, trailing commas and the way strings are written', () => {
    const text =
      '// mine\r\n{ "servers": { "a": { "type": "stdio", "command": "n\\u006fde", /* why */ "args": [ // first\r\n "x", ], "dev": {"watch": 1}, }, }, "inputs": [] }';

    expect(wrapped(text).text).toBe(
      text
        .replace('"n\\u006fde"', '"npx"')
        .replace(
          '[ // first',
          '["-y", "allium", "proxy", "--name", "a", "--", "n\\u006fde",  // first',
        ),
    );
  });

  it('adds arguments where there are none, like the line of the command', () => {
    expect(wrapped(entry('{\n\t"command": "srv"\n}')).text).toBe(
      entry(
        '{\n\t"command": "npx",\n\t"args": ["-y", "allium", "proxy", "--name", "x", "--", "srv"]\n}',
      ),
    );
    expect(wrapped(entry('{"command":"srv","args":[ ]}')).text).toBe(
      entry('{"command":"npx","args":["-y", "allium", "proxy", "--name", "x", "--", "srv" ]}'),
    );
  });

  it('makes a process of an HTTP server, with its headers in the environment and never among the arguments', () => {
    const text = entry(
      '{ "type": "http", "url": "https://a.example/mcp", "headers": { "Authorization": "Bearer k1", "X-A": "k2", "X_A": "k3" } }',
    );
    const { text: after } = wrapped(text);
    const { args } = (JSON.parse(after) as { mcpServers: { x: { args: string[] } } }).mcpServers.x;

    expect(after).toContain('"type": "stdio", "command": "npx", "args": [');
    expect(args.slice(4)).toEqual([
      'x',
      ...[
        '--http',
        'https://a.example/mcp',
        '--header-env',
        'Authorization=ALLIUM_HEADER_AUTHORIZATION',
      ],
      ...['--header-env', 'X-A=ALLIUM_HEADER_X_A', '--header-env', 'X_A=ALLIUM_HEADER_X_A_2'],
    ]);
    expect(after).toContain(
      '"env": { "ALLIUM_HEADER_AUTHORIZATION": "Bearer k1", "ALLIUM_HEADER_X_A": "k2", "ALLIUM_HEADER_X_A_2": "k3" }',
    );
    expect(args.join(' ')).not.toMatch(/k[123]/);
  });

  it('finds servers wherever a client keeps them', () => {
    const server = '{"command":"a"}';
    const text = `{"mcpServers":{"top":${server}},"mcp":{"servers":{"settings":${server}}},"projects":{"/p":{"mcpServers":{"top":${server}}}}}`;

    expect(wrapped(text).servers.map(({ place }) => place)).toEqual([
      'mcpServers',
      'mcp.servers',
      'projects./p.mcpServers',
    ]);
  });

  it('wraps only what was chosen', () => {
    const text =
      '{"mcpServers":{"git-hub":{"command":"a"},"git-lab":{"command":"a"},"files":{"command":"a"}}}';

    expect(outcomes(wrapped(text, { only: ['git-*'], except: ['*lab'] }))).toEqual([
      'git-hub wrapped',
      'git-lab not_chosen',
      'files not_chosen',
    ]);
  });

  it.each([
    ['SSE', '{"type":"sse","url":"https://a.example/x"}', /SSE/],
    ['an address that ends like SSE', '{"url":"https://a.example/sse"}', /SSE/],
    ['an unknown type', '{"type":"ws","url":"wss://a.example"}', /type/],
    ['a type that is no text', '{"type":1,"command":"a"}', /type/],
    ['neither command nor url', '{"disabled":true}', /neither/],
    ['both', '{"command":"a","url":"https://a.example"}', /both/],
    ['no object', '"npx"', /no object/],
    ['a command that is no text', '{"command":["a"]}', /"command"/],
    ['arguments that are no texts', '{"command":"a","args":["b",1]}', /"args"/],
    ['arguments that are no list', '{"command":"a","args":"b"}', /"args"/],
    ['a whole line as the command', '{"command":"npx -y srv"}', /whole line/],
    ['a key that is there twice', '{"command":"a","command":"b"}', /"command" twice/],
    ['a login of the client', '{"url":"https://a.example","oauth":{"clientId":"k"}}', /oauth/],
    [
      'a script that makes headers',
      '{"url":"https://a.example","headersHelper":"./k.sh"}',
      /headersHelper/,
    ],
    ['a key in the address', '{"url":"https://a.example/mcp?key=k"}', /every user/],
    ['a password in the address', '{"url":"https://u:p@a.example/mcp"}', /every user/],
    ['headers that are none', '{"url":"https://a.example","headers":{"A B":"c"}}', /plain headers/],
    [
      'headers that differ in nothing but case',
      '{"url":"https://a.example","headers":{"A":"c","a":"d"}}',
      /plain headers/,
    ],
    ['a header without a text', '{"url":"https://a.example","headers":{"A":1}}', /plain headers/],
    ['an environment for an address', '{"url":"https://a.example","env":{}}', /"env"/],
  ])('leaves %s alone and says why', (_name, text, reason) => {
    const { text: after, servers } = wrapped(entry(text));

    expect(after).toBe(entry(text));
    expect(servers).toEqual([
      {
        name: 'x',
        place: 'mcpServers',
        outcome: 'left_alone',
        reason: expect.stringMatching(reason) as string,
      },
    ]);
  });

  it.each([
    [
      'what it would write itself',
      '{"command":"node","args":["/x.js","proxy","--name","x","--","a"]}',
    ],
    ['one that was written by hand', '{"command":"allium","args":["proxy","--","a"]}'],
    [
      'one of a certain version',
      '{"command":"npx","args":["-y","allium@0.1.0","proxy","--config","c","--","a","b"]}',
    ],
    [
      'one of an installed package',
      '{"command":"C:\\\\n\\\\node.exe","args":["C:\\\\n\\\\allium\\\\dist\\\\src\\\\cli\\\\main.js","proxy","--http","https://a.example"]}',
    ],
    [
      'one with options that it does not know',
      '{"command":"allium","args":["proxy","--verbose","--","a"]}',
    ],
  ])('leaves a server alone that is behind the proxy already: %s', (_name, text) => {
    expect(wrapped(entry(text)).text).toBe(entry(text));
    expect(outcomes(wrapped(entry(text)))).toEqual(['x already_wrapped']);
  });

  it('says when a server is behind a proxy with another stack', () => {
    const { text } = wrapped(entry('{"command":"a"}'), { config: '/one.yaml' });

    expect(wrapped(text, { config: '/one.yaml' }).servers[0]).not.toHaveProperty('reason');
    expect(wrapped(text, { config: '/two.yaml' }).servers[0]).toMatchObject({
      reason: expect.stringContaining('another stack') as string,
    });
  });

  it.each([
    '{"command":"mitm","args":["proxy","--","a"]}',
    '{"command":"mitm","args":["proxy","--name","y","--","a"]}',
    '{"command":"allium-tools","args":["proxy"]}',
    '{"command":"proxy","args":["--name","x","--","a"]}',
    '{"command":"allium","args":["serve"]}',
  ])('takes no other proxy for its own: %s', (text) => {
    expect(outcomes(wrapped(entry(text)))).toEqual(['x wrapped']);
  });

  it.each([
    ['', 'line 1, column 1'],
    ['{"mcpServers":{"x":{"command":"secret"} "y":1}}', 'line 1, column 41'],
    ["{'mcpServers':{}}", 'double quotes'],
    ['{"mcpServers":{}} x', 'behind the end'],
    ['{"a": /* ', 'comment does not end'],
    ['{"a": "b', 'string does not end'],
    ['{"a": "\n"}', 'string does not end'],
    ['{"a": 01}', 'expected ","'],
    ['[,]', 'expected a JSON value'],
    ['[]', 'the file is no object'],
    ['{"mcpServers":{"x":{"command":"a"}},"mcpServers":{}}', 'has a key twice'],
    ['{"mcpServers":{"x":{"command":"a"},"x":{"command":"b"}}}', 'has a key twice'],
    ['{"mcpServers":{}}', 'no MCP servers'],
    ['{"mcpServers":[]}', 'no MCP servers'],
    [`{"a":${'['.repeat(300)}${']'.repeat(300)}}`, 'nested deeper'],
  ])('refuses %j', (text, message) => {
    expect(() => wrapped(text)).toThrow(
      expect.objectContaining({
        code: 'ERR_CLIENT_CONFIG',
        message: expect.stringContaining(message) as string,
      }),
    );
  });

  it('says nothing of what is in a file that it refuses', () => {
    expect(() =>
      wrapped('{"mcpServers":{"x":{"command":"a","env":{"K":"hunter2" "L":1}}}}'),
    ).toThrow(/^(?!.*hunter2)/);
    expect(() => wrapped('{"mcpServers":{"x":{"env":{"K":"hunter2\n"}}}}')).toThrow(
      /^(?!.*hunter2)/,
    );
  });
});

describe('undoing', () => {
  const text =
    '{"mcpServers": {"a": {"command": "one"}, "b": {"command": "two", "args": [\n"x"]}, "c": {"type": "streamable-http", "url": "https:\\/\\/a.example"}}}';

  it('restores to the letter what nobody has changed', () => {
    const after = undone(wrapped(text).text, [text]);

    expect(after.text).toBe(text);
    expect(outcomes(after)).toEqual(['a restored', 'b restored', 'c restored']);
  });

  it('restores what was wrapped in two goes', () => {
    const first = wrapped(text, { only: ['a'] }).text;
    const second = wrapped(first, { config: '/other.yaml' }).text;

    expect(undone(second, [text, first]).text).toBe(text);
  });

  it('restores one server and leaves the others behind the proxy', () => {
    expect(undone(wrapped(text).text, [text], { only: ['a'] }).text).toBe(
      wrapped(text, { except: ['a'] }).text,
    );
  });

  it('restores a server to the letter that was behind the proxy before, and takes it apart when asked for', () => {
    const mixed =
      '{"mcpServers": {"a": {"command": "allium", "args": ["proxy", "--", "one"]}, "b": {"command": "two"}}}';
    const after = undone(wrapped(mixed).text, [mixed]);

    expect(after.text).toBe(mixed);
    expect(outcomes(after)).toEqual(['a already_wrapped', 'b restored']);
    expect(undone(after.text, [mixed]).text).toBe(
      '{"mcpServers": {"a": {"command": "one", "args": []}, "b": {"command": "two"}}}',
    );
  });

  it('takes entries apart when something else was changed, and keeps that', () => {
    const changed = wrapped(text).text.replace(
      '"c": {',
      '"new": {"command": "three"}, "c": {"disabled": true, ',
    );
    const after = undone(changed, [text]);

    expect(outcomes(after)).toEqual([
      'a taken_apart',
      'b taken_apart',
      'new not_wrapped',
      'c taken_apart',
    ]);
    expect(after.text).toBe(
      text
        .replace('"one"', '"one","args": []')
        .replace('"c": {', '"new": {"command": "three"}, "c": {"disabled": true, ')
        .replace('streamable-http', 'http'),
    );
  });

  it('takes the older text only when it leads to this one', () => {
    const other = text.replace('"two"', '"evil"');

    expect(undone(wrapped(text).text, ['no json', '{}', other]).text).not.toContain('evil');
  });

  it('keeps arguments that somebody added to the server', () => {
    const changed = wrapped(entry('{"command":"a","args":["b"]}')).text.replace(
      '"a", "b"',
      '"a" /* mine */, "--fast", "b"',
    );

    expect(undone(changed).text).toBe(entry('{"command":"a","args":["--fast", "b"]}'));
  });

  it.each([
    ['variables that somebody added', '"env": {', '"env": { "MINE": "1", '],
    ['a proxy that somebody changed', '"--http"', '"--verbose", "--http"'],
    ['members that somebody moved', ', "args":', ', "cwd": ".", "args":'],
  ])('leaves a server alone with %s', (_name, from, to) => {
    const http = entry(
      '{ "command": "allium", "args": ["proxy", "--http", "https://a.example", "--header-env", "A=B"], "env": { "B": "c" } }',
    );
    const after = undone(http.replace(from, to));

    expect(after.text).toBe(http.replace(from, to));
    expect(outcomes(after)).toEqual(['x left_alone']);
    expect(undone(http).text).toBe(
      entry('{ "url": "https://a.example", "headers": { "A": "c" } }'),
    );
  });
});
