import { describe, expect, it } from 'vitest';
import { problemsIn, stack, TOOLS } from './files.fixture.ts';

const file = (...lines: readonly string[]) => ({ 'allium.yaml': `${lines.join('\n')}\n` });

describe('a mistake in a file', () => {
  it.each([
    [
      'a layer nobody knows',
      stack('  - rateLimt: { maxCalls: 1 }'),
      '3:5: there is no layer "rateLimt"; did you mean "rateLimit"?',
    ],
    [
      'an option nobody knows',
      stack('  - rateLimit: { maxCalls: 1, pre: tool }'),
      '3:31: "rateLimit" has no "pre"; did you mean "per"?',
    ],
    [
      'an option of the wrong kind',
      stack('  - rateLimit:', '      maxCalls: many'),
      '4:17: "maxCalls" must be a whole number of at least 0',
    ],
    [
      'an option that is missing',
      stack('  - rateLimit: { windowMs: 5 }'),
      '3:5: "rateLimit" needs "maxCalls"',
    ],
    [
      'options that are missing altogether',
      stack('  - rateLimit'),
      '3:5: "rateLimit" needs "maxCalls"',
    ],
    [
      'a word that is none of the words',
      stack('  - auditLog: lokal'),
      '3:15: "auditLog" must be one of "local", "cloud", "both"',
    ],
    [
      'a word where a word or a function may stand',
      stack('  - rateLimit: { maxCalls: 1, per: tol }'),
      '3:36: "per" must be "tool", "session" or a function',
    ],
    [
      'a key inside a rule',
      stack('  - consent:', '      rules:', '        - { tool: a, decison: deny }'),
      '5:22: an entry of "rules" has no "decison"; did you mean "decision"?',
    ],
    [
      'text where a function is wanted',
      stack('  - idempotency: { key: orderId }'),
      '3:25: "key" must be a function, written { $module: ./file.ts#name } or { $path: toolArgs.id }',
    ],
    [
      'what only the factory can tell',
      stack('  - redaction:', '      patterns: ["(?=x)"]'),
      '4:17: redaction: "patterns" must be',
    ],
    [
      'a policy nobody knows',
      stack('  - permissions:', '      checkers:', '        - pathPolcy: { roots: [.] }'),
      '5:11: an entry of "checkers" has no "pathPolcy"; did you mean "pathPolicy"?',
    ],
    [
      'an option of a policy that nobody knows',
      stack(
        '  - permissions:',
        '      checkers:',
        '        - pathPolicy: { roots: [.], protects: [a] }',
      ),
      '5:37: pathPolicy',
    ],
    [
      'a rule of a policy that cannot be compiled',
      stack(
        '  - permissions:',
        '      checkers:',
        '        - rulesPolicy: { rules: [{ decision: deny, when: "(" }] }',
      ),
      '5:',
    ],
    [
      'two policies in one entry',
      stack(
        '  - permissions:',
        '      checkers:',
        '        - { pathPolicy: { roots: [.] }, commandPolicy: {} }',
      ),
      '5:11: an entry of "checkers" must be one policy by its name, or { $module: ./file.ts#name }',
    ],
    [
      'permissions without checkers',
      stack('  - permissions: { fallback: ask }'),
      '3:5: "permissions" needs "checkers"',
    ],
    [
      'a form nobody knows',
      stack('  - idempotency: { key: { $pathh: a } }'),
      '3:27: there is no "$pathh"; did you mean "$path"?',
    ],
    [
      'a module that is not there',
      stack('  - use: ./gone.ts'),
      '3:10: ./gone.ts cannot be loaded: a module is not there',
    ],
    [
      'a package that is not there',
      stack('  - use: no-such-package-here'),
      '3:10: no-such-package-here cannot be loaded: a module is not there',
    ],
    [
      'a harmful order',
      stack('  - timeout: { maxMs: 5 }', '  - consent: {}'),
      '3:5: "timeout" must stand inside "consent": outside it, the time a person takes',
    ],
    [
      'a top key nobody knows',
      file('version: 1', 'layrs: []', 'layers: []'),
      '2:1: the file has no "layrs"; did you mean "layers"?',
    ],
    ['a version nobody knows', file('version: 2', 'layers: []'), '1:10: "version" must be 1'],
    ['a missing version', file('layers: []'), '1:1: the file needs "version"'],
    ['missing layers', file('version: 1'), '1:1: the file needs "layers"'],
    [
      'a key inside session',
      file('version: 1', 'session: { idd: x }', 'layers: []'),
      '2:12: "session" has no "idd"; did you mean "id"?',
    ],
    [
      'a wrong limit',
      file('version: 1', 'layers: []', 'limits:', '  maxConcurrent: 0'),
      '4:18: "maxConcurrent" must be a whole number of at least 1',
    ],
    [
      'a secret that is no text',
      file('version: 1', 'layers: []', 'secrets: { api: 5 }'),
      '3:17: "api" must be a non-empty string',
    ],
    [
      'the same key twice',
      file('version: 1', 'layers: []', 'version: 1'),
      '3:1: this key is there twice',
    ],
    [
      'the same option twice',
      stack('  - dryRun: { message: a, message: b }'),
      '3:27: this key is there twice',
    ],
    [
      'a tag of somebody',
      file('version: 1', 'layers: !!js/function "x"'),
      '2:9: tags are not taken',
    ],
    ['a tag in an option', stack('  - dryRun: { message: !env HOME }'), '3:24: tags are not taken'],
    ['what is no YAML', file('version: 1', 'layers: [', 'tools: }'), '3:1: this is not YAML'],
    [
      'a key that is a list',
      file('version: 1', '? [a]', ': b', 'layers: []'),
      '2:3: a key must be plain text',
    ],
    [
      'a list instead of a file',
      file('- a'),
      '1:1: the file must be an object with "version" and "layers"',
    ],
    ['nothing', file(''), '1:1: the file must be an object with "version" and "layers"'],
    ['a merge key', file('version: 1', '<<: { a: 1 }', 'layers: []'), '2:1: the file has no "<<"'],
    [
      '__proto__ on top',
      file('version: 1', '__proto__: { a: 1 }', 'layers: []'),
      '2:1: the file has no "__proto__"',
    ],
    [
      '__proto__ as an option',
      stack('  - dryRun: { __proto__: { message: a } }'),
      '3:15: "dryRun" has no "__proto__"',
    ],
    [
      'constructor as an option',
      stack('  - dryRun: { constructor: a }'),
      '3:15: "dryRun" has no "constructor"',
    ],
    ['constructor as a layer', stack('  - constructor'), '3:5: there is no layer "constructor"'],
    ['__proto__ as a layer', stack('  - __proto__: {}'), '3:5: there is no layer "__proto__"'],
    [
      'a source of tools nobody knows',
      file('version: 1', 'layers: []', 'tools:', '  - modul: ./a.ts'),
      '4:5: tools come from one of module, artifacts, mcp; did you mean "module"?',
    ],
    [
      'a key beside a module',
      file('version: 1', 'layers: []', 'tools:', '  - { module: ./a.ts, onyl: [] }'),
      '4:23: a source of tools has no "onyl"; did you mean "only"?',
    ],
    [
      'tools that are not there',
      file('version: 1', 'layers: []', 'tools:', '  - module: ./a.ts'),
      '4:13: ./a.ts cannot be loaded: a module is not there',
    ],
    [
      'a project that is not there',
      file('version: 1', 'layers: []', 'tools:', '  - artifacts: ./tools'),
      '4:16: ./tools: there is no such folder',
    ],
    [
      'an MCP server that is nowhere',
      file('version: 1', 'layers: []', 'tools:', '  - mcp: { args: [server.js] }'),
      '4:5: mcpExecutor: a server has one of "command", "url" and "transport"',
    ],
    [
      'an MCP server that is not there',
      file(
        'version: 1',
        'layers: []',
        'tools:',
        '  - mcp: { command: ./nothing }',
        '    prefix: gh',
      ),
      '4:5: the MCP server "gh" could not be reached: spawn ./nothing ENOENT',
    ],
    [
      'a variable that is not set',
      stack('  - dryRun: { message: "${NOT_SET}" }'),
      '3:24: the variable NOT_SET is not set',
    ],
    [
      'a variable that is not closed',
      stack('  - dryRun: { message: "${NOT" }'),
      '3:24: "${" begins a variable',
    ],
  ])('is shown where it is: %s', async (_what, files, problem) => {
    const problems = await problemsIn(files);

    expect(problems).toHaveLength(1);
    expect(problems[0]?.slice(0, 'allium.yaml:'.length + problem.length)).toBe(
      `allium.yaml:${problem}`,
    );
  });

  it('is told together with all others, in the order of the file', async () => {
    const problems = await problemsIn(
      file(
        'version: 2',
        'state: {}',
        'layers:',
        '  - rateLimit: { maxCalls: -1, per: x, pre: y }',
        '  - timeot: {}',
        '  - timeout: { maxMs: 1 }',
        '  - consent: {}',
        'tool: []',
      ),
    );

    expect(problems.map((line) => line.replace(/: .*/, ''))).toEqual([
      'allium.yaml:1:10',
      'allium.yaml:2:1',
      'allium.yaml:4:28',
      'allium.yaml:4:37',
      'allium.yaml:4:40',
      'allium.yaml:5:5',
      'allium.yaml:6:5',
      'allium.yaml:8:1',
    ]);
  });

  it('has its place in JSON, too', async () => {
    const text = '{\n\t"version": 1,\n\t"layers": [\n\t\t{ "rateLimit": { "maxCall": 1 } }\n\t]\n}';

    expect(await problemsIn({ 'allium.json': text })).toEqual([
      'allium.json:4:20: "rateLimit" has no "maxCall"; did you mean "maxCalls"?',
    ]);
    expect(await problemsIn({ 'allium.json': 'version: 1\nlayers: []\n' })).toEqual([
      'allium.json:1:1: this is YAML, but not JSON',
    ]);
  });

  it('is named by its path where a program has no lines', async () => {
    const text = `export default { version: 1, layers: [{ rateLimit: { maxCalls: 'x' } }, { use: './a.ts', wth: 1 }], nope: () => {} };`;

    expect(await problemsIn({ 'allium.mjs': text })).toEqual([
      'allium.mjs: nope: the file has no "nope"; it takes $schema, version, session, state, limits, onUnknownTool, onInvalidArgs, secrets, layers, proxy, tools, notify',
      'allium.mjs: layers[0].rateLimit.maxCalls: "maxCalls" must be a whole number of at least 0',
      'allium.mjs: layers[1].wth: there is no layer "wth"; did you mean "with"?',
    ]);
    expect(await problemsIn({ 'allium.mjs': 'export const a = 1;' })).toEqual([
      'allium.mjs: the module has no default export',
    ]);
  });

  it('is found in modules: a missing export, a throw, no tools, a name twice', async () => {
    const tools = (line: string) => ({
      'tools.ts': TOOLS,
      'allium.yaml': `version: 1\nlayers: []\ntools:\n${line}\n`,
    });

    expect(
      await problemsIn({ ...stack('  - use: ./a.mjs#limitt'), 'a.mjs': 'export const limit = 1;' }),
    ).toEqual(['allium.yaml:3:10: ./a.mjs has no export "limitt"; did you mean "limit"?']);
    expect(
      await problemsIn({ ...stack('  - use: ./a.mjs'), 'a.mjs': 'throw new Error("no luck");' }),
    ).toEqual(['allium.yaml:3:10: ./a.mjs cannot be loaded: no luck']);
    expect(
      await problemsIn({ ...tools('  - module: ./a.mjs'), 'a.mjs': 'export const a = 1;' }),
    ).toEqual(['allium.yaml:4:5: ./a.mjs exports no tools']);
    expect(await problemsIn(tools('  - module: ./tools.ts\n  - module: ./tools.ts#echo'))).toEqual([
      'allium.yaml:5:5: two tools are called "echo"',
    ]);
  });
});

describe('a hostile file', () => {
  it('cannot blow up through aliases', async () => {
    const level = (name: string, of: string) =>
      `${name}: &${name} [${Array.from({ length: 9 }, () => `*${of}`).join(', ')}]`;
    const bomb = [
      'a: &a [x, x, x, x, x, x, x, x, x]',
      level('b', 'a'),
      level('c', 'b'),
      level('d', 'c'),
      level('e', 'd'),
      'version: 1',
      'layers: []',
    ];

    expect(await problemsIn(file(...bomb))).toEqual([
      'allium.yaml:1:1: there are too many aliases; 100 are taken',
    ]);
  });

  it('may use a few aliases', async () => {
    expect(
      await problemsIn(stack('  - dryRun: { only: &names [a, b] }', '    except: *names')),
    ).toEqual([]);
  });

  it('cannot be larger than a file is, nor nested without end', async () => {
    expect(await problemsIn(file(`# ${'x'.repeat(262_144)}`))).toEqual([
      'allium.yaml: the file is larger than 262144 bytes',
    ]);
    expect((await problemsIn(file(`layers: ${'['.repeat(100_000)}`))).length).toBe(1);
  });
});
