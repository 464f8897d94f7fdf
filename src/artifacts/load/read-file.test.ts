import { describe, expect, it } from 'vitest';
import type { FoundFile } from './find-files.ts';
import { contentsOf, fileOf, problemsIn } from './files.fixture.ts';
import { MAX_FILE_BYTES } from './read-file.ts';

const TOOL = `---
parameters:
  path: { type: string, description: Which one., required: true }
  depth:
    type: number
    multipleOf: 1
    minimum: 0
  filter:
    type: object
    properties:
      glob: { type: string, required: true }
      case: { type: boolean }
timeout_ms: 2000
async: true
extra: pass
annotations: { kind: read, read_only: true, open_world: false, safety: { filesystem: true, allowed_roots: [notes] } }
grants: { workspace: notes, allowed_domains: [example.org], env: [HOME], shell: false, max_output_bytes: 1000 }
script: |
  def run(args):
      return fs.read(args["path"])
---

# Reads a note

\`\`\`python
fail("a fence is text")
\`\`\`
`;

const firstTool = (text: string, lenient = false) => {
  const [tool] = contentsOf('tool', text, lenient).tools;
  if (tool === undefined) throw new Error('there is no tool');
  return tool;
};

describe('a tool file', () => {
  it('says all of a tool, parameters in the order of the file', () => {
    const tool = firstTool(TOOL);

    expect(problemsIn('tool', TOOL)).toEqual([]);
    expect(tool).toMatchObject({
      kind: 'tool',
      name: 'read_note',
      file: 'read_note.md',
      line: 1,
      timeoutMs: 2000,
      async: true,
      extra: 'pass',
    });
    expect(tool.parameters.map(({ name, required }) => [name, required])).toEqual([
      ['path', true],
      ['depth', false],
      ['filter', false],
    ]);
    expect(tool.description).toBe('# Reads a note\n\n```python\nfail("a fence is text")\n```');
    expect(tool.annotations).toEqual({
      kind: 'read',
      readOnly: true,
      openWorld: false,
      safety: { filesystem: true, allowedRoots: ['notes'] },
    });
    expect(tool.grants).toEqual({
      workspace: 'notes',
      allowedDomains: ['example.org'],
      env: ['HOME'],
      shell: false,
      maxOutputBytes: 1000,
    });
  });

  it('has an input schema that refuses what is not declared, unless it says otherwise', () => {
    const closed = TOOL.replace('extra: pass\n', '');

    expect(JSON.stringify(firstTool(closed).inputSchema)).toBe(
      JSON.stringify({
        type: 'object',
        properties: {
          path: { type: 'string', description: 'Which one.' },
          depth: { type: 'number', multipleOf: 1, minimum: 0 },
          filter: {
            type: 'object',
            properties: { glob: { type: 'string' }, case: { type: 'boolean' } },
            required: ['glob'],
          },
        },
        required: ['path'],
        additionalProperties: false,
      }),
    );
    expect(firstTool(TOOL).inputSchema.additionalProperties).toBe(true);
  });

  it('needs nothing but its delimiters, and is then described by its name', () => {
    const tool = firstTool('---\n---\n');

    expect(problemsIn('tool', '---\n---\n')).toEqual([]);
    expect(tool).toMatchObject({
      description: 'read_note',
      body: '',
      parameters: [],
      async: false,
      extra: 'refuse',
      annotations: {},
      grants: {},
    });
    expect(tool).not.toHaveProperty('script');
    expect(tool).not.toHaveProperty('timeoutMs');
  });

  it('has no limit of its own with a timeout of 0', () => {
    expect(firstTool(fileOf('timeout_ms: 0'))).not.toHaveProperty('timeoutMs');
  });

  it('takes the names that settings have in code, too', () => {
    expect(
      firstTool(fileOf('annotations: { readOnly: true, sideEffectLevel: none }')).annotations,
    ).toEqual({
      readOnly: true,
      sideEffectLevel: 'none',
    });
  });

  it('takes names of the language for plain names', () => {
    const names = ['constructor', 'toString', '__proto__', 'hasOwnProperty'];
    const tool = firstTool(
      fileOf('parameters:', ...names.map((name) => `  ${name}: { type: string, required: true }`)),
    );

    expect(tool.parameters.map(({ name }) => name)).toEqual(names);
    expect(Object.keys(tool.inputSchema.properties as object)).toEqual(names);
    expect(tool.inputSchema.required).toEqual(names);
    expect(({} as Record<string, unknown>).type).toBeUndefined();
  });

  it('is the same with a byte order mark and with other line ends', () => {
    const { file: _file, ...plain } = firstTool(TOOL);

    expect(firstTool(`\uFEFF${TOOL}`)).toMatchObject(plain);
    expect(firstTool(TOOL.replaceAll('\n', '\r\n'))).toMatchObject({
      ...plain,
      description: expect.any(String) as string,
      body: expect.any(String) as string,
    });
    expect(
      problemsIn('tool', `\uFEFF\r\n${fileOf('asnyc: true').replaceAll('\n', '\r\n')}`),
    ).toEqual(['3:1: tool "read_note" has no "asnyc"; did you mean "async"?']);
  });

  it('shares what is written once', () => {
    const tool = firstTool(fileOf('parameters:', '  from: &path { type: string }', '  to: *path'));

    expect(tool.inputSchema.properties).toEqual({
      from: { type: 'string' },
      to: { type: 'string' },
    });
  });
});

