import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type House, isKept, limitOf, RULES } from './benches/house/house.ts';
import { measureTree } from './benches/house/measure-tree.ts';

const root = resolve(import.meta.dirname, '..');
/** In a process of its own, on files built one for one: a test runner adds functions to a file. */
const program = resolve(root, 'dist/programs/conformance/benches/house/run-house.js');
const house = JSON.parse(
  execFileSync(process.execPath, [program, '--json'], { encoding: 'utf8', maxBuffer: 2 ** 26 }),
) as House;

describe('the house', () => {
  it('is measured: figures of nothing would be perfect', () => {
    expect(house.tree.files).toBeGreaterThan(300);
    expect(house.tree.functions.length).toBeGreaterThan(2_000);
    expect(house.call.files.map(({ file }) => file)).toEqual(
      expect.arrayContaining(['src/core/onion/frame.js', 'middleware/timeout/timeout.js']),
    );
    expect(house.call.freezes).toBeGreaterThan(0);
  });

  it.each(RULES)('is kept: $what (goal $goal)', (rule) => {
    expect(
      isKept(rule, house),
      `${rule.of(house)}, where the limit is ${limitOf(rule)}: \`npm run house\` shows where`,
    ).toBe(true);
  });

  it.each(RULES.filter(({ now }) => now !== undefined))(
    'does not allow more than its goal for nothing: $what',
    ({ goal, now, atLeast }) => {
      expect(atLeast === true ? (now ?? 0) < goal : (now ?? 0) > goal).toBe(true);
    },
  );
});

describe('the measure of the tree', () => {
  const measured = (files: Readonly<Record<string, string>>, doors: readonly string[] = []) =>
    measureTree(new Map(Object.entries(files)), new Set(doors));

  it('finds files with one importer, by types, re-exports and later loading too', () => {
    const { singleImporters } = measured(
      {
        'src/a.ts': `import type { B } from './b.ts';\nexport { c } from './sub/c.ts';\nimport('./d.ts');\n`,
        'src/e.ts': `import { two } from './two.ts';\nimport { door } from './door.ts';\n`,
        'src/sub/c.ts': `import { two } from '../two.ts';\n`,
        ...{ 'src/b.ts': '', 'src/d.ts': '', 'src/two.ts': '', 'src/door.ts': '' },
      },
      ['src/door.ts'],
    );

    expect(singleImporters).toEqual(['src/b.ts', 'src/d.ts', 'src/sub/c.ts']);
  });

  it('finds long lines that no string, template or pattern makes long', () => {
    const long = 'x'.repeat(99);
    const { longLines } = measured({
      'src/a.ts': [
        `const ${long} = 1;`,
        `const a = '${long}';`,
        `const b = \`${long}\n${long}x\`;`,
        `const c = /${long}/;`,
        `const d = 'short'; // ${long}`,
      ].join('\n'),
    });

    expect(longLines.map(({ line }) => line)).toEqual([1, 6]);
  });

  it('measures functions from their first line to their last, inner ones for both', () => {
    const { functions } = measured({
      'src/a.ts': [
        'export function outer() {',
        '  const inner = () => {',
        '    return 1;',
        '  };',
        '  return inner;',
        '}',
        'const expression = () =>',
        '  1;',
      ].join('\n'),
    });

    expect(functions).toEqual([
      { file: 'src/a.ts', line: 1, size: 6 },
      { file: 'src/a.ts', line: 2, size: 3 },
    ]);
  });

  it('counts lines of comments in core, none that only ends with one', () => {
    const { coreComments } = measured({
      'src/core/a.ts': '/**\n * Two.\n */\nconst a = 1; // Not this.\n\n// One.\n',
      'src/other.ts': '// Elsewhere.\n',
    });

    expect(coreComments).toBe(4 / 6);
  });

  it('adds up the folders of layers', () => {
    const { layers } = measured({
      'middleware/index.ts': 'a;\n',
      'middleware/one/one.ts': 'a;\nb;\n',
      'middleware/two/two.ts': 'a;\nb;\n',
      'middleware/two/options.ts': 'a;\n',
    });

    expect(layers).toEqual([
      { folder: 'two', lines: 3 },
      { folder: 'one', lines: 2 },
    ]);
  });
});
