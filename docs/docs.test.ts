import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as conformance from '../conformance/index.ts';
import * as middleware from '../middleware/index.ts';
import { DEFAULT_LIMITS } from '../src/dispatch/intake/limits.ts';
import * as a2a from '../src/adapters/a2a/index.ts';
import * as acp from '../src/adapters/acp/index.ts';
import * as artifacts from '../src/artifacts/index.ts';
import * as config from '../src/config/index.ts';
import * as consentLibrary from '../src/consent/index.ts';
import * as handoff from '../src/handoff/index.ts';
import * as hooks from '../src/hooks/index.ts';
import * as hostBridge from '../src/executors/host-bridge/index.ts';
import * as allium from '../src/index.ts';
import * as idempotency from '../src/idempotency/index.ts';
import * as layer from '../src/layer.ts';
import * as limits from '../src/limits/index.ts';
import * as mcp from '../src/mcp/index.ts';
import * as outputs from '../src/outputs/index.ts';
import * as pins from '../src/pins/index.ts';
import * as policy from '../src/policy/index.ts';
import * as recording from '../src/recording/index.ts';
import * as stores from '../src/stores/index.ts';
import * as otel from '../src/telemetry/otel/index.ts';
import * as telemetry from '../src/telemetry/index.ts';
import * as receipts from '../src/receipts/index.ts';
import {
  anchorsOf,
  fenceProblems,
  fencesOf,
  fieldsOf,
  headingsOf,
  importProblems,
  importsFor,
  linkProblems,
  optionNames,
  printedBlocks,
  regionOf,
  tableRows,
  unmentioned,
} from './check-docs.ts';

const root = resolve(import.meta.dirname, '..');
const readHere = (path: string) => readFileSync(join(root, path), 'utf8');

/** A file's text, nothing for a folder, and `null` for what is not there. */
function readIn(folder: string, path: string): string | null {
  const target = resolve(root, folder, path);
  if (!existsSync(target)) return null;
  return statSync(target).isDirectory() ? '' : readFileSync(target, 'utf8');
}

const pages = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'].filter((path) =>
    existsSync(join(root, path)),
  ),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join('docs', path))
    .sort(),
];
const docs = pages.filter((path) => path.startsWith('docs/')).map(readHere);
const layers = readdirSync(join(root, 'middleware'), { withFileTypes: true }).filter((entry) =>
  entry.isDirectory(),
);

const LAYER_HEADINGS = [
  'Use',
  'What it does',
  'Options',
  'Outcomes',
  'Audit',
  'Where it goes',
  'Limits',
  'Safety',
  'Overhead',
];