describe('the place of a script', () => {
  const placeOf = (...lines: readonly string[]) => {
    const { script } = firstTool(fileOf(...lines));
    return [script?.firstLine, script?.firstColumn, script?.source];
  };

  it.each([
    ['a block', ['script: |', '  x = 1', '  y = 2'], [3, 3, 'x = 1\ny = 2\n']],
    ['a block without its last line end', ['script: |-', '    x = 1'], [3, 5, 'x = 1']],
    ['a block that keeps its line ends', ['script: |+', '  x = 1', ''], [3, 3, 'x = 1\n\n']],
    ['a block behind a comment', ['# first', 'script: | # why', ' x = 1'], [4, 2, 'x = 1\n']],
    ['a block that begins blank', ['script: |', '', '', '  x = 1'], [3, 3, '\n\nx = 1\n']],
    [
      'a block that says how far in it is',
      ['script: |2', '     x = 1', '  y = 2'],
      [3, 3, '   x = 1\ny = 2\n'],
    ],
    ['a block with an anchor', ['script: &it |', '  x = 1'], [3, 3, 'x = 1\n']],
    ['plain text', ['script: x = 1'], [2, 9, 'x = 1']],
    ['plain text on the next line', ['script:', '    x = 1'], [3, 5, 'x = 1']],
    ['quoted text', ['script: "x = 1"'], [2, 10, 'x = 1']],
    ['text in single quotes', ['timeout_ms: 1', "script:  'x = 1'"], [3, 11, 'x = 1']],
  ])('is exact for %s', (_what, lines, expected) => {
    expect(placeOf(...lines)).toEqual(expected);
  });

  it('is exact with other line ends', () => {
    const { script } = firstTool(
      fileOf('script: |', '', '   x = 1', '   y = 2').replaceAll('\n', '\r\n'),
    );

    expect(script).toEqual({
      source: '\nx = 1\ny = 2\n',
      file: 'read_note.md',
      firstLine: 3,
      firstColumn: 4,
    });
  });

  it('takes an expression as it is written, whatever YAML makes of it', () => {
    const text = fileOf(
      'event: tool.pre',
      'when: True',
      'script: |',
      '  def handle(event, payload): return allow()',
    );
    const [hook] = contentsOf('hook', text).hooks;

    expect(hook?.when).toEqual({ source: 'True', file: 'guard.md', firstLine: 3, firstColumn: 7 });
  });
});

describe('a hook file', () => {
  it('says all of a hook', () => {
    const text = fileOf(
      'event: tool.pre',
      'priority: -5',
      'when: payload["name"] == "x"',
      'script: |',
      '  def handle(event, payload): return allow()',
    );

    expect(problemsIn('hook', text)).toEqual([]);
    expect(contentsOf('hook', text).hooks).toMatchObject([
      { kind: 'hook', name: 'guard', event: 'tool.pre', priority: -5, grants: {} },
    ]);
  });

  it.each([
    'session.start',
    'turn.end',
    'tool.post',
    'completion.pre',
    'delegate.post',
    'agent.stop',
    'error',
    'custom.x',
    'meta.tool.register',
  ])('may be for %s', (event) => {
    expect(problemsIn('hook', fileOf(`event: ${event}`, 'script: x = 1'))).toEqual([]);
  });
});

