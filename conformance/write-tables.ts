/**
 * Writes the tables of the suite into docs/conformance-tables.md: `npm run docs:conformance`. A
 * test holds the page to them.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { ancestryRows, requirementRows } from './suite-tables.ts';

const PAGE = 'docs/conformance-tables.md';
const SUITE = 'conformance/suite';

const cell = (text: string): string => text.replace(/\|/g, '\\|').replace(/\s+/g, ' ');

function withTable(
  page: string,
  name: string,
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const lines = [head, head.map(() => '---'), ...rows].map(
    (row) => `|${row.map((text) => (text === '---' ? text : ` ${cell(text)} `)).join('|')}|`,
  );
  const [begin, end] = [`<!-- ${name} -->\n`, `<!-- end of ${name} -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from === -1 || to === -1) throw new Error(`${PAGE} has no place for the table of ${name}`);
  return `${page.slice(0, from + begin.length)}\n${lines.join('\n')}\n\n${page.slice(to)}`;
}

const page = readFileSync(PAGE, 'utf8');
const withRequirements = withTable(
  page,
  'requirements',
  ['requirement', 'what it says', 'scenarios'],
  requirementRows(SUITE),
);
writeFileSync(
  PAGE,
  withTable(
    withRequirements,
    'earlier systems',
    ['system', 'what it says', 'scenarios'],
    ancestryRows(SUITE),
  ),
);