describe('the docs', () => {
  it('are there: a pattern that finds no page would prove nothing', () => {
    expect(pages).toContain('docs/getting-started.md');
    expect(
      docs.flatMap(fencesOf).filter(({ language }) => language === 'ts').length,
    ).toBeGreaterThan(20);
  });

  it.each(pages)('%s shows only code that an example runs', (path) => {
    expect(fenceProblems(readHere(path), (source) => readIn('.', source))).toEqual([]);
  });

  it.each(pages)('%s begins its code with the imports it needs', (path) => {
    expect(importProblems(readHere(path), (source) => readIn('.', source))).toEqual([]);
  });

  it.each(pages)('%s links to what is there', (path) => {
    expect(linkProblems(readHere(path), (target) => readIn(dirname(path), target))).toEqual([]);
  });

  it('list every status as the table has it', () => {
    const expected = Object.entries(allium.STATUSES).map(([status, row]) => [
      status,
      String(row.ok),
      row.executed,
      row.outcome,
      row.errorClass ?? '–',
      row.meaning,
    ]);

    expect(tableRows(readHere('docs/statuses.md'))).toEqual(expected);
  });

  it('list every error code as the table has it', () => {
    expect(tableRows(readHere('docs/errors.md'))).toEqual(Object.entries(allium.ERROR_CODES));
  });

  it.each(layers.map(({ name }) => name))(
    'have a page for %s with the headings in their order',
    (name) => {
      const headings = headingsOf(readHere(`docs/middleware/${name}.md`));

      expect(headings.filter(({ level }) => level === 2).map(({ text }) => text)).toEqual(
        LAYER_HEADINGS,
      );
    },
  );

  it.each(layers.map(({ name }) => name))('name exactly the options of %s', (name) => {
    const options = optionNames(
      ['options', name].map((file) => readHere(`middleware/${name}/${file}.ts`)).join('\n'),
    );

    expect(options.length).toBeGreaterThan(0);
    expect(
      tableRows(readHere(`docs/middleware/${name}.md`), 'Options').map(([option]) => option),
    ).toEqual(options);
  });

  it.each([
    ['src/dispatch/govern-tools.ts', 'GovernOptions', 'docs/dispatch.md', 'Options'],
    ['src/dispatch/intake/limits.ts', 'DispatchLimits', 'docs/dispatch.md', 'Limits'],
    ['src/mcp/client/mcp-executor.ts', 'McpOptions', 'docs/executors/mcp.md', 'Options'],
    [
      'src/executors/host-bridge/host-bridge.ts',
      'HostBridgeOptions',
      'docs/host-bridge.md',
      'The governing side',
    ],
    ['src/mcp/proxy/create-proxy.ts', 'ProxyOptions', 'docs/proxy.md', 'Options'],
    ['src/tools/define-tool.ts', 'ToolDefinition', 'docs/tools.md', 'Defining one'],
  ])('%s: name every field of %s', (source, name, page, heading) => {
    const fields = fieldsOf(readHere(source), name);
    const named = tableRows(readHere(page), heading).flatMap(([cell = '']) => cell.split(/\W+/));

    expect(fields?.length).toBeGreaterThan(3);
    expect(fields?.filter((field) => !named.includes(field))).toEqual([]);
  });

  it('give the limits that hold when nobody sets any', () => {
    const defaults = Object.entries(DEFAULT_LIMITS).map(([name, value]) => [
      name,
      value.toLocaleString('en'),
    ]);
    const rows = tableRows(readHere('docs/dispatch.md'), 'Limits').map(([name, , value]) => [
      name,
      value,
    ]);

    expect(rows.filter(([, value]) => value !== 'none')).toEqual(defaults);
  });

  it('list the order rules of the bundled layers', () => {
    const {
      auditLog,
      telemetry,
      summary,
      consent,
      requiredReason,
      scopedExecutor,
      redaction,
      handoffArtifact,
      idempotency,
    } = middleware;
    const {
      rateLimit,
      record,
      replay,
      retry,
      outputLimit,
      dryRun,
      timeout,
      callLimit,
      repeatGuard,
      definitionPin,
      permissions,
      hooks,
    } = middleware;
    const bundled = [
      ...[
        auditLog('cloud'),
        telemetry({ captureContent: true }),
        summary(() => null),
        consent({}),
        requiredReason(),
        scopedExecutor({}),
      ],
      ...[
        redaction(),
        handoffArtifact(),
        idempotency({ mode: 'effect' }),
        rateLimit({ maxCalls: 1 }),
        retry(),
        outputLimit(),
        dryRun(),
      ],
      ...[
        timeout({ maxMs: 1 }),
        record({ file: 'calls.jsonl' }),
        replay({ file: join(root, 'examples/replay/weather.jsonl') }),
      ],
      ...[
        callLimit({ maxPrompts: 1 }),
        repeatGuard(),
        definitionPin(),
        permissions({ checkers: [] }),
        hooks({ hooks: [] }),
      ],
    ];
    const rules = bundled.flatMap(({ name, order = [] }) =>
      order.map((rule) => [
        name,
        `${rule.level} stand ${rule.insideOf === undefined ? 'outside' : 'inside'} \`${rule.insideOf ?? rule.outsideOf}\``,
        rule.because,
      ]),
    );

    expect(bundled.length).toBe(layers.length);
    expect(tableRows(readHere('docs/ordering.md'), 'Rules')).toEqual(rules);
  });

  it('list every door of the package', () => {
    const { exports } = JSON.parse(readHere('package.json')) as { readonly exports: object };
    const doors = Object.keys(exports).filter((door) => door !== './package.json');

    expect(
      tableRows(readHere('docs/doors.md'))
        .map(([door = '']) => door.replace('allium', '.'))
        .sort(),
    ).toEqual(doors.sort());
  });

  it.each([
    ['allium', allium],
    ['allium/layer', layer],
    ['allium/policy', policy],
    ['allium/stores', stores],
    ['allium/middleware', middleware],
    ['allium/conformance', conformance],
    ['allium/receipts', receipts],
    ['allium/telemetry', telemetry],
    ['allium/handoff', handoff],
    ['allium/consent', consentLibrary],
    ['allium/hooks', hooks],
    ['allium/idempotency', idempotency],
    ['allium/limits', limits],
    ['allium/outputs', outputs],
    ['allium/pins', pins],
    ['allium/recording', recording],
    ['allium/otel', otel],
    ['allium/config', config],
    ['allium/mcp', mcp],
    ['allium/artifacts', artifacts],
    ['allium/host-bridge', hostBridge],
    ['allium/acp', acp],
    ['allium/a2a', a2a],
  ])('mention every value that %s exports', (_entry, exports) => {
    expect(Object.keys(exports).length).toBeGreaterThan(0);
    expect(unmentioned(exports, docs)).toEqual([]);
  });
});

