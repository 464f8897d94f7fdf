import { describe, expect, it } from 'vitest';
import { builtinSubject } from './create-subject.ts';
import { parseScenario } from './load-scenarios.ts';
import { runScenario } from './run-scenarios.ts';

const HEAD = 'id: a.b\ntitle: a title\nrequirement: AA-1\nsource: here\n';

async function mismatchesOf(body: string) {
  const result = await runScenario(
    { file: 'a.yaml', scenario: parseScenario(HEAD + body, 'a.yaml') },
    builtinSubject,
  );
  return result.mismatches;
}

describe('steps that are only begun', () => {
  it('take a whole batch back', async () => {
    const body = `
tools: [{ name: slow, answers: { hang: true } }]
steps:
  - { batch: [{ call: slow }, { call: slow }], begin: both }
  - { abort: both }
  - { result: both, expect: [{ status: cancelled, executed: unknown }, { status: cancelled, executed: 'no' }] }
expect: { received: [{ tool: slow }] }
`;
    expect(await mismatchesOf(body)).toEqual([]);
  });

  it('close while a call is under way', async () => {
    const body = `
tools: [{ name: slow, answers: { respond: 1, afterMs: 10 } }]
steps:
  - { call: slow, begin: one }
  - { close: true, begin: closing }
  - { call: slow, expect: { throws: { code: ERR_CLOSED } } }
  - { advance: 10 }
  - { result: one, expect: { status: ok } }
  - { result: closing }
`;
    expect(await mismatchesOf(body)).toEqual([]);
  });
});

describe('outputs', () => {
  const body = (final: string) => `
tools: [{ name: big, answers: { respond: ${'0123456789'.repeat(8)}end } }]
host: { limits: { maxPreviewBytes: 64 } }
steps: [{ call: big, expect: { output_files: [{ bytes: 83 }] } }]
expect: ${final}
`;

  it('are large results that were kept aside', async () => {
    expect(
      await mismatchesOf(body('{ outputs: [{ session_id: session-1, text: { $regex: end$ } }] }')),
    ).toEqual([]);
  });

  it('are looked through for what must be nowhere', async () => {
    expect(await mismatchesOf(body('{ nowhere: [9end] }'))).toMatchObject([
      { path: 'results' },
      { path: 'outputs' },
    ]);
  });
});
