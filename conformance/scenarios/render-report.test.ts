import { describe, expect, it } from 'vitest';
import { renderReport } from './render-report.ts';
import type { SuiteReport } from './run-scenarios.ts';

const hostile = 'x\u001b[31m<&"\n#';
const REPORT: SuiteReport = {
  subject: 'mine',
  total: 2,
  passed: 1,
  failed: 1,
  results: [
    {
      id: 'area.one',
      title: 'one is so',
      file: 'suite/one.yaml',
      ok: true,
      mismatches: [],
      durationMs: 1.4,
    },
    {
      id: 'area.two',
      title: `two is ${hostile}`,
      file: 'suite/two.yaml',
      ok: false,
      mismatches: [{ path: 'steps[0].status', expected: '"ok"', got: hostile }],
      durationMs: 2.6,
    },
  ],
};

describe('renderReport', () => {
  it('text: shows a failure with its place, both values, and the counts', () => {
    const text = renderReport({ ...REPORT, results: REPORT.results.slice(1) }, 'text');

    expect(text.split('\n')).toEqual([
      '✗ area.two: two is x\\u001b[31m<&"\\u000a#',
      '  suite/two.yaml',
      '  steps[0].status',
      '    - expected "ok"',
      '    + got      x\\u001b[31m<&"\\u000a#',
      '',
      'mine: 2 scenarios, 1 passed, 1 failed',
      '',
    ]);
  });

  it('text: paints where it is told to', () => {
    expect(renderReport(REPORT, 'text', (colour, text) => `<${colour}>${text}</>`)).toContain(
      '<red>1 failed</>',
    );
  });

  it('json: has the counts and each scenario', () => {
    expect(JSON.parse(renderReport(REPORT, 'json'))).toEqual({
      ...{ subject: 'mine', total: 2, passed: 1, failed: 1 },
      results: [
        { id: 'area.one', file: 'suite/one.yaml', ok: true, duration_ms: 1 },
        {
          id: 'area.two',
          file: 'suite/two.yaml',
          ok: false,
          duration_ms: 3,
          mismatches: [{ path: 'steps[0].status', expected: '"ok"', got: hostile }],
        },
      ],
    });
  });

  it('junit: escapes what is markup', () => {
    const xml = renderReport(REPORT, 'junit');

    expect(xml).toContain(
      '<testsuite name="mine" tests="2" failures="1" errors="0" skipped="0" time="0.004">',
    );
    expect(xml).toContain(
      '<testcase classname="area" name="area.one" file="suite/one.yaml" time="0.001"/>',
    );
    expect(xml).toContain('<failure message="two is x\\u001b[31m&lt;&amp;&quot;\\u000a#">');
    expect(xml).not.toContain('\u001b');
  });

  it('tap: has a line for each scenario, and no directive from a title', () => {
    expect(renderReport(REPORT, 'tap').split('\n').slice(0, 4)).toEqual([
      'TAP version 14',
      '1..2',
      'ok 1 - area.one: one is so',
      'not ok 2 - area.two: two is x\\u001b[31m<&"\\u000a\\#',
    ]);
  });
});