const example = [
  'const a = 1;',
  '  // #region one',
  '  const b = 2;',
  '',
  '    b;',
  '  // #endregion one',
].join('\n');
const shown = (code: string, before = '<!-- from examples/x/x.ts#one -->') =>
  `text\n${before}\n\`\`\`ts\n${code}\n\`\`\`\n`;
const readExample = (path: string) => (path === 'examples/x/x.ts' ? example : null);

describe('the check of code', () => {
  it('takes a region without its indentation', () => {
    expect(regionOf(example, 'one')).toBe('const b = 2;\n\n  b;');
    expect(fenceProblems(shown('const b = 2;\n\n  b;'), readExample)).toEqual([]);
  });

  it.each([
    ['code without a marker', shown('const b = 2;\n\n  b;', '')],
    [
      'a marker that does not stand directly before',
      shown('const b = 2;\n\n  b;', '<!-- from examples/x/x.ts#one -->\n'),
    ],
    ['a changed letter', shown('const b = 3;\n\n  b;')],
    ['a missing line', shown('const b = 2;')],
    ['another file', shown('const b = 2;\n\n  b;', '<!-- from examples/y/y.ts#one -->')],
    ['another region', shown('const b = 2;\n\n  b;', '<!-- from examples/x/x.ts#two -->')],
  ])('finds %s', (_name, page) => {
    expect(fenceProblems(page, readExample)).toHaveLength(1);
  });

  it('leaves other languages alone', () => {
    expect(fenceProblems('```sh\nnpm install\n```\n', readExample)).toEqual([]);
  });
});

describe('the check of imports', () => {
  const program = [
    "import assert from 'node:assert/strict';",
    "import {\n  a,\n  type B,\n  c as d,\n  unused,\n} from 'allium';",
    "import { e } from 'zod';",
    "import type { F } from 'zod';",
    '// #region one',
    "type X = B | F;\nconst x: X = d(a, e, y.unused, 'unused');",
    '// #endregion one',
    '// #region two',
    'assert(x);',
    '// #endregion two',
  ].join('\n');
  const read = () => program;
  const block = (marker: string, code: string) => `${marker}\n\`\`\`ts\n${code}\n\`\`\`\n\n`;
  const one = block('<!-- from examples/x/x.ts#one -->', regionOf(program, 'one') ?? '');
  const two = block('<!-- from examples/x/x.ts#two -->', 'assert(x);');
  const imports = "import { e, type F } from 'zod';\nimport { a, type B, c as d } from 'allium';";

  it('takes the names that a page uses, and no others', () => {
    expect(importsFor(one, read)).toBe(imports);
    expect(importsFor(one + two, read)).toBe(
      `import assert from 'node:assert/strict';\n${imports}`,
    );
    expect(importProblems(block('<!-- imports -->', imports) + one, read)).toEqual([]);
  });

  it('takes a whole program, and pages without code', () => {
    expect(importProblems(block('<!-- from examples/x/x.ts#all -->', program), read)).toEqual([]);
    expect(importProblems('# Words\n', read)).toEqual([]);
  });

  it.each([
    ['no imports', one],
    ['imports after other code', one + block('<!-- imports -->', imports)],
    ['too few', block('<!-- imports -->', "import { a } from 'allium';") + one],
    [
      'too many',
      block('<!-- imports -->', `import assert from 'node:assert/strict';\n${imports}`) + one,
    ],
  ])('finds %s', (_name, page) => {
    expect(importProblems(page, read)).not.toEqual([]);
  });
});

