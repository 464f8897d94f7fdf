import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { builtinSubject } from './create-subject.ts';
import { parseScenario } from './load-scenarios.ts';
import { runScenario } from './run-scenarios.ts';
import { serveSubject } from './serve-subject.ts';

const HEAD =
  'id: a.b\ntitle: a title\nrequirement: AA-1\nsource: here\nlayers: [{ consent: { default: ask } }]\n';
const scenario = (body: string) => parseScenario(HEAD + body, 'a.yaml');

const mismatchesOf = async (body: string) =>
  (await runScenario({ file: 'a.yaml', scenario: scenario(body) }, builtinSubject)).mismatches;

describe('steps that resume', () => {
  it('answer the last question about a call, and are refused the second time', async () => {
    const body = `
steps:
  - { call: echo, expect: { status: approval_required } }
  - { resume: call-1, decision: { decision: allow_once, decidedBy: ada }, expect: { status: ok, approval: { decided_by: ada } } }
  - { resume: call-1, decision: { decision: allow_once }, expect: { throws: { code: ERR_APPROVAL_RESOLVED } } }
  - { resume: call-9, decision: { decision: allow_once }, expect: { throws: { code: ERR_UNKNOWN_APPROVAL } } }
expect: { received: [{ call_id: call-1 }] }
`;
    expect(await mismatchesOf(body)).toEqual([]);
  });

  it('go on with what was written down elsewhere', async () => {
    const body = `
steps:
  - { call: echo }
  - { resume: call-1, expect: { throws: { code: ERR_APPROVAL_PENDING } } }
  - { answer: call-1, decision: { decision: reject_once, reason: no } }
  - { answer: call-1, decision: { decision: allow_once }, expect: { throws: { code: ERR_APPROVAL_RESOLVED } } }
  - { resume: call-1, expect: { status: consent_denied } }
expect: { received: [] }
`;
    expect(await mismatchesOf(body)).toEqual([]);
  });

  it('come in parallel, and of those that come at once one counts', async () => {
    const body = `
steps:
  - { call: echo }
  - { parallel: [{ resume: call-1, decision: { decision: allow_once } }], times: 3, expect: { $count: { of: { status: ok }, is: 1 } } }
expect: { received: { $length: 1 } }
`;
    expect(await mismatchesOf(body)).toEqual([]);
  });

  it('find the call in a new stack, with what is different there', async () => {
    const body = `
tools: [{ name: work, answers: { respond: first } }]
steps:
  - { call: work }
  - { call: work }
  - { restart: {} }
  - { resume: call-1, decision: { decision: allow_once }, expect: { status: ok, result: first } }
  - { restart: { tools: [{ name: work, description: Other., answers: { respond: second } }] } }
  - { resume: call-2, decision: { decision: allow_once }, expect: { status: definition_changed } }
  - { restart: { tools: [{ name: work, answers: { respond: third } }], layers: [] } }
  - { call: work, expect: { status: ok, result: third } }
expect: { received: [{ call_id: call-1 }, { call_id: call-3 }] }
`;
    expect(await mismatchesOf(body)).toEqual([]);
  });

  it('keep answers for always where the host has grants', async () => {
    const body = (grants: boolean) => `
host: { grants: ${String(grants)} }
steps:
  - { call: echo }
  - { resume: call-1, decision: { decision: allow_always } }
  - { call: echo, expect: { status: ${grants ? 'ok' : 'approval_required'} } }
`;
    expect(await mismatchesOf(body(true))).toEqual([]);
    expect(await mismatchesOf(body(false))).toEqual([]);
  });

  it('show what differs', async () => {
    const body = `
steps:
  - { call: echo }
  - { resume: call-1, decision: { decision: reject_once }, expect: { status: ok } }
  - { resume: call-1, decision: { decision: allow_once } }
`;
    expect(await mismatchesOf(body)).toMatchObject([
      { path: 'steps[1].status' },
      { path: 'steps[2]', expected: 'a result of resume' },
    ]);
  });

  it.each([
    ['- { answer: call-1 }', 'lacks "decision"'],
    ['- { resume: call-1, desicion: {} }', 'did you mean "decision"?'],
    ['- { restart: { layer: [] } }', 'did you mean "layers"?'],
    ['- { resumes: call-1 }', 'did you mean "resume"?'],
  ])('are checked when they are read: %s', (step, message) => {
    expect(() => scenario(`steps:\n  ${step}\n`)).toThrow(message);
  });

  it('go through a pipe as they are', async () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const requests = [
      { id: 1, method: 'open', params: { layers: [{ consent: { default: 'ask' } }] } },
      { id: 2, method: 'do', params: { call: 'echo' } },
      { id: 3, method: 'do', params: { restart: {} } },
      { id: 4, method: 'do', params: { resume: 'call-1', decision: { decision: 'allow_once' } } },
      { id: 5, method: 'do', params: { resume: 'call-1', decision: { decision: 'allow_once' } } },
      { id: 6, method: 'finish' },
    ];
    input.end(requests.map((request) => `${JSON.stringify(request)}\n`).join(''));
    await serveSubject(builtinSubject, input, output);
    output.end();
    const replies = (await text(output))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);

    expect(replies[3]).toMatchObject({
      id: 4,
      result: { value: { status: 'ok', tool_call_id: 'call-1' } },
    });
    expect(replies[4]).toMatchObject({
      id: 5,
      result: { throws: { code: 'ERR_APPROVAL_RESOLVED' } },
    });
    expect(replies[5]).toMatchObject({
      result: { received: [{ tool: 'echo', call_id: 'call-1' }] },
    });
  });
});
