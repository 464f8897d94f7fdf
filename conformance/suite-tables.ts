/**
 * Which scenarios prove which requirement, and where statements of earlier systems went: from the
 * files of the suite.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadScenarios } from './scenarios/load-scenarios.ts';
import type { Scenario } from './scenarios/scenario.ts';

/** A requirement, in one sentence, and the scenarios that prove it. */
export interface Requirement {
  readonly id: string;
  readonly area: string;
  readonly statement: string;
  readonly scenarios: readonly Scenario[];
}

/** A statement of an earlier system: kept, and shown by scenarios or by tests, or not kept. */
export interface Ancestry {
  readonly system: string;
  readonly section: string;
  readonly statement: string;
  readonly scenarios?: readonly string[];
  /** For what no scenario can show: `file › title`. */
  readonly tests?: readonly string[];
  /** Why not, or what holds instead. */
  readonly notKept?: string;
}

const areaOf = ({ id }: Scenario): string => id.split('.')[0] ?? '';

/**
 * All requirements, area by area, in the order of their files. One that no file states has no
 * statement, and neither has a scenario without one.
 */
export function requirementsOf(suite: string): readonly Requirement[] {
  const scenarios = loadScenarios(suite).map(({ scenario }) => scenario);
  return [...new Set(scenarios.map(areaOf))].sort().flatMap((area) => {
    const own = scenarios.filter((scenario) => areaOf(scenario) === area);
    const stated = statementsOf(join(suite, area, 'requirements.json'));
    const ids = [
      ...new Set([...Object.keys(stated), ...own.map(({ requirement = '' }) => requirement)]),
    ];
    return ids.map((id) => ({
      id,
      area,
      statement: stated[id] ?? '',
      scenarios: own.filter(({ requirement }) => requirement === id),
    }));
  });
}

function statementsOf(path: string): Readonly<Record<string, string>> {
  // The files are part of the suite; the tests look at what is in them.
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Record<string, string>) : {};
}

/** What became of the statements of earlier systems. */
export const ancestryOf = (suite: string): readonly Ancestry[] =>
  readdirSync(suite)
    .filter((name) => /^ancestry-.*\.json$/.test(name))
    .sort()
    // The files are part of the suite; the tests look at what is in them.
    .flatMap((name) => JSON.parse(readFileSync(join(suite, name), 'utf8')) as readonly Ancestry[]);

/** The rows of the table of requirements in the docs. */
export const requirementRows = (suite: string): readonly (readonly string[])[] =>
  requirementsOf(suite).map(({ id, area, statement, scenarios }) => [
    id,
    statement,
    scenarios.map((scenario) => `\`${scenario.id.slice(area.length + 1)}\``).join(', '),
  ]);

/** The rows of the table of earlier systems in the docs. */
export const ancestryRows = (suite: string): readonly (readonly string[])[] =>
  ancestryOf(suite).map(({ system, section, statement, scenarios = [], tests = [], notKept }) => [
    `${system} ${section}`,
    statement,
    notKept === undefined
      ? [...scenarios, ...tests].map((shown) => `\`${shown}\``).join(', ')
      : `not kept: ${notKept}`,
  ]);

/** What the suite and the tests know. */
export interface Evidence {
  readonly scenarios: ReadonlySet<string>;
  /** The text of a test file, or `null` where there is none. */
  readonly readTests: (path: string) => string | null;
}

/**
 * A reason that speaks of the future goes stale when the future comes; a statement that is kept is
 * no row of what is not.
 */
const UNSETTLED = /\b(comes? with|yet|later|soon|will|planned)\b|^kept\b/i;

/** Where a row says what the suite and the tests do not bear out. */
export function ancestryProblems(
  rows: readonly Ancestry[],
  { scenarios: known, readTests }: Evidence,
): readonly string[] {
  const areas = new Set([...known].map((id) => id.split('.')[0]));
  return rows.flatMap(({ statement, scenarios, tests, notKept }) => {
    const said = (notKept?.match(/\b[a-z-]+\.[a-z0-9-]+\b/g) ?? []).filter((id) =>
      areas.has(id.split('.')[0]),
    );
    const isUnsettled = notKept !== undefined && UNSETTLED.test(notKept);
    return [
      ...([scenarios, tests, notKept].filter((each) => each !== undefined && each.length > 0)
        .length === 1
        ? []
        : ['says not one thing']),
      ...[...(scenarios ?? []), ...said]
        .filter((id) => !known.has(id))
        .map((id) => `there is no scenario ${id}`),
      ...(tests ?? [])
        .filter((test) => !isThere(test, readTests))
        .map((test) => `there is no test ${test}`),
      ...(isUnsettled ? [`"${notKept}" is not settled`] : []),
    ].map((problem) => `${statement} ${problem}`);
  });
}

function isThere(test: string, readTests: Evidence['readTests']): boolean {
  const [path = '', title = ''] = test.split(' › ');
  if (title === '' || !path.endsWith('.test.ts')) return false;
  // Long calls have their title on a line of its own.
  const text = (readTests(path) ?? '').replace(/\(\s+'/g, "('");
  return text.includes(`('${title}'`);
}
