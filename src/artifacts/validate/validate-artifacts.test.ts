import { describe, expect, it } from 'vitest';
import { problemLine } from '../artifact.ts';
import { fileOf, projectWith } from '../load/files.fixture.ts';
import { LINT_RULES } from './lint-tools.ts';
import { type ValidateOptions, validateArtifacts } from './validate-artifacts.ts';

type Files = Readonly<Record<string, string>>;
const linesOf = async (files: Files, options?: ValidateOptions) =>
  (await validateArtifacts(projectWith(files), options)).problems.map(
    (problem) => `${problem.rule} ${problemLine(problem)}`,
  );

const RUN = ['script: |', '  def run(args):', '      return 1'];
const tool = (...lines: readonly string[]): Files => ({
  '.allium/tools/read_it.md': fileOf(...lines),
});
const scripted = (...lines: readonly string[]): Files =>
  tool('script: |', ...lines.map((line) => `  ${line}`));
const hook = (...lines: readonly string[]): Files => ({
  '.allium/hooks/guard.md': fileOf('event: tool.pre', ...lines),
});
const AT = '.allium/tools/read_it.md';

describe('validateArtifacts', () => {
  it('finds nothing wrong with a good project', async () => {
    const files = {
      ...tool('parameters: { a: { type: array, items: { type: string } } }', ...RUN),
      ...hook(
        'when: payload["name"] == "x"',
        'script: |',
        '  def handle(event, payload):',
        '      return allow()',
      ),
    };
    const { problems, tools, hooks, files: count } = await validateArtifacts(projectWith(files));

    expect([problems, tools.length, hooks.length, count]).toEqual([[], 1, 1, 2]);
  });

  it.each([
    [
      'no Starlark',
      scripted('def run(args):', '    return ('),
      [expect.stringMatching(/^script \.allium\/tools\/read_it\.md:\d+:\d+: got /) as string],
    ],
    [
      'names that are not there',
      scripted('def run(args):', '    return nope + gone'),
      [`script ${AT}:4:14: undefined: nope`, `script ${AT}:4:21: undefined: gone`],
    ],
    [
      'what the dialect has not',
      scripted('def run(args):', '    while True: pass'),
      [expect.stringContaining(`script ${AT}:4:7: `) as string],
    ],
    [
      'no function to run',
      scripted('x = 1'),
      [`script ${AT}:3:3: tool "read_it" script must define run(args)`],
    ],
    [
      'a function that takes nothing',
      scripted('x = 1', 'def run(): pass'),
      [`script ${AT}:4:3: tool "read_it" run must take run(args)`],
    ],
    [
      'a function that takes too much',
      scripted('def run(a, b): pass'),
      [`script ${AT}:3:3: tool "read_it" run must take run(args)`],
    ],
    [
      'a function that wants names',
      scripted('def run(a, *, b): pass'),
      [`script ${AT}:3:3: tool "read_it" run must take run(args)`],
    ],
    [
      'a hook that takes too little',
      hook('script: |', '  def handle(event): return allow()'),
      ['script .allium/hooks/guard.md:4:3: hook "guard" handle must take handle(event, payload)'],
    ],
    [
      'a hook for no event and without its function',
      { '.allium/hooks/guard.md': fileOf('event: tool.prr', 'script: x = nope') },
      [
        'format .allium/hooks/guard.md:2:8: hooks[0].event "tool.prr" is invalid; did you mean "tool.pre"?',
        'script .allium/hooks/guard.md:3:13: undefined: nope',
      ],
    ],
    [
      'a hook without its function',
      hook('script: x = 1'),
      ['script .allium/hooks/guard.md:3:9: hook "guard" script must define handle(event, payload)'],
    ],
    [
      'a predicate that is no expression',
      hook('when: payload[', 'script: |', '  def handle(event, payload): return allow()'),
      [expect.stringMatching(/^script \.allium\/hooks\/guard\.md:3:\d+: got /) as string],
    ],
    [
      'a predicate over other names',
      hook('when: tool == 1', 'script: |', '  def handle(event, payload): return allow()'),
      ['script .allium/hooks/guard.md:3:7: undefined: tool'],
    ],
  ])('tells a script with %s, at its place in the file', async (_what, files, expected) => {
    expect(await linesOf(files)).toEqual(expected);
  });

  it.each([
    'def run(args, more=1): pass',
    'def run(*args): pass',
    'def run(args, **rest): pass',
    'run = lambda args: 1',
  ])('lets pass: %s', async (line) => {
    expect(await linesOf(scripted(line))).toEqual([]);
  });

  it.each(['allow()', 'block("no")', '{"action": "allow"}'])(
    'takes %s, wherever it is returned, for a verdict',
    async (verdict) => {
      const files = hook(
        'script: |',
        '  def handle(event, payload):',
        '      for key in payload:',
        '          if key == "a":',
        `              return ${verdict}`,
      );

      expect(await linesOf(files)).toEqual([]);
    },
  );

  it.each(['tool.post', 'custom.deploy', 'meta.tool.register'])(
    'leaves hooks for %s alone: something fires it, or its name says who does',
    async (event) => {
      const script = 'script: "def handle(event, payload): return allow()"';

      expect(
        await linesOf({ '.allium/hooks/guard.md': fileOf(`event: ${event}`, script) }),
      ).toEqual([]);
    },
  );

  it.each([
    [
      'no-handler',
      tool('async: false'),
      [`no-handler ${AT}:1:1: tool "read_it" has no script handler`],
    ],
    [
      'no-description',
      { [AT]: ['---', ...RUN, '---', ''].join('\n') },
      [
        `no-description ${AT}:1:1: tool "read_it" has no description: write what it does below the frontmatter`,
      ],
    ],
    [
      'verb-first-name',
      { '.allium/tools/readIt.md': fileOf(...RUN) },
      ['verb-first-name .allium/tools/readIt.md:1:1: tool "readIt" should be called in snake_case'],
    ],
    [
      'verb-first-name',
      { '.allium/tools/note_read.md': fileOf(...RUN) },
      [
        'verb-first-name .allium/tools/note_read.md:1:1: tool "note_read" should begin with a verb, such as read_, list_ or send_',
      ],
    ],
    [
      'flat-parameters',
      tool('parameters: { a: { type: object } }', ...RUN),
      [
        `flat-parameters ${AT}:1:1: tool "read_it" parameter "a" is nested; give each part a parameter of its own`,
      ],
    ],
    [
      'flat-parameters',
      tool('parameters: { a: { type: array, items: { type: object } } }', ...RUN),
      [expect.stringContaining('is nested') as string],
    ],
    [
      'bounded-output',
      scripted('def run(args):', '    return fs.read(args["path"])'),
      [
        `bounded-output ${AT}:4:14: tool "read_it" answers with whatever fs.read gives; cut it with string.truncate, a slice or grants.max_output_bytes`,
      ],
    ],
    [
      'raw-shell',
      tool('grants: { shell: true }', ...RUN),
      [
        `raw-shell ${AT}:1:1: tool "read_it" is granted a shell; run one program with its arguments instead`,
      ],
    ],
    [
      'raw-shell',
      scripted('def run(args):', '    return exec.run(args["cmd"])["stdout"][:99]'),
      [
        `raw-shell ${AT}:4:14: tool "read_it" lets its caller choose the program that exec.run starts; name it in the script`,
      ],
    ],
    [
      'raw-shell',
      scripted(
        'def run(args):',
        '    return exec.run("/bin/bash", ["-c", args["x"]])["stdout"][:99]',
      ),
      [
        `raw-shell ${AT}:4:14: tool "read_it" starts a shell (/bin/bash); run the program itself with its arguments`,
      ],
    ],
    [
      'honest-annotations',
      tool(
        'annotations: { read_only: true }',
        'script: |',
        '  def run(args):',
        '      fs.write("a", "b")',
      ),
      [`honest-annotations ${AT}:5:7: tool "read_it" says it only reads, and calls fs.write`],
    ],
    [
      'fired-event',
      {
        '.allium/hooks/guard.md': fileOf(
          'event: delegate.pre',
          'script: |',
          '  def handle(event, payload): return block("no")',
        ),
      },
      [
        'fired-event .allium/hooks/guard.md:1:1: hook "guard" is for delegate.pre, which nothing in allium fires: it blocks nothing unless a program asks it with fireHooks',
      ],
    ],
    [
      'has-verdict',
      hook(
        'script: |',
        '  def handle(event, payload):',
        '      def inner(): return allow()',
        '      block("no")',
      ),
      [
        'has-verdict .allium/hooks/guard.md:1:1: hook "guard" returns nothing from handle, which counts as a block: return allow(), block(reason) or modify(payload)',
      ],
    ],
  ])('advises by the rule %s', async (rule, files, expected) => {
    expect(await linesOf(files)).toEqual(expected);
    expect(Object.keys(LINT_RULES)).toContain(rule);
  });

  it.each([
    ['cuts with a slice', scripted('def run(args):', '    return fs.read("a")[:100]')],
    [
      'cuts with truncate',
      scripted('def run(args):', '    return string.truncate(fs.read("a"), 100)'),
    ],
    [
      'was given a size',
      tool(
        'grants: { max_output_bytes: 100 }',
        'script: |',
        '  def run(args): return fs.read("a")',
      ),
    ],
    [
      'names its program',
      scripted('def run(args):', '    return exec.run("git", ["log"])["stdout"][:9]'),
    ],
  ])('is silent about a script that %s', async (_what, files) => {
    expect(await linesOf(files)).toEqual([]);
  });

  it('knows which tools a program binds', async () => {
    expect(await linesOf(tool('async: false'), { handlers: ['read_it'] })).toEqual([]);
  });

  it('puts everything into the order of the files', async () => {
    const files = {
      '.allium/tools/b.md': fileOf('timeout_ms: -1', 'script: x = nope'),
      '.allium/tools/a.md': fileOf('script: x = 1'),
    };

    expect((await linesOf(files)).map((line) => line.replace(/: .*/, ''))).toEqual([
      'verb-first-name .allium/tools/a.md:1:1',
      'script .allium/tools/a.md:2:9',
      'verb-first-name .allium/tools/b.md:1:1',
      'format .allium/tools/b.md:2:13',
      'script .allium/tools/b.md:3:13',
    ]);
  });
});
