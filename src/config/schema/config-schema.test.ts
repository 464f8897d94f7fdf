import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { fencesOf, fieldsOf, optionNames, tableRows } from '../../../docs/check-docs.ts';
import { STARTER_CONFIG } from '../../cli/init.ts';
import { isObject } from '../../core/json/json.ts';
import { buildLayers } from '../build-layers.ts';
import { problemsIn, stack } from '../files.fixture.ts';
import { CONFIG_SCHEMA, LAYER_FACTORIES } from '../index.ts';
import { LAYER_SCHEMAS } from './layer-schemas.ts';

const root = resolve(import.meta.dirname, '../../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const folderOf = (layer: string) =>
  layer.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const validate = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false }).compile(
  CONFIG_SCHEMA,
);
const layers = Object.keys(LAYER_SCHEMAS);

const folder = mkdtempSync(join(tmpdir(), 'allium-schema-'));
writeFileSync(join(folder, 'recording.jsonl'), '');
afterAll(() => rmSync(folder, { recursive: true }));

/** A value for every bundled layer, as a file would have it. */
const EXAMPLES: Readonly<Record<string, unknown>> = {
  auditLog: {
    sink: 'cloud',
    redact: ['pin'],
    durability: 'write',
    key: { id: 'k1', secret: 's'.repeat(32) },
    onSinkError: 'warn',
  },
  callLimit: {
    maxCalls: 100,
    perTool: { 'send_*': 3 },
    per: 'session',
    maxPrompts: 5,
    message: 'enough',
  },
  consent: {
    rules: [{ tool: 'pay_*', decision: 'ask' }],
    default: 'allow',
    expiresMs: 60_000,
    remember: true,
  },
  definitionPin: { source: 'github', onNew: 'refuse', onChange: 'warn', message: 'ask Ana' },
  dryRun: { only: ['send_*'], except: ['send_test'], message: 'Would call' },
  handoffArtifact: { keys: ['next'], source: 'captain', strict: true },
  hooks: {
    hooks: [
      {
        name: 'guard',
        event: 'tool.pre',
        priority: 5,
        when: 'True',
        script: 'def handle(event, payload):\n  return allow()\n',
      },
    ],
    ...{ dir: folder, grants: { workspace: '.' }, effects: ['fs.write'], deadlineMs: 1000 },
  },
  idempotency: {
    key: { $path: 'toolArgs.orderId' },
    ttlMs: 1000,
    maxEntries: 5,
    mode: 'effect',
    scope: 'global',
    leaseMs: 1000,
  },
  outputLimit: { maxBytes: 2048, readTool: 'read_more' },
  permissions: {
    checkers: [
      { pathPolicy: { roots: ['.'], protect: ['**/.env'] } },
      { commandPolicy: { allow: ['git status'] } },
      { rulesPolicy: { rules: [{ decision: 'deny', tool: 'drop_*' }] } },
      { mcpServerPolicy: { allow: ['files'] } },
    ],
    ...{ fallback: 'ask', shadow: false, hide: true, expiresMs: 60_000 },
  },
  rateLimit: { maxCalls: 50, windowMs: 60_000, per: 'session', message: 'too fast' },
  record: { file: join(folder, 'recorded.jsonl'), onError: 'warn' },
  redaction: {
    detectors: ['secrets', 'email'],
    strategies: { email: 'hash' },
    paths: ['**.token'],
    patterns: ['x+', { name: 'n', pattern: 'y+' }],
    in: 'report',
    key: 'k'.repeat(16),
  },
  repeatGuard: {
    ...{
      nudgeAfter: 2,
      stopAfter: 4,
      per: 'session',
      windowCalls: 20,
      windowMs: 60_000,
      ignore: ['why'],
    },
    ...{ except: ['poll_*'], message: 'again' },
  },
  replay: {
    file: join(folder, 'recording.jsonl'),
    mode: 'ordered',
    onMissing: 'pass',
    onUnused: 'throw',
  },
  requiredReason: {
    field: 'why',
    description: 'Why?',
    strip: true,
    auditKey: 'why',
    minLength: 3,
    onMissing: 'reject',
    schemaRequired: true,
  },
  retry: {
    maxAttempts: 2,
    backoffMs: 0,
    maxBackoffMs: 5,
    maxElapsedMs: 100,
    jitter: false,
    only: ['get_*'],
    except: [],
    on: ['timeout'],
  },
  scopedExecutor: {
    stage: 'review',
    allowedTools: ['read'],
    sideEffectLevel: 'read_only',
    capabilities: { workspace: ['read'] },
    workspaceRoots: ['/srv'],
    argConstraints: { read: { path: { within: ['/srv'] }, mode: [{ oneOf: ['r'] }] } },
    recursionLimit: 1,
    hide: true,
    onViolation: 'reject',
  },
  summary: { $path: 'toolName' },
  telemetry: {
    sinks: ['noop'],
    project: 'p',
    environment: 'e',
    release: 'r',
    persona: 'x',
    mode: 'm',
    parentSpanId: '0'.repeat(16),
    traceId: '0'.repeat(32),
    attributes: { a: 1 },
    captureContent: false,
    timeoutMs: 5,
    maxPending: 5,
  },
  timeout: { maxMs: 10_000, perTool: { 'slow_*': 60_000 }, graceMs: 50, message: 'too slow' },
};

