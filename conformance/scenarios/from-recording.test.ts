import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { record } from '../../middleware/record/record.ts';
import { readRecording, type Recording } from '../../middleware/replay/replay.ts';
import {
  defineTool,
  governTools,
  isAlliumError,
  type Tool,
  toolFailure,
  toolOutput,
} from '../../src/index.ts';
import { builtinSubject } from './create-subject.ts';
import { scenarioFrom } from './from-recording.ts';
import { parseScenario } from './load-scenarios.ts';
import { runScenario } from './run-scenarios.ts';

const folder = mkdtempSync(join(tmpdir(), 'allium-from-recording-'));
afterAll(() => rmSync(folder, { recursive: true }));

const shared = { description: 'd', inputSchema: { type: 'object' } } as const;
const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' } as const;
let count = 0;

const TOOLS: readonly Tool[] = [
  defineTool({ name: 'count', ...shared, execute: (args) => ({ ...args, count: (count += 1) }) }),
  defineTool({
    name: 'odd',
    ...shared,
    execute: () => [
      'yes',
      'no',
      '~',
      '- a: b',
      '# c',
      'Grüße 🌍\r\n\u2028',
      { $any: 'x' },
      1e21,
      null,
    ],
  }),
  defineTool({ name: 'nothing', ...shared, execute: () => null }),
  defineTool({ name: 'large', ...shared, execute: () => 'line\n'.repeat(5_000) }),
  defineTool({
    name: 'show',
    ...shared,
    execute: () =>
      toolOutput({ content: [{ type: 'text', text: 'see' }, image], structuredContent: { a: 1 } }),
  }),
  defineTool({
    name: 'report',
    ...shared,
    execute: () => toolOutput({ content: [{ type: 'text', text: 'no such file' }], isError: true }),
  }),
  defineTool({
    ...{ name: 'break', ...shared },
    execute() {
      throw new Error('lost');
    },
  }),
  defineTool({
    ...{ name: 'busy', ...shared },
    execute() {
      throw toolFailure('busy', { category: 'http_503', errorClass: 'retryable', executed: 'no' });
    },
  }),
  defineTool({
    name: 'twice',
    ...shared,
    execute: async (_args, { call }) => (await call({ name: 'count', arguments: {} })).result,
  }),
];

async function recordingOf(
  ...requests: readonly (readonly [name: string, args?: object])[]
): Promise<Recording> {
  const file = join(folder, `${(count += 1)}.jsonl`);
  writeFileSync(file, '');
  const governed = governTools({ tools: TOOLS, layers: [record({ file })] });
  for (const [name, args = {}] of requests) await governed.call({ name, arguments: args });
  await governed.close();
  return readRecording(file);
}

const NAMES = { id: 'recorded.run', title: 'the run comes out as it was recorded' };
const run = (text: string) =>
  runScenario({ file: 'f', scenario: parseScenario(text, 'f') }, builtinSubject);

describe('scenarioFrom', () => {
  it('makes a scenario that passes, of everything a tool can answer', async () => {
    const requests = TOOLS.map(({ name }) => [name, { some_name: [1, { deep: 'é' }] }] as const);
    const recording = await recordingOf(...requests, ['count', { a: 1 }], ['count', { a: 1 }]);
    const text = scenarioFrom(recording, NAMES);
    const { steps = [], requirement } = parseScenario(text, 'f');

    expect((await run(text)).mismatches).toEqual([]);
    expect([steps.length, requirement]).toEqual([TOOLS.length + 2, 'REC-1']);
  });

  it.each([
    ['an expected value', 'count: 7', 'count: 8'],
    ['an expected status', 'status: "ok"', 'status: "timeout"'],
    ['an expected error', 'error_category: null', 'error_category: "odd"'],
    ['the arguments that arrive', 'a: "sent"', 'a: "other"'],
  ])('makes one that fails when %s is changed', async (_what, from, to) => {
    count = 5;
    const text = scenarioFrom(await recordingOf(['count', { a: 'sent' }]), NAMES);
    const at = text.lastIndexOf(from);
    const changed = text.slice(0, at) + to + text.slice(at + from.length);

    expect(at).toBeGreaterThan(0);
    expect((await run(text)).ok).toBe(true);
    expect((await run(changed)).ok).toBe(false);
  });

  it('expects exactly what was recorded: a member too many is seen', async () => {
    count = 5;
    const text = scenarioFrom(await recordingOf(['count', { a: 'sent' }]), NAMES);
    const script = text.replace('count: 7', 'count: 7\n          more: 1');

    expect((await run(script)).mismatches.map(({ path }) => path)).toEqual(['steps[0].result']);
  });

  it('refuses answers that no tool can give, with file and line', async () => {
    const recording = await recordingOf(['nothing'], ['count']);
    const [call] = recording.calls;
    const answers = [
      null,
      { ...call?.answer, status: 'dry_run' },
      { ...call?.answer, ok: false, status: 'timeout', error: 'late' },
      { ...call?.answer, content: [{ type: 'text', text: 'a' }], renderedResult: 'hidden' },
      {
        ...call?.answer,
        ok: false,
        status: 'executor_error',
        error: 'two\nlines',
        errorCategory: 'c',
        errorClass: 'fatal',
      },
    ];

    for (const answer of answers) {
      const other = { ...recording, calls: [{ ...call, answer }] } as unknown as Recording;
      expect(() => scenarioFrom(other, NAMES)).toThrow(
        expect.toSatisfy(
          (error) =>
            isAlliumError(error, 'ERR_INVALID_RECORDING') &&
            error.message.startsWith(`${recording.file}:1: `),
        ),
      );
    }
    expect(() => scenarioFrom({ ...recording, calls: [] }, NAMES)).toThrow('has no calls');
  });

  it('refuses options it does not know', async () => {
    const recording = await recordingOf(['nothing']);

    expect(() => scenarioFrom(recording, { id: 'a.b' } as never)).toThrow(
      expect.toSatisfy((error) => isAlliumError(error, 'ERR_INVALID_OPTION')),
    );
  });
});
