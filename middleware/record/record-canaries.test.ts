import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { formsIn, plainCanary, secretCanary } from '../../conformance/canaries.fixture.ts';
import {
  defineLayer,
  defineTool,
  fail,
  governTools,
  refuse,
  STATUSES,
  type ToolLayer,
  toolOutput,
} from '../../src/index.ts';
import { consent, redaction, requiredReason, timeout } from '../index.ts';
import { readRecording } from '../replay/replay.ts';
import { record } from './record.ts';

const SECRET = secretCanary();
const BY_PATH = plainCanary();
const BY_FUNCTION = plainCanary();
const HIDDEN = plainCanary();
const CANARIES = { SECRET, BY_PATH, BY_FUNCTION, HIDDEN };

const folder = mkdtempSync(join(tmpdir(), 'allium-record-canaries-'));
afterAll(() => rmSync(folder, { recursive: true }));

const args = { text: `say ${SECRET}`, pin: BY_PATH, note: BY_FUNCTION, reason: `for ${SECRET}` };
const shared = {
  description: 'd',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  injected: [{ name: 'apiKey', from: 'secret:api' }],
} as const;
const said = (given: object) => `${SECRET} and ${String((given as { apiKey?: string }).apiKey)}`;

const tools = [
  defineTool({
    ...{ name: 'tell', ...shared },
    execute(given, { report }) {
      report({ message: said(given) });
      return { ...given, said: said(given), deep: [{ pin: BY_PATH }], note: BY_FUNCTION };
    },
  }),
  defineTool({
    ...{ name: 'break', ...shared },
    execute(given) {
      throw new Error(said(given));
    },
  }),
  defineTool({
    ...{ name: 'report', ...shared },
    execute: (given) =>
      toolOutput({ content: [{ type: 'text', text: said(given) }], isError: true }),
  }),
  defineTool({
    ...{ name: 'show', ...shared },
    execute: (given) =>
      toolOutput({
        content: [
          { type: 'text', text: said(given) },
          { type: 'resource', resource: { uri: `file:///${SECRET}`, text: said(given) } },
        ],
        structuredContent: { pin: BY_PATH },
      }),
  }),
  defineTool({ name: 'hang', ...shared, execute: () => new Promise(() => {}) }),
];

const masked = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value ?? null).replaceAll(BY_FUNCTION, '(note)'));

/** Cleans by detector, by path and by function: a scrub knows only the first. */
const cleaning = () =>
  redaction({
    paths: ['**.pin'],
    detectors: ['secrets'],
    redactor: ({ args: given, result, text }) => ({
      args: masked(given) as object,
      result: masked(result),
      ...(text === null ? {} : { text: masked(text) as string }),
    }),
  });

async function recordingOf(
  name: string,
  inner: readonly ToolLayer[] = [],
  cleaner: ToolLayer = cleaning(),
): Promise<string> {
  const file = join(folder, `${Math.random()}.jsonl`);
  const layers = [
    consent(() => true),
    requiredReason(),
    cleaner,
    record({ file }),
    ...inner,
    timeout({ maxMs: 30, graceMs: 0 }),
  ];
  const governed = governTools({ tools, layers, secrets: { api: HIDDEN } });
  await governed.call(
    { name, arguments: args, id: `call ${SECRET}` },
    { turn: { sessionId: `session ${SECRET}` } },
  );
  await governed.close();
  return file;
}

const found = (file: string) => {
  const text = readFileSync(file, 'utf8');
  return Object.entries(CANARIES).flatMap(([name, canary]) =>
    formsIn(text, canary).length > 0 ? [name] : [],
  );
};

describe('canaries', () => {
  it.each([
    ['tell', 'ok'],
    ['show', 'ok'],
    ['break', 'executor_error'],
    ['report', 'executor_error'],
    ['hang', 'timeout'],
  ])('never show in the recording of %s', async (name, status) => {
    const file = await recordingOf(name);

    expect(readRecording(file).calls.map(({ answer }) => answer?.status)).toEqual([status]);
    expect(found(file)).toEqual([]);
  });

  it.each(Object.entries(STATUSES).flatMap(([status, row]) => (row.ok ? [] : [status])))(
    'never show in the recording of a call that ends as %s further in',
    async (status) => {
      const tells = (call: { readonly toolArgs: object }) =>
        `No: ${JSON.stringify(call.toolArgs)} ${SECRET}`;
      const refuses = defineLayer({
        name: 'no',
        caller: (call) => refuse(call, status, tells(call)),
      });
      const fails = defineLayer({
        name: 'no',
        caller: (call) => fail(call, status, new Error(SECRET), tells(call)),
      });

      for (const layer of [refuses, fails]) {
        const file = await recordingOf('tell', [layer]);
        expect(readRecording(file).calls.map(({ answer }) => answer?.status)).toEqual([status]);
        expect(found(file)).toEqual([]);
      }
    },
  );

  it('are found where nothing cleans, all but the hidden argument: a search that finds nothing proves nothing', async () => {
    const nothing = defineLayer({ name: 'nothing', caller: (call, next) => next(call) });

    expect(found(await recordingOf('tell', [], nothing))).toEqual([
      'SECRET',
      'BY_PATH',
      'BY_FUNCTION',
    ]);
  });
});
