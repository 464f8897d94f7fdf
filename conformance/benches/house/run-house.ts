/**
 * What `npm run house` does: prints every figure beside its goal, and below what stands in the way.
 * Exits with 1 when a figure has got worse. With `--json` it prints what it measured as data.
 */

import { resolve } from 'node:path';
import { type House, isKept, limitOf, measureCheckout, RULES } from './house.ts';
import { type CallFigures, entriesOf, measureCall } from './measure-call.ts';
import type { Place, TreeFigures } from './measure-tree.ts';

const built = resolve(import.meta.dirname, '../../..');
const house: House = {
  tree: measureCheckout(resolve(built, '../..')),
  call: await measureCall(built),
};
if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify(house)}\n`);
else {
  const lines = [...figures(house), ...tree(house.tree), ...call(house.call)];
  process.stdout.write(`${lines.join('\n')}\n`);
  process.exitCode = RULES.every((rule) => isKept(rule, house)) ? 0 : 1;
}

function figures(measured: House): readonly string[] {
  const { files, lines } = measured.tree;
  return [
    `src and middleware: ${lines} lines in ${files} files`,
    '',
    row('measured', 'goal', 'limit', ''),
    ...RULES.map((rule) => {
      const mark = isKept(rule, measured) ? '' : ' ✗';
      return row(rule.of(measured), rule.goal, limitOf(rule), `${rule.what}${mark}`);
    }),
  ];
}

function row(...[measured, goal, limit, what]: readonly (number | string)[]): string {
  const cells = [measured, goal, limit].map((cell) => String(cell).padStart(9));
  return `${cells.join('')}  ${what}`.trimEnd();
}

function tree({ singleImporters, longLines, functions, layers }: TreeFigures): readonly string[] {
  const places = (found: readonly Place[]) =>
    found.map(({ file, line, size }) => `  ${String(size).padStart(4)}  ${file}:${line}`);
  return [
    ...['', 'functions over 50 lines'],
    ...places(functions.filter(({ size }) => size > 50)),
    ...['', 'folders of layers'],
    ...layers.map(({ folder, lines }) => `  ${String(lines).padStart(4)}  ${folder}`),
    ...['', 'lines over 100 columns'],
    ...places(longLines),
    ...['', 'files that one other file imports'],
    ...singleImporters.map((file) => `  ${file}`),
  ];
}

function call({ files, functions, entries, freezes }: CallFigures): readonly string[] {
  return [
    '',
    `a captain call: ${files.length} files, ${functions} functions, ${entries} entries, ${freezes} freezes`,
    ...files.flatMap((file) => {
      const frozen = file.freezes === 0 ? '' : `, ${file.freezes} freezes`;
      const names = file.functions.map(({ name, count }) =>
        count === 1 ? name : `${name} ×${count}`,
      );
      return [
        `  ${String(entriesOf(file)).padStart(4)}  ${file.file} (${names.length} functions${frozen})`,
        `          ${names.join(' · ')}`,
      ];
    }),
  ];
}
