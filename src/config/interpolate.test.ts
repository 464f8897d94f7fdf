import { describe, expect, it } from 'vitest';
import { isAlliumError } from '../index.ts';
import { load, problemsIn, stack, TOOLS } from './files.fixture.ts';
import { interpolate } from './interpolate.ts';

const filled = (text: string, env: Record<string, string | undefined> = {}) => {
  const problems: string[] = [];
  const { data } = interpolate({ text }, env, (_path, message) => void problems.push(message));
  return problems.length > 0 ? problems : (data as { text: string }).text;
};

describe('a variable', () => {
  it.each([
    ['${A}', 'x'],
    ['a ${A} b ${A}', 'a x b x'],
    ['${B:-y}', 'y'],
    ['${A:-y}', 'x'],
    ['${EMPTY:-y}', 'y'],
    ['${EMPTY}', ''],
    ['${B:-}', ''],
    ['${B:-a:-b c}', 'a:-b c'],
    ['$${A}', '${A}'],
    ['$A {A} $', '$A {A} $'],
    ['${NESTED}', '${A}'],
  ])('%s is filled in', (text, expected) => {
    expect(filled(text, { A: 'x', EMPTY: '', NESTED: '${A}' })).toBe(expected);
  });

  it.each(['${', '${A', '${}', '${a-b}', '${1A}', '${A:y}', '${A }'])('%s is refused', (text) => {
    expect(filled(text, { A: 'x' })).toEqual([expect.stringContaining('begins a variable')]);
  });

  it('is not found on the prototype of the environment', () => {
    expect(filled('${constructor}')).toEqual(['the variable constructor is not set']);
  });

  it('is not filled into keys', async () => {
    expect(await problemsIn(stack('  - "${L}": {}'), { env: { L: 'dryRun' } })).toEqual([
      'allium.yaml:3:5: there is no layer "${L}"; one of your own is { use: module }',
    ]);
  });

  it('leaves objects alone that hold none', () => {
    const store = { take: () => 1 };
    const { data } = interpolate({ store, text: '${A}' }, { A: 'x' }, () => {});

    expect((data as { store: object }).store).toBe(store);
  });
});

const CANARY = 'canary-5f0c/(x)+[secret]';

describe('the value of a variable', () => {
  const leaky = `export default (options) => { throw new Error('cannot take ' + JSON.stringify(options)); };
export const named = ({ word }) => ({ name: word, caller: (call, next) => next(call), schemaTransform: (tool) => ({ ...tool, description: word }) });`;

  it.each([
    ['a wrong option', stack('  - rateLimit: { maxCalls: "${C}" }')],
    ['a word that is none', stack('  - auditLog: ${C}')],
    ['a wrong list', stack('  - dryRun: { only: "${C}" }')],
    ['a layer', stack('  - ${C}')],
    ['a module', stack('  - use: ./${C}.ts')],
    ['an export', stack('  - use: "./leaky.mjs#${C}"')],
    ['a factory that tells', stack('  - use: ./leaky.mjs', '    with: { key: "${C}" }')],
    ['a path', stack('  - idempotency: { key: { $path: "${C}" } }')],
    ['a pattern', stack('  - redaction: { patterns: ["(${C}"] }')],
    ['a path of redaction', stack('  - redaction: { paths: ["a..${C}"] }')],
    [
      'a tool module',
      { 'allium.yaml': 'version: 1\nlayers: []\ntools: [{ module: "./${C}.ts" }]\n' },
    ],
    [
      'a prefix',
      {
        'allium.yaml':
          'version: 1\nlayers: []\ntools: [{ module: ./tools.ts, prefix: "${C} {}" }]\n',
        'tools.ts': TOOLS,
      },
    ],
    ['a version', { 'allium.yaml': 'version: ${C}\nlayers: []\n' }],
    [
      'the state folder',
      { 'allium.yaml': 'version: 1\nstate: { dir: "${C}", b: 1 }\nlayers: []\n' },
    ],
  ])('does not show in the error about %s', async (_what, files) => {
    const problems = await problemsIn({ ...files, 'leaky.mjs': leaky }, { env: { C: CANARY } });

    expect(problems.length).toBeGreaterThan(0);
    expect(problems.join('\n')).not.toContain('unexpected');
    expect(problems.join('\n')).not.toContain('canary');
  });

  it('does not show in the error object either', async () => {
    const thrown: unknown = await load(stack('  - use: "./${C}.ts"'), { env: { C: CANARY } }).catch(
      (error: unknown) => error,
    );

    expect(isAlliumError(thrown, 'ERR_INVALID_CONFIG')).toBe(true);
    expect(JSON.stringify(thrown)).not.toContain('canary');
    expect((thrown as Error).stack).not.toContain('canary');
    expect((thrown as Error).cause).toBeUndefined();
  });

  it('does not show in what is explained', async () => {
    const files = {
      'allium.yaml': `version: 1\nsession: { id: "\${C}" }\nlayers:\n  - use: ./leaky.mjs#named\n    with: { word: "\${C}" }\n    only: ["\${C}", echo]\n  - requiredReason: { description: "say \${C}" }\ntools: [{ module: ./tools.ts }]\nsecrets: { a: "\${C}" }\n`,
      'tools.ts': TOOLS,
      'leaky.mjs': leaky,
    };
    const config = await load(files, { env: { C: CANARY } });
    const [first] = config.govern().tools;

    expect(first?.description).toBe(CANARY);
    expect(config.explain()).toContain('say ${C}');
    expect(config.explain()).not.toContain('canary');
    expect(JSON.stringify(config.describe())).not.toContain('canary');
  });
});
