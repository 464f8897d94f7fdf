import { describe, expect, it } from 'vitest';
import { builtinSubject, createSubject } from './create-subject.ts';
import { describeScenarios } from './describe-scenarios.ts';
import { parseScenario } from './load-scenarios.ts';
import { runScenario, runScenarios } from './run-scenarios.ts';
import type { Subject } from './subject.ts';
import { suiteFolder } from './suite-folder.ts';

const HEAD = 'id: area.one\ntitle: it is so\nrequirement: AB-1\nsource: here\n';

/** What differed, as `path: got`. */
async function differences(
  text: string,
  subject: Subject = builtinSubject,
): Promise<readonly string[]> {
  const { mismatches } = await runScenario(
    { file: 'a.yaml', scenario: parseScenario(HEAD + text, 'a.yaml') },
    subject,
  );
  return mismatches.map(({ path, got }) => `${path}: ${got}`);
}

describe('runScenario', () => {
  it('passes where everything is as expected', async () => {
    expect(
      await differences('steps: [{ call: echo, args: { a: 1 }, expect: { result: { a: 1 } } }]\n'),
    ).toEqual([]);
  });

  it('says what a call came to instead', async () => {
    expect(await differences('steps: [{ call: echo, expect: { status: timeout } }]\n')).toEqual([
      'steps[0].status: "ok"',
    ]);
  });

  it.each([
    [
      'an answer that nobody asked for',
      'script: [echo, echo]',
      ['script: tool t: 1 scripted answers were not asked for'],
    ],
    [
      'a call beyond the last answer',
      'script: []',
      ['script: tool t: asked 1 times, 0 answers are scripted'],
    ],
  ])('fails for %s', async (_name, script, differed) => {
    expect(
      await differences(`tools: [{ name: t, ${script} }]\nsteps: [{ call: t, expect: {} }]\n`),
    ).toEqual(differed);
  });

  it('fails for a callback that is not asked, and for one that is asked too often', async () => {
    const scenario = (answers: string) =>
      `layers: [{ consent: { $script: ${answers} } }]\nsteps: [{ call: echo, expect: {} }]\n`;

    expect(await differences(scenario('[true]'))).toEqual([]);
    expect(await differences(scenario('[true, true]'))).toEqual([
      expect.stringContaining('1 scripted answers were not asked for'),
    ]);
    expect(await differences(scenario('[]'))).toEqual([
      expect.stringContaining('asked 1 times, 0 answers are scripted'),
    ]);
  });

  it.each([
    [
      'reached a tool',
      'received: []',
      ['received: 1 items: [{"tool":"echo","args":{},"call_id":"call-1"}]'],
    ],
    ['was told to a sink', 'receipts: []', [expect.stringMatching(/^receipts: 1 items/)]],
    ['was emitted', 'events: []', [expect.stringMatching(/^events: \d items/)]],
    [
      'must be nowhere',
      'nowhere: [call-1]',
      ['results: it is there', 'events: it is there', 'receipts: it is there'],
    ],
  ])('sees at the end what %s', async (_name, expected, differed) => {
    expect(
      await differences(
        `layers: [{ auditLog: { $sink: receipts } }]\nsteps: [{ call: echo }]\nexpect: { ${expected} }\n`,
      ),
    ).toEqual(differed);
  });

  it('does not count what a tool received as a leak', async () => {
    expect(
      await differences(
        'layers: [{ dryRun: {} }]\nsteps: [{ call: echo, args: { a: canary } }]\nexpect: { nowhere: [canary] }\n',
      ),
    ).not.toEqual([]);
    expect(
      await differences(
        'tools: [{ name: t, answers: { respond: 1 } }]\nsteps: [{ call: t, args: { a: canary } }]\nexpect: { nowhere: [canary] }\n',
      ),
    ).toEqual(['results: it is there']);
  });

  it('demands that a stack fails where it is expected to, and as expected', async () => {
    const wrong = 'layers: [{ timeout: { maxMs: 1 } }, { consent: { $always: true } }]\n';

    expect(await differences(`${wrong}expect: { throws: { code: ERR_LAYER_ORDER } }\n`)).toEqual(
      [],
    );
    expect(await differences(`${wrong}expect: { throws: { code: ERR_OTHER } }\n`)).toEqual([
      'throws.code: "ERR_LAYER_ORDER"',
    ]);
    expect(await differences('expect: { throws: { code: ERR_LAYER_ORDER } }\n')).toEqual([
      'the stack: it was put together',
    ]);
    expect(await differences(`${wrong}steps: [{ call: echo, expect: {} }]\n`)).toEqual([
      expect.stringMatching(/^the stack: .*ERR_LAYER_ORDER/),
    ]);
  });

  it('moves time only when it is told to', async () => {
    const scenario = (ms: number, expected: string) =>
      `tools: [{ name: t, answers: { respond: 1, afterMs: 100 } }]\nsteps: [{ call: t, begin: a }, { advance: ${ms} }, { result: a, expect: ${expected} }]\n`;

    expect(await differences(scenario(100, '{ result: 1 }'))).toEqual([]);
  });

  it('lets a caller go away', async () => {
    const text =
      'tools: [{ name: t, answers: { hang: true } }]\nsteps: [{ call: t, begin: a }, { abort: a }, { result: a, expect: { status: cancelled } }]\n';

    expect(await differences(text)).toEqual([]);
  });

  it('begins parallel calls before any ends, and judges each and all', async () => {
    const text = (limit: number) =>
      `layers: [{ rateLimit: { maxCalls: ${limit} } }]\nsteps:\n  - parallel: [{ call: echo }]\n    times: 5\n    expect: { $count: { of: { status: ok }, is: 2 } }\n`;

    expect(await differences(text(2))).toEqual([]);
    expect(await differences(text(3))).toEqual(['steps[0]: 3 of 5']);
  });

  it('fails, and does not reject, when the subject breaks', async () => {
    const broken: Subject = {
      name: 'broken',
      open: () =>
        Promise.resolve({
          do: () => Promise.reject(new Error('boom')),
          finish: () => Promise.reject(new Error('no')),
        }),
    };

    expect(await differences('steps: [{ call: echo, expect: {} }]\n', broken)).toEqual([
      'the subject: boom',
    ]);
  });

  it('does not tell the subject what is expected of it', async () => {
    const told: unknown[] = [];
    const spy: Subject = {
      name: 'spy',
      async open(setup) {
        const session = await builtinSubject.open(setup);
        told.push(setup);
        return {
          do: (step) => (told.push(step), session.do(step)),
          finish: () => session.finish(),
        };
      },
    };
    await differences(
      'steps: [{ parallel: [{ call: echo, expect: { status: ok } }], expect: { $length: 1 } }]\nexpect: { timers: 0 }\n',
      spy,
    );

    expect(told).toEqual([{}, { parallel: [{ call: 'echo' }] }]);
  });

  it('judges layers of somebody else under the names of scenarios', async () => {
    const open = createSubject({
      name: 'open',
      factories: { rateLimit: () => ({ name: 'rateLimit', caller: (call, next) => next(call) }) },
    });

    expect(
      await differences(
        'layers: [{ rateLimit: { maxCalls: 0 } }]\nsteps: [{ call: echo, expect: { status: rate_limited } }]\n',
        open,
      ),
    ).toEqual(['steps[0].status: "ok"']);
  });
});