describe('a bundle', () => {
  const BUNDLE = fileOf(
    'tools:',
    '  - name: add_numbers',
    '    description: Adds.',
    '    parameters: { a: { type: number, required: true } }',
    '    script: |',
    '      def run(args): return args["a"]',
    '  - name: say_hello',
    'hooks:',
    '  - name: watch',
    '    event: tool.post',
    '    script: |',
    '      def handle(event, payload): return allow()',
  );

  it.each(['bundle', 'harness'] as const)(
    'holds tools and hooks that name themselves: %s',
    (role) => {
      const { tools, hooks, problems } = contentsOf(role, BUNDLE);

      expect(problems).toEqual([]);
      expect(
        tools.map(({ name, description, line, column }) => [name, description, line, column]),
      ).toEqual([
        ['add_numbers', 'Adds.', 3, 11],
        ['say_hello', 'say_hello', 8, 11],
      ]);
      expect(tools[0]?.script).toMatchObject({ firstLine: 7, firstColumn: 7 });
      expect(hooks).toMatchObject([
        { name: 'watch', event: 'tool.post', script: { firstLine: 13, firstColumn: 7 } },
      ]);
    },
  );
});

/** Role, what is wrong, the file, and what is said. The first line of a frontmatter is line 2. */
const MISTAKES: readonly (readonly [FoundFile['role'], string, string, readonly string[]])[] = [
  ['tool', 'an empty file', '', ['1:1: markdown file must start with --- frontmatter delimiter']],
  [
    'tool',
    'no delimiter',
    '\n# Tool\n',
    ['2:1: markdown file must start with --- frontmatter delimiter'],
  ],
  [
    'tool',
    'blanks before the delimiter',
    ' ---\n---\n',
    ['1:1: markdown file must start with --- frontmatter delimiter'],
  ],
  [
    'tool',
    'a delimiter with something behind it',
    '---js\nrequire("fs")\n---\n',
    [
      '1:4: markdown file must start with --- frontmatter delimiter; a --- delimiter stands alone on its line',
    ],
  ],
  ['tool', 'nothing behind the delimiter', '---', ['1:1: no content after opening --- delimiter']],
  [
    'tool',
    'only blank lines behind it',
    '\n---\n\n \n',
    ['2:1: no content after opening --- delimiter'],
  ],
  [
    'tool',
    'no closing delimiter',
    '---\nasync: true\n',
    ['1:1: no closing --- delimiter found for frontmatter'],
  ],
  [
    'tool',
    'dashes at the end of a line',
    '---\nasync: true ---',
    ['1:1: no closing --- delimiter found for frontmatter'],
  ],
  [
    'tool',
    'a closing delimiter with more dashes',
    '---\nasync: true\n-----\n',
    ['3:4: a --- delimiter stands alone on its line'],
  ],
  [
    'hook',
    'no event',
    fileOf('script: x = 1'),
    ['1:1: hook "guard": event field is required in frontmatter'],
  ],
  [
    'hook',
    'an event of nothing',
    fileOf('event:', 'script: x = 1'),
    ['1:1: hook "guard": event field is required in frontmatter'],
  ],
  [
    'hook',
    'an unknown event',
    fileOf('event: tool.before', 'script: x = 1'),
    ['2:8: hooks[0].event "tool.before" is invalid'],
  ],
  [
    'hook',
    'a misspelt event',
    fileOf('event: tool.prae', 'script: x = 1'),
    ['2:8: hooks[0].event "tool.prae" is invalid; did you mean "tool.pre"?'],
  ],
  [
    'hook',
    'a bare custom event',
    fileOf('event: custom.', 'script: x = 1'),
    ['2:8: hooks[0].event "custom." is invalid'],
  ],
  [
    'hook',
    'an event that is a list',
    fileOf('event: [tool.pre]', 'script: x = 1'),
    ['2:8: hooks[0].event "" is invalid'],
  ],
  [
    'hook',
    'no script',
    fileOf('event: tool.pre'),
    ['1:1: hook "guard" needs a script with handle(event, payload)'],
  ],
  [
    'hook',
    'a priority that is no number',
    fileOf('event: tool.pre', 'priority: high', 'script: x = 1'),
    ['3:11: hook "guard" priority must be a whole number'],
  ],
  [
    'hook',
    'a misspelt key',
    fileOf('event: tool.pre', 'priorty: 1', 'script: x = 1'),
    ['3:1: hook "guard" has no "priorty"; did you mean "priority"?'],
  ],
  [
    'bundle',
    'a tool without a name',
    fileOf('tools:', '  - description: x'),
    ['3:5: tools[0].name cannot be empty'],
  ],
  [
    'bundle',
    'an empty name',
    fileOf('tools:', '  - name: ok', '  - name: ""'),
    ['4:11: tools[1].name cannot be empty'],
  ],
  [
    'bundle',
    'a name that is no text',
    fileOf('tools:', '  - name: [a]'),
    ['3:11: tools[0].name must be text'],
  ],
  [
    'bundle',
    'a hook without a name',
    fileOf('hooks:', '  - event: tool.pre', '    script: x = 1'),
    ['3:5: hooks[0].name cannot be empty'],
  ],
  [
    'bundle',
    'an unknown event of the second hook',
    fileOf(
      'hooks:',
      '  - { name: a, event: error, script: x = 1 }',
      '  - { name: b, event: nope, script: x = 1 }',
    ),
    ['4:23: hooks[1].event "nope" is invalid'],
  ],
  ['bundle', 'tools that are no list', fileOf('tools: { a: 1 }'), ['2:8: tools must be a list']],
  [
    'bundle',
    'an entry that is text',
    fileOf('hooks: [guard]'),
    ['2:9: hooks[0] must be keys with values'],
  ],
  [
    'bundle',
    'a key of harness.md',
    fileOf('model: x'),
    ['2:1: a bundle has no "model"; it takes tools, hooks, name, description'],
  ],
  [
    'bundle',
    'a misspelt list',
    fileOf('toools: []'),
    ['2:1: a bundle has no "toools"; did you mean "tools"?'],
  ],
  [
    'tool',
    'a negative timeout',
    fileOf('timeout_ms: -1'),
    ['2:13: tool "read_note" timeout_ms must be >= 0'],
  ],
  [
    'tool',
    'a timeout in words',
    fileOf('timeout_ms: 5s'),
    ['2:13: tool "read_note" timeout_ms must be a whole number of milliseconds'],
  ],
  [
    'tool',
    'a timeout in parts',
    fileOf('timeout_ms: 1.5'),
    ['2:13: tool "read_note" timeout_ms must be a whole number of milliseconds'],
  ],
  [
    'tool',
    'async that is no flag',
    fileOf('async: yes'),
    ['2:8: tool "read_note" async must be true or false'],
  ],
  [
    'tool',
    'extra that is neither',
    fileOf('extra: allow'),
    ['2:8: tool "read_note" extra must be one of refuse, pass'],
  ],
  [
    'tool',
    'a misspelt key',
    fileOf('scirpt: x'),
    ['2:1: tool "read_note" has no "scirpt"; did you mean "script"?'],
  ],
  [
    'tool',
    'a key nobody knows',
    fileOf('verify_policy: x'),
    [
      '2:1: tool "read_note" has no "verify_policy"; it takes parameters, script, timeout_ms, async, extra, annotations, grants',
    ],
  ],
  [
    'tool',
    'a name of its own',
    fileOf('name: x'),
    ['2:1: tool "read_note" has no "name"; a tool is called like its file'],
  ],
  [
    'tool',
    'a description',
    fileOf('description: x'),
    ['2:1: tool "read_note" has no "description"; the body of the file is the description'],
  ],
  [
    'tool',
    'a merge key',
    fileOf('<<: { async: true }'),
    [
      '2:1: tool "read_note" has no "<<"; it takes parameters, script, timeout_ms, async, extra, annotations, grants',
    ],
  ],
  [
    'tool',
    'a key of every object',
    fileOf('__proto__: { async: true }'),
    [
      '2:1: tool "read_note" has no "__proto__"; it takes parameters, script, timeout_ms, async, extra, annotations, grants',
    ],
  ],
  [
    'tool',
    'parameters that are a list',
    fileOf('parameters: [a]'),
    ['2:13: tool "read_note" parameters must be names, each with its type'],
  ],
  [
    'tool',
    'a parameter that is only a type',
    fileOf('parameters: { a: string }'),
    ['2:18: tool "read_note" parameter "a" must have keys, such as "type: string"'],
  ],
  [
    'tool',
    'a parameter without a type',
    fileOf('parameters:', '  a: { description: x }'),
    [
      '3:3: tool "read_note" parameter "a" needs a type: one of string, number, boolean, object, array',
    ],
  ],
  [
    'tool',
    'an unknown type',
    fileOf('parameters:', '  a: { type: strnig }'),
    [
      '3:14: tool "read_note" parameter "a" type must be one of string, number, boolean, object, array',
    ],
  ],
  [
    'tool',
    'a type of JSON Schema that is none here',
    fileOf('parameters:', '  a: { type: integer }'),
    [
      '3:14: tool "read_note" parameter "a" type must be one of string, number, boolean, object, array; write "type: number" and "multipleOf: 1"',
    ],
  ],
  [
    'tool',
    'a misspelt key of a parameter',
    fileOf('parameters:', '  a: { type: string, requierd: true }'),
    ['3:22: tool "read_note" parameter "a" has no "requierd"; did you mean "required"?'],
  ],
  [
    'tool',
    'a misspelt key deeper down',
    fileOf('parameters:', '  a:', '    type: array', '    items: { tpye: string }'),
    ['5:14: tool "read_note" parameter "a" has no "tpye"; did you mean "type"?'],
  ],
  [
    'tool',
    'a name that is a number',
    fileOf('parameters: { 1: { type: string } }'),
    [
      '2:15: tool "read_note" parameter "1" must be called by a letter or "_", then up to 63 letters, digits, "_", "." or "-"',
    ],
  ],
  [
    'tool',
    'a description that is no text',
    fileOf('parameters: { a: { type: string, description: [x] } }'),
    ['2:47: tool "read_note" parameter "a" description must be text'],
  ],
  [
    'tool',
    'a schema that cannot be used',
    fileOf('parameters:', '  a: { type: string, pattern: "(" }'),
    [expect.stringMatching(/^3:6: tool "read_note" parameter "a".*pattern/) as string],
  ],
  [
    'tool',
    'a schema from elsewhere',
    fileOf('parameters:', '  a: { type: object, $ref: "https://x.example/s" }'),
    [expect.stringMatching(/^3:6: tool "read_note" parameter "a".*\$ref/) as string],
  ],
  [
    'tool',
    'a number that JSON has not',
    fileOf('parameters:', '  a: { type: number, default: .inf }'),
    [expect.stringMatching(/^3:6: .* is not JSON/) as string],
  ],
  [
    'tool',
    'a script that is a list',
    fileOf('script: [x]'),
    ['2:9: tool "read_note" script must be text'],
  ],
  [
    'tool',
    'an empty script',
    fileOf('script: ""'),
    ['2:9: tool "read_note" script must not be empty'],
  ],
  [
    'tool',
    'a folded script',
    fileOf('script: >', '  x = 1'),
    ['2:9: tool "read_note" script must not be folded (">"), or its lines would move; write "|"'],
  ],
  [
    'tool',
    'a script over lines',
    fileOf('script: x = 1', '  + 2'),
    [
      '2:9: tool "read_note" script must be on one line or a block; write "|" and begin on the next line',
    ],
  ],
  [
    'tool',
    'a script with line ends in quotes',
    fileOf('script: "x = 1\\ny = 2"'),
    [
      '2:9: tool "read_note" script must be on one line or a block; write "|" and begin on the next line',
    ],
  ],
  [
    'tool',
    'annotations that are text',
    fileOf('annotations: read'),
    ['2:14: tool "read_note" annotations must be keys with values'],
  ],
  [
    'tool',
    'an unknown kind',
    fileOf('annotations: { kind: reading }'),
    [
      expect.stringMatching(
        /^2:22: tool "read_note" annotations kind must be one of read, edit, /,
      ) as string,
    ],
  ],
  [
    'tool',
    'a hint that is no flag',
    fileOf('annotations: { read_only: 1 }'),
    ['2:27: tool "read_note" annotations read_only must be true or false'],
  ],
  [
    'tool',
    'a misspelt hint',
    fileOf('annotations: { readonly: true }'),
    ['2:16: tool "read_note" annotations has no "readonly"; did you mean "read_only"?'],
  ],
  [
    'tool',
    'a hint in two spellings',
    fileOf('annotations: { read_only: true, readOnly: false }'),
    ['2:33: tool "read_note" annotations has "read_only" twice'],
  ],
  [
    'tool',
    'a misspelt member of safety',
    fileOf('annotations: { safety: { netwrok: true } }'),
    ['2:26: tool "read_note" annotations safety has no "netwrok"; did you mean "network"?'],
  ],
  [
    'tool',
    'capabilities that are no lists',
    fileOf('annotations: { capabilities: { a: b } }'),
    ['2:30: tool "read_note" annotations capabilities must be keys with lists of texts'],
  ],
  [
    'tool',
    'a grant nobody knows',
    fileOf('grants: { network: true }'),
    [
      expect.stringMatching(
        /^2:11: tool "read_note" grants has no "network"; it takes workspace, /,
      ) as string,
    ],
  ],
  [
    'tool',
    'a workspace outside',
    fileOf('grants: { workspace: ../other }'),
    [
      '2:22: tool "read_note" grants workspace must be a folder below the project root, such as "data" or "."',
    ],
  ],
  [
    'tool',
    'a workspace from the top',
    fileOf('grants: { workspace: /etc }'),
    [
      '2:22: tool "read_note" grants workspace must be a folder below the project root, such as "data" or "."',
    ],
  ],
  [
    'tool',
    'domains that are text',
    fileOf('grants: { allowed_domains: example.org }'),
    [
      '2:28: tool "read_note" grants allowed_domains must be a list of public host names, without port, scheme and path',
    ],
  ],
  [
    'tool',
    'a granted host with its port',
    fileOf('grants: { allowed_domains: [example.org, "api.example.org:8443"] }'),
    [
      '2:28: tool "read_note" grants allowed_domains must be a list of public host names, without port, scheme and path',
    ],
  ],
  [
    'tool',
    'a granted host of this machine',
    fileOf('grants: { allowed_domains: [example.org, "localhost"] }'),
    [
      '2:28: tool "read_note" grants allowed_domains must be a list of public host names, without port, scheme and path',
    ],
  ],
  [
    'tool',
    'a granted URL',
    fileOf('grants: { allowed_domains: [example.org, "https://example.org"] }'),
    [
      '2:28: tool "read_note" grants allowed_domains must be a list of public host names, without port, scheme and path',
    ],
  ],
  [
    'tool',
    'a granted path',
    fileOf('grants: { allowed_domains: [example.org, "example.org/v1"] }'),
    [
      '2:28: tool "read_note" grants allowed_domains must be a list of public host names, without port, scheme and path',
    ],
  ],
  [
    'hook',
    'a granted host with its port',
    fileOf(
      'event: tool.pre',
      'script: x = 1',
      'grants: { allowed_domains: [example.org, "example.com:8443"] }',
    ),
    [
      '4:28: hook "guard" grants allowed_domains must be a list of public host names, without port, scheme and path',
    ],
  ],
  [
    'tool',
    'a port that is none',
    fileOf('grants: { allowed_ports: [70000] }'),
    ['2:26: tool "read_note" grants allowed_ports must be a list of ports'],
  ],
  [
    'tool',
    'a size of nothing',
    fileOf('grants: { max_output_bytes: 0 }'),
    ['2:29: tool "read_note" grants max_output_bytes must be a whole number of at least 1'],
  ],
  [
    'harness',
    'a mode nobody knows',
    fileOf('tools_policy: { mode: block }'),
    ['2:23: tools_policy.mode "block" must be allowlist|denylist'],
  ],
  [
    'harness',
    'an empty pattern',
    fileOf('tools_policy:', '  allow: [a, ""]'),
    ['3:14: tools_policy.allow[1] is empty'],
  ],
  [
    'harness',
    'an empty refusal',
    fileOf('tools_policy:', '  deny:', '    -'),
    ['4:6: tools_policy.deny[0] is empty'],
  ],
  [
    'harness',
    'another glob',
    fileOf('tools_policy: { deny: ["[ab]*"] }'),
    ['2:24: tools_policy.deny[0] must be the name of a tool, with "*" for any run of characters'],
  ],
  [
    'harness',
    'a policy that is text',
    fileOf('tools_policy: open'),
    ['2:15: tools_policy must be keys with values'],
  ],
  [
    'harness',
    'patterns that are text',
    fileOf('tools_policy: { allow: a }'),
    ['2:24: tools_policy.allow must be a list'],
  ],
  [
    'harness',
    'a misspelt key of the policy',
    fileOf('tools_policy: { alow: [a] }'),
    ['2:17: tools_policy has no "alow"; did you mean "allow"?'],
  ],
  [
    'harness',
    'a temperature nobody means',
    fileOf('model: { temperature: 2.5 }'),
    ['2:23: model.temperature must be between 0 and 2'],
  ],
  [
    'harness',
    'no tokens',
    fileOf('model:', '  max_tokens: 0'),
    ['3:15: model.max_tokens must be greater than 0'],
  ],
  [
    'harness',
    'a model that is a list',
    fileOf('model: [a]'),
    ['2:8: model must be keys with values, or a name'],
  ],
  [
    'tool',
    'frontmatter that is a list',
    fileOf('- a'),
    ['2:1: the frontmatter must be keys with values, such as "script: |"'],
  ],
  [
    'tool',
    'no YAML',
    fileOf('a: [', 'b: 1'),
    [expect.stringMatching(/^3:\d+: this is not YAML: /) as string],
  ],
  [
    'tool',
    'a key twice',
    fileOf('async: true', 'async: false'),
    ['3:1: the key "async" is there twice'],
  ],
  [
    'tool',
    'a key twice in another spelling',
    fileOf('parameters: { a: { type: array, items: { 1: a, "1": b } } }'),
    ['2:48: the key "1" is there twice'],
  ],
  ['tool', 'a tag', fileOf('async: !!bool true'), ['2:15: tags are not taken']],
  ['tool', 'a tag nobody knows', fileOf('script: !js "x"'), ['2:13: tags are not taken']],
  ['tool', 'a key that is a list', fileOf('? [a]', ': 1'), ['2:3: a key must be plain text']],
  [
    'tool',
    'an anchor that is not there',
    fileOf('script: *gone'),
    ['2:9: there is no anchor "gone"'],
  ],
  [
    'tool',
    'an end of the document',
    fileOf('async: true', '...', 'timeout_ms: -1'),
    ['3:1: "..." ends a YAML document; a frontmatter is one, and ends with ---'],
  ],
  [
    'tool',
    'a directive',
    fileOf('%YAML 1.1', 'async: yes'),
    [expect.stringMatching(/^\d:\d+: this is not YAML/) as string],
  ],
];