describe('the check of links', () => {
  const read = (path: string) =>
    path === 'other.md' ? '# Top\n\n## A `b`, c\n\n## A `b`, c\n' : null;

  it('follows files and headings, and leaves other sites alone', () => {
    const page =
      '# Here\n\n[a](other.md) [b](other.md#a-b-c-1) [c](#here) [d](https://example.org/x#y) `[e](gone.md)`\n';

    expect(linkProblems(page, read)).toEqual([]);
  });

  it.each([
    '[a](gone.md)',
    '[a](other.md#b)',
    '[a](#gone)',
    '[a](other.md#a-b-c-2)',
    '[a]: gone.md',
  ])('finds %s', (link) => {
    expect(linkProblems(`# Here\n\n${link}\n`, read)).toHaveLength(1);
  });

  it('takes no heading from inside a fence', () => {
    expect([...anchorsOf('# One\n\n```sh\n# not a heading\n```\n')]).toEqual(['one']);
  });
});

describe('the check of tables', () => {
  const page =
    '# P\n\n| a | b |\n|---|---|\n| `x` | y |\n\n## Options\n\n| option | what |\n|---|---|\n| `maxMs` | z |\n\n## Next\n';

  it('reads the rows of the first table, or of the one under a heading', () => {
    expect(tableRows(page)).toEqual([['x', 'y']]);
    expect(tableRows(page, 'Options')).toEqual([['maxMs', 'z']]);
  });

  it('reads nothing under a heading that has no table, or is not there', () => {
    expect(tableRows('## Options\n\nNone.\n\n## Next\n\n| a |\n|---|\n| b |\n', 'Options')).toEqual(
      [],
    );
    expect(tableRows(page, 'Gone')).toEqual([]);
  });

  it('finds the options of an interface, and otherwise the parameters of the factory', () => {
    const listed =
      'export interface AOptions {\n  /** x */\n  readonly only?: string;\n  readonly maxMs: number;\n}\nexport function a(options: AOptions) {}\n';

    expect(optionNames(listed)).toEqual(['only', 'maxMs']);
    expect(optionNames('export function b(format: F, more?: G): L {\n')).toEqual([
      'format',
      'more',
    ]);
    expect(
      fieldsOf('export interface D<S extends T> {\n  readonly a: S;\n  b?(): void;\n}\n', 'D'),
    ).toEqual(['a', 'b']);
    expect(fieldsOf('export interface D {\n}\n', 'E')).toBeNull();
  });
});

describe('the check of names', () => {
  it('wants functions called in code, and does not take prose for it', () => {
    const exports = { ok: () => {}, raise: () => {}, TABLE: {} };

    expect(unmentioned(exports, ['Status `ok`. Do raise(x) and see TABLE.'])).toEqual([
      'ok',
      'raise',
      'TABLE',
    ]);
    expect(unmentioned(exports, ['`ok(call)` and `TABLE`\n```ts\nraise(x)\n```\n'])).toEqual([]);
  });
});

describe('what a page says is printed', () => {
  it('is the fence or the table after the marker', () => {
    const page =
      '<!-- printed by examples/x/x.ts -->\n```text\none\n\ntwo\n```\n\n<!-- printed by examples/y/y.ts -->\n| a |\n|---|\n\nmore\n';

    expect(printedBlocks(page)).toEqual([
      { program: 'examples/x/x', text: 'one\n\ntwo' },
      { program: 'examples/y/y', text: '| a |\n|---|' },
    ]);
  });
});