describe('runScenarios', () => {
  it('counts, tells of each, and stops when it is told to', async () => {
    const heard: string[] = [];
    const stop = new AbortController();
    const report = await runScenarios(suiteFolder(), builtinSubject, {
      filter: 'rate-limit.',
      onResult: ({ id }, nth, total) => {
        heard.push(`${nth} of ${total}`);
        expect(id).toContain('rate-limit.');
        stop.abort();
      },
      signal: stop.signal,
    });

    expect(report).toMatchObject({ subject: 'allium', total: 1, passed: 1, failed: 0 });
    expect(heard).toEqual([expect.stringMatching(/^1 of \d+$/)]);
  });
});

describe('describeScenarios', () => {
  it('makes a group for each area and a case for each scenario, and a case fails with what differed', async () => {
    const groups: string[] = [];
    const cases: (() => Promise<void>)[] = [];
    const open = createSubject({
      name: 'open',
      factories: { rateLimit: () => ({ name: 'rateLimit', caller: (call, next) => next(call) }) },
    });
    describeScenarios(`${suiteFolder()}/rate-limit/admits-up-to-its-limit.yaml`, open, {
      describe: (name, body) => (groups.push(name), body()),
      it: (_name, body) => void cases.push(body),
    });

    expect(groups).toEqual(['rate-limit']);
    await expect(cases[0]?.()).rejects.toThrow(/expected "rate_limited"/);
  });
});