describe('a file with a mistake', () => {
  it.each(MISTAKES)('says where and what it is: %s, %s', (role, _what, text, expected) => {
    expect(problemsIn(role, text)).toEqual(expected);
  });

  it('tells all of them, in the order of the file', () => {
    const text = fileOf(
      'timeout_ms: -5',
      'parameters:',
      '  a: { type: text }',
      '  b: {}',
      'asnyc: true',
      'script: >',
      '  x',
    );

    expect(problemsIn('tool', text)).toEqual([
      '2:13: tool "read_note" timeout_ms must be >= 0',
      '4:14: tool "read_note" parameter "a" type must be one of string, number, boolean, object, array',
      '5:3: tool "read_note" parameter "b" needs a type: one of string, number, boolean, object, array',
      '6:1: tool "read_note" has no "asnyc"; did you mean "async"?',
      '7:9: tool "read_note" script must not be folded (">"), or its lines would move; write "|"',
    ]);
  });

  it('counts no byte order mark as a column, and knows where text ends', () => {
    const bytes = Buffer.concat([
      Buffer.from('\uFEFF---\nä\uFFFD: '),
      Buffer.from([0xff]),
      Buffer.from('\n---\n'),
    ]);

    expect(problemsIn('tool', bytes)).toEqual(['2:5: the file is not UTF-8 text']);
    expect(problemsIn('tool', Buffer.from([0xef, 0xbb, 0xbf, 0x2d, 0xc3]))).toEqual([
      '1:2: the file is not UTF-8 text',
    ]);
  });

  it('has a name that providers take', () => {
    const { problems } = contentsOf('bundle', fileOf('tools:', '  - name: "read file"'));

    expect(problems).toMatchObject([
      {
        line: 3,
        column: 11,
        rule: 'name',
        message: expect.stringContaining('tool "read file": a tool\'s name must be') as string,
      },
    ]);
  });
});

