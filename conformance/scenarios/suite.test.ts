import { join } from 'node:path';
import { expect, it } from 'vitest';
import { builtinSubject } from './create-subject.ts';
import { runScenarios } from './run-scenarios.ts';
it('passes', async () => {
  const report = await runScenarios(join(import.meta.dirname, '../suite'), builtinSubject);
  expect(report.results.filter(({ ok }) => !ok)).toEqual([]);
});
