import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../fuzz/random.ts';
import { licenceProse, measureCosts } from './measure-cost.ts';
import { measureDocuments, measureKinds, survives } from './measure-redaction.ts';
import { collectDocuments } from './ordinary-documents.ts';
import { FEWEST_FOUND, MOST_ALTERED, MOST_COST, throughRedaction } from './run-redaction.ts';
import { SECRET_KINDS } from './secret-kinds.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const { documents, kinds } = collectDocuments(root, 300);

describe('redaction, measured', () => {
  it('finds 95 of a hundred kinds of secrets', async () => {
    const findings = await measureKinds(throughRedaction(), { seed: 20_260_101 });
    const missed = findings
      .filter(({ found }) => !found)
      .map(({ id, survivors }) => `${id}: ${survivors.map(({ carrier }) => carrier).join(', ')}`);

    expect(findings.length).toBeGreaterThanOrEqual(300);
    expect(missed.length * 100, missed.join('\n')).toBeLessThanOrEqual(
      findings.length * (100 - FEWEST_FOUND),
    );
  });

  it('alters at most 5 of a thousand ordinary documents', async () => {
    const altered = await measureDocuments(throughRedaction(), documents);
    const shown = altered
      .map(({ name, before, after }) => `${name}\n- ${before}\n+ ${after}`)
      .join('\n');

    expect(documents).toHaveLength(300);
    expect(altered.length * 100, shown).toBeLessThanOrEqual(documents.length * MOST_ALTERED);
  });
});

describe('the measure of redaction', () => {
  it('names every kind once, says where it is from, and shows its secret in every sample', () => {
    const random = createRandom(7);
    const samples = SECRET_KINDS.flatMap((kind) =>
      Array.from({ length: 20 }, () => ({ id: kind.id, ...kind.make(random) })),
    );

    expect(new Set(SECRET_KINDS.map(({ id }) => id)).size).toBe(SECRET_KINDS.length);
    expect(SECRET_KINDS.filter(({ source }) => !/^[a-z-]+: \S/.test(source))).toEqual([]);
    expect(
      samples.filter(({ secret, text }) => secret.length < 7 || !survives(secret, text)),
    ).toEqual([]);
    expect(
      samples.filter(({ text }) => /\{~|\{(?:password|uuid|hex|base\d|lower)\b/.test(text)),
    ).toEqual([]);
  });

  it('makes the same samples of the same seed, and others of another', () => {
    const made = (seed: number) => SECRET_KINDS.map((kind) => kind.make(createRandom(seed)).text);
    const [first, again, other] = [made(1), made(1), made(2)];

    expect(again).toEqual(first);
    expect(other.filter((text, index) => text === first[index])).toEqual([]);
  });

  it('finds what costs more than prose of the same length', async () => {
    const prose = licenceProse(root, 2_000);
    let work = 0;
    // The naive cleaner looks at what is behind a dash again and again.
    const naive = (text: string) => {
      for (let dash = text.indexOf('-'); dash !== -1; dash = text.indexOf('-', dash + 1))
        for (const _ of text) work += 1;
      return text;
    };
    const costs = await measureCosts(naive, { seed: 1, prose, step: 90, mixes: 2 });

    expect(work).toBeGreaterThan(0);
    expect(costs[0]?.ratio).toBeGreaterThan(MOST_COST);
    expect(costs[0]?.name).toMatch(/-|prefixes/);
  });

  it('collects the same documents twice, evenly over the kinds that are installed', () => {
    const again = collectDocuments(root, 300);
    const counts = Object.values(kinds).filter((count) => count > 0);

    expect(again.documents.map(({ name }) => name)).toEqual(documents.map(({ name }) => name));
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(300 / counts.length);
    expect(documents.filter(({ text }) => text.length > 65_536)).toEqual([]);
  });

  it('says what is not installed, and goes on without it', () => {
    const elsewhere = collectDocuments(join(root, 'no such folder'), 40);

    expect(elsewhere.documents).toHaveLength(40);
    expect(elsewhere.kinds).toMatchObject({ source: 0, JSON: 0, commits: 0 });
  });

  it('catches a cleaner that knows nothing but `password=`', async () => {
    const findings = await measureKinds((text) => text.replace(/password=\S+/gi, 'password=***'));

    expect(findings.filter(({ found }) => found).length * 100).toBeLessThan(findings.length * 5);
    expect(await measureDocuments((text) => text, documents)).toEqual([]);
  });

  it('catches a cleaner that masks half of a token, and one that only colours it', async () => {
    const half = await measureKinds((text) =>
      text.replace(/[\w-]{16,}/g, (token) => token.slice(0, Math.ceil(token.length * 0.8))),
    );
    const coloured = await measureKinds((text) => text.split('').join('\u001b[0m'));

    expect(half.filter(({ found }) => !found).length * 2).toBeGreaterThan(half.length);
    expect(coloured.filter(({ found }) => found)).toEqual([]);
  });

  it('catches a cleaner that masks everything', async () => {
    const findings = await measureKinds(() => '***');
    const altered = await measureDocuments(() => '***', documents);

    expect(findings.filter(({ found }) => !found)).toEqual([]);
    expect(altered).toHaveLength(documents.length);
  });

  it('catches a cleaner that masks whatever looks random', async () => {
    const altered = await measureDocuments(
      (text) => text.replace(/\b(?=\w*\d)(?=\w*[a-z])\w{24,}\b/gi, '***'),
      documents,
    );

    expect(altered.length * 100).toBeGreaterThan(documents.length * MOST_ALTERED);
  });
});