describe('a file that was made to do harm', () => {
  const levels = 12;
  const bomb = (use: (last: string) => string) =>
    fileOf(
      'grants: &l0 { env: [a] }',
      'parameters:',
      ...Array.from(
        { length: levels },
        (_, level) =>
          `  p${level}: &l${level + 1} { type: object, properties: { a: *l${level}, b: *l${level}, c: *l${level} } }`,
      ),
      use(`l${levels}`),
    );

  it('is stopped where aliases multiply', () => {
    expect(
      problemsIn(
        'tool',
        bomb(() => 'async: false'),
      ),
    ).toContain('1:1: there are too many aliases; 100 are taken');
  });

  it('is stopped where a schema is part of itself', () => {
    const text = fileOf('parameters:', '  a: &a', '    type: object', '    properties: { b: *a }');

    expect(problemsIn('tool', text)).toEqual(['1:1: a parameter nests deeper than 32 schemas']);
  });

  it('is stopped where it nests deeper than anybody writes', () => {
    expect(problemsIn('tool', fileOf(`parameters: ${'{a: '.repeat(20_000)}`))).toEqual([
      expect.stringContaining('nested too deeply') as string,
    ]);
    expect(problemsIn('tool', fileOf(`parameters: ${'['.repeat(200_000)}`))).toEqual([
      '2:1: the frontmatter is longer than 131072 characters',
    ]);
  });

  it('has a body that is only text, and a size', () => {
    const body = '---\n'.repeat(1000);

    expect(firstTool(`---\n---\n${body}x`).body).toBe(`${body}x`);
    expect(MAX_FILE_BYTES).toBe(1_048_576);
  });
});

