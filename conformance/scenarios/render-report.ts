/** How a suite ended, for people and for programs. */

import { match } from 'ts-pattern';
import type { Mismatch } from './match.ts';
import type { ScenarioResult, SuiteReport } from './run-scenarios.ts';

/** How a report is written. */
export type ReportFormat = 'text' | 'json' | 'junit' | 'tap';

/** Paints a word. The identity where there are no colours. */
export type Paint = (colour: 'red' | 'green' | 'dim' | 'bold', text: string) => string;

const plain: Paint = (_, text) => text;

/** The report as text that ends with a line feed. */
export const renderReport = (
  report: SuiteReport,
  format: ReportFormat,
  paint: Paint = plain,
): string =>
  match(format)
    .with('text', () => renderText(report, paint))
    .with('json', () => `${JSON.stringify(jsonOf(report), null, 2)}\n`)
    .with('junit', () => renderJunit(report))
    .with('tap', () => renderTap(report))
    .exhaustive();

function renderText(
  { subject, total, passed, failed, results }: SuiteReport,
  paint: Paint,
): string {
  const failures = results.filter(({ ok }) => !ok).map((result) => renderFailure(result, paint));
  const verdict =
    failed === 0
      ? paint('green', `${passed} passed`)
      : `${passed} passed, ${paint('red', `${failed} failed`)}`;
  return [
    ...failures,
    `${subject}: ${total} ${total === 1 ? 'scenario' : 'scenarios'}, ${verdict}\n`,
  ].join('\n');
}

/** What differed in one scenario. */
export function renderFailure(
  { id, title, file, mismatches }: ScenarioResult,
  paint: Paint = plain,
): string {
  const lines = mismatches.flatMap(({ path, expected, got }) => [
    `  ${visible(path)}`,
    paint('green', `    - expected ${visible(expected)}`),
    paint('red', `    + got      ${visible(got)}`),
  ]);
  return [
    `${paint('red', '✗')} ${paint('bold', id)}: ${visible(title)}`,
    paint('dim', `  ${file}`),
    ...lines,
    '',
  ].join('\n');
}

/** A subject says what it likes, also to a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const visible = (text: string): string =>
  text.replace(
    /[\u0000-\u001f\u007f-\u009f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const jsonOf = ({ subject, total, passed, failed, results }: SuiteReport): object => ({
  subject,
  total,
  passed,
  failed,
  results: results.map(({ id, file, ok, mismatches, durationMs }) => ({
    ...{ id, file, ok, duration_ms: Math.round(durationMs) },
    ...(ok ? {} : { mismatches }),
  })),
});

function renderJunit({ subject, total, failed, results }: SuiteReport): string {
  const seconds = (ms: number): string => (ms / 1000).toFixed(3);
  const cases = results.map((result) => {
    const [area = ''] = result.id.split('.');
    const head = `    <testcase classname="${xml(area)}" name="${xml(result.id)}" file="${xml(result.file)}" time="${seconds(result.durationMs)}"`;
    return result.ok
      ? `${head}/>`
      : `${head}>\n      <failure message="${xml(result.title)}">${xml(listed(result.mismatches))}</failure>\n    </testcase>`;
  });
  const time = seconds(results.reduce((sum, { durationMs }) => sum + durationMs, 0));
  const counts = `tests="${total}" failures="${failed}" errors="0" skipped="0" time="${time}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="${xml(subject)}" ${counts}>`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};
const xml = (text: string): string =>
  visible(text).replace(/[&<>"']/g, (unit) => ENTITIES[unit] ?? unit);

const listed = (mismatches: readonly Mismatch[]): string =>
  mismatches
    .map(({ path, expected, got }) => `${path}: expected ${expected}, got ${got}`)
    .join(' · ');

function renderTap({ total, results }: SuiteReport): string {
  const lines = results.flatMap(({ id, title, ok, mismatches }, index) => {
    // A hash sign would begin a directive.
    const line = `${ok ? 'ok' : 'not ok'} ${index + 1} - ${visible(`${id}: ${title}`).replace(/#/g, '\\#')}`;
    return ok
      ? [line]
      : [line, '  ---', `  message: ${JSON.stringify(listed(mismatches))}`, '  ...'];
  });
  return ['TAP version 14', `1..${total}`, ...lines, ''].join('\n');
}
