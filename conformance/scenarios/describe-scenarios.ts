/**
 * Scenarios as the cases of a test runner. The runner's own functions are handed in, so that any
 * will do.
 */

import { type LoadedScenario, loadScenarios } from './load-scenarios.ts';
import { runScenario, type ScenarioResult } from './run-scenarios.ts';
import { renderFailure } from './render-report.ts';
import type { Subject } from './subject.ts';

/** What vitest, node:test, jest and mocha have in common. */
export interface TestFunctions {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly it: (name: string, body: () => Promise<void>) => unknown;
}

/** A case for each scenario, in a group for each area. A case that fails shows what differed. */
export function describeScenarios(
  fileOrFolder: string,
  subject: Subject,
  { describe, it }: TestFunctions,
): void {
  const areas = new Map<string, LoadedScenario[]>();
  for (const loaded of loadScenarios(fileOrFolder)) {
    const [area = ''] = loaded.scenario.id.split('.');
    areas.set(area, [...(areas.get(area) ?? []), loaded]);
  }
  for (const [area, scenarios] of areas) {
    describe(area, () => {
      for (const loaded of scenarios)
        it(loaded.scenario.title, async () => demand(await runScenario(loaded, subject)));
    });
  }
}

function demand(result: ScenarioResult): void {
  if (!result.ok) throw new Error(renderFailure(result));
}