describe('an old file, read leniently,', () => {
  it.each([
    ['a delimiter with something behind it', '---anything\nasync: true\n---\n', { async: true }],
    [
      'a closing delimiter of more dashes',
      '---\nasync: true\n------\nbody\n',
      { async: true, body: 'body' },
    ],
    [
      'a closing delimiter with text behind it',
      '---\nasync: true\n---x\nbody\n',
      { async: true, body: 'body' },
    ],
    [
      'three dashes at the end of the last line',
      '---\ntimeout_ms: 5 ---\n',
      { timeoutMs: 5, body: '' },
    ],
    [
      'an integer',
      fileOf('parameters: { a: { type: integer } }'),
      { inputSchema: { properties: { a: { type: 'integer' } } } },
    ],
    [
      'a folded script',
      fileOf('script: >-', '  x = 1'),
      { script: { source: 'x = 1', firstLine: 3 } },
    ],
    [
      'a script in quotes',
      fileOf('script: "x = 1\\ny = 2"'),
      { script: { source: 'x = 1\ny = 2' } },
    ],
  ])('may have %s', (_what, text, expected) => {
    expect(problemsIn('tool', text)).not.toEqual([]);
    expect(problemsIn('tool', text, true)).toEqual([]);
    expect(firstTool(text, true)).toMatchObject(expected);
  });

  it('is warned of keys that nobody reads', () => {
    const { problems } = contentsOf(
      'tool',
      fileOf('verify: x', 'parameters: { a: { type: string, widget: y } }'),
      true,
    );

    expect(problems.map(({ severity, rule, line }) => [severity, rule, line])).toEqual([
      ['warning', 'unknown-key', 2],
      ['warning', 'unknown-key', 3],
    ]);
  });

  it('is refused for the rest', () => {
    expect(problemsIn('tool', fileOf('timeout_ms: -1', 'async: maybe'), true)).toHaveLength(2);
    expect(problemsIn('tool', 'no frontmatter', true)).toEqual([
      '1:1: markdown file must start with --- frontmatter delimiter',
    ]);
    expect(problemsIn('tool', '---\nasync: true\n', true)).toEqual([
      '1:1: no closing --- delimiter found for frontmatter',
    ]);
  });
});