describe('CONFIG_SCHEMA', () => {
  it('has every layer that can be written by name, in the folders of middleware', () => {
    const folders = readdirSync(join(root, 'middleware'), { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    );

    expect([...layers].sort()).toEqual([...LAYER_FACTORIES.keys()].sort());
    expect(layers.map(folderOf).sort()).toEqual(folders.map(({ name }) => name).sort());
  });

  it.each(layers)('has exactly the options of %s', (layer) => {
    expect(Object.keys(LAYER_SCHEMAS[layer]?.options ?? {})).toEqual(
      optionNames(
        ['options', folderOf(layer)]
          .map((file) => read(`middleware/${folderOf(layer)}/${file}.ts`))
          .join('\n'),
      ),
    );
  });

  it.each(layers)('says about the options of %s what the docs say', (layer) => {
    const { options = {} } = LAYER_SCHEMAS[layer] ?? {};

    expect(tableRows(read(`docs/middleware/${folderOf(layer)}.md`), 'Options').map(plain)).toEqual(
      Object.entries(options).map(([name, { says, fallback, required }]) =>
        plain([name, says, required === true ? 'required' : (fallback ?? '')]),
      ),
    );
  });

  it('has the limits of the dispatcher, with the same bounds', () => {
    const { limits } = CONFIG_SCHEMA.properties as {
      limits: { properties: Record<string, { minimum: number }> };
    };
    const bounds = [
      ...read('src/dispatch/intake/limits.ts').matchAll(
        /^ {4}(max\w+): expected\.integer\((\d+)\)/gm,
      ),
    ].map(([, name, min]) => [name, Number(min)]);

    expect(Object.keys(limits.properties)).toEqual(
      fieldsOf(read('src/dispatch/intake/limits.ts'), 'DispatchLimits'),
    );
    expect(Object.entries(limits.properties).map(([name, { minimum }]) => [name, minimum])).toEqual(
      bounds,
    );
  });

  it('describes every member, at every depth', () => {
    expect(undescribed(CONFIG_SCHEMA, '')).toEqual([]);
  });

  it.each(layers)('takes an example of %s, and so does the layer', (layer) => {
    const entry = { [layer]: EXAMPLES[layer] };

    expect(validate({ version: 1, layers: [entry] }), JSON.stringify(validate.errors)).toBe(true);
    expect(buildLayers([entry]).map(({ name }) => name)).toEqual([layer]);
  });

  it.each(layers)('refuses a misspelt option of %s', (layer) => {
    const options = isObject(EXAMPLES[layer]) ? EXAMPLES[layer] : {};

    expect(validate({ version: 1, layers: [{ [layer]: { ...options, optionn: 1 } }] })).toBe(false);
  });

  it.each(layers)(
    'takes %s without options exactly where a file with it can be loaded',
    async (layer) => {
      for (const entry of [
        `- ${layer}`,
        `- ${layer}:`,
        `- ${layer}: {}`,
        `- ${layer}: { only: [a] }`,
        `- { ${layer}: , only: [a] }`,
      ]) {
        const text = `version: 1\nlayers:\n  ${entry}\n`;
        const problems = await problemsIn({ 'allium.yaml': text });

        expect([entry, validate(parse(text))]).toEqual([entry, problems.length === 0]);
      }
    },
  );

  it.each([
    ['consent', '"consent" needs options; write "consent: {}" to take every default'],
    [
      'scopedExecutor',
      '"scopedExecutor" needs options; write "scopedExecutor: {}" to take every default',
    ],
    [
      'callLimit',
      '"callLimit" must be an object with at least one of maxCalls, perTool, maxPrompts',
    ],
    ['hooks', '"hooks" must be an object with at least one of hooks, dir'],
  ])('says what %s lacks where it stands alone', async (layer, message) => {
    expect(await problemsIn(stack(`  - ${layer}`))).toEqual([
      expect.stringContaining(`3:5: ${message}`),
    ]);
  });

  it('takes what init writes', () => {
    expect(validate(parse(STARTER_CONFIG)), JSON.stringify(validate.errors)).toBe(true);
  });

  it('takes every file that the docs show', () => {
    const shown = [
      'README.md',
      ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map((path) =>
        join('docs', path),
      ),
    ]
      .filter((path) => path.endsWith('.md'))
      .flatMap((path) => fencesOf(read(path)))
      .filter(({ language, code }) => language === 'yaml' && /^version:/m.test(code));

    expect(shown.length).toBeGreaterThan(0);
    expect(shown.filter(({ code }) => !validate(parse(code))).map(({ code }) => code)).toEqual([]);
  });
});

/** Links as their text: an editor shows a description as it is. */
const plain = (cells: readonly string[]): readonly string[] =>
  cells.map((cell) => cell.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', ''));

/** Members that an editor would complete without a word. */
function undescribed(schema: unknown, path: string): readonly string[] {
  if (!isObject(schema) && !Array.isArray(schema)) return [];
  const { properties } = schema as { properties?: unknown };
  const missing = isObject(properties)
    ? Object.entries(properties).flatMap(([name, member]) =>
        isObject(member) && typeof member.description === 'string' ? [] : [`${path}/${name}`],
      )
    : [];
  return [
    ...missing,
    ...Object.entries(schema).flatMap(([key, member]) => undescribed(member, `${path}/${key}`)),
  ];
}
