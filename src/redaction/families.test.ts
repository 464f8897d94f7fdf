import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FAMILIES, LABELS } from './families/index.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/redaction.md'), 'utf8');

describe('the table of families', () => {
  it('is on the page, with every label and every prefix', () => {
    const missing = FAMILIES.flatMap(({ label, prefixes }) => [label, ...prefixes]).filter(
      (word) => !page.includes(`\`${word.replaceAll('|', '\\|')}\``),
    );

    expect(missing).toEqual([]);
    expect(LABELS.filter((label) => !page.includes(`\`${label}\``))).toEqual([]);
  });

  it('has no row on the page that is not in it', () => {
    const labels = [...page.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, label]) => label);

    expect(labels.length).toBeGreaterThan(150);
    expect(labels.filter((label) => !LABELS.includes(label ?? ''))).toEqual([]);
  });

  it('has prefixes that can be found, bounded bodies, and sticky forms', () => {
    for (const { prefixes, min, max, shape } of FAMILIES) {
      for (const prefix of prefixes) expect(prefix.length).toBeGreaterThanOrEqual(3);
      expect(shape === undefined ? max >= min && max <= 3_000 : shape.sticky).toBe(true);
    }
  });
});
