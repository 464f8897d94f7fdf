import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { echoExecutor, makeCall, testClock } from '../../conformance/index.ts';
import {
  composeToolCallers,
  defineLayer,
  isAlliumError,
  type Next,
  ok,
  refuse,
  type ToolLayer,
  withResult,
} from '../../src/index.ts';
import { timeout } from '../index.ts';
import { readRecording } from '../replay/replay.ts';
import { record } from './record.ts';

const folder = mkdtempSync(join(tmpdir(), 'allium-record-'));
afterAll(() => rmSync(folder, { recursive: true }));

let count = 0;
/** A folder of its own, that a test may take away. */
function place() {
  const own = join(folder, String((count += 1)));
  mkdirSync(own);
  return { own, file: join(own, 'calls.jsonl') };
}

/** Takes the folder away, so that nothing can be written, and gives it back. */
const away = (own: string) => renameSync(own, `${own}-away`);
const back = (own: string) => renameSync(`${own}-away`, own);

const linesOf = (file: string) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('record', () => {
  it('lets the call through and writes one line about it', async () => {
    const { file } = place();
    const clock = testClock();
    const layer = record({ file });
    const tool: Next = async (call) => {
      await clock.advance(25);
      return ok(call, { some_value: 'é', camelCase: 1 });
    };
    const call = makeCall({
      toolName: 'say',
      toolArgs: { someText: 'hi' },
      turn: { iteration: 3, emitOrder: 2, model: 'm' },
    });
    const result = await composeToolCallers([layer], { clock, createId: () => 'writer-1' })(
      call,
      tool,
    );
    await layer.close?.();

    expect(result.result).toEqual({ some_value: 'é', camelCase: 1 });
    expect(readFileSync(file, 'utf8').endsWith('}\n')).toBe(true);
    expect(linesOf(file)).toEqual([
      {
        ...{
          schema_version: 1,
          record: 'call',
          writer: 'writer-1',
          seq: 0,
          tool_call_id: 'call-1',
          tool_name: 'say',
        },
        ...{
          arguments: { someText: 'hi' },
          turn: { iteration: 3, session_id: 'session-1', emit_order: 2, model: 'm' },
        },
        ...{ started_at: '2026-01-01T00:00:00.000Z', duration_ms: 25 },
        answer: {
          ...{
            ok: true,
            status: 'ok',
            result: { some_value: 'é', camelCase: 1 },
            error: null,
            error_category: null,
            error_class: null,
          },
          ...{ executor: 'local', executed: 'yes', execution_duration_ms: 25, output_files: [] },
        },
      },
    ]);
  });

  it('does not change the result', async () => {
    const { file } = place();
    const layer = record({ file });
    const call = makeCall({ toolArgs: { a: 1 } });
    const clock = testClock();
    const [plain, watched] = [
      await composeToolCallers([], { clock })(call, echoExecutor()),
      await composeToolCallers([layer], { clock })(call, echoExecutor()),
    ];
    await layer.close?.();

    expect(JSON.parse(JSON.stringify({ ...watched, audit: null }))).toEqual(
      JSON.parse(JSON.stringify({ ...plain, audit: null })),
    );
  });

  it('adds to what is there, and closes the file to others', async () => {
    const { file } = place();
    writeFileSync(file, '');
    chmodSync(file, 0o644);
    for (const toolName of ['first', 'second']) {
      const layer = record({ file });
      await composeToolCallers([layer])(makeCall({ toolName }), echoExecutor());
      await layer.close?.();
    }

    expect(linesOf(file).map(({ tool_name: name }) => name)).toEqual(['first', 'second']);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('makes the file for its owner alone, and nothing before the first call', async () => {
    const { own, file } = place();
    const layer = record({ file });
    const before = readdirSync(own);
    await composeToolCallers([layer])(makeCall(), echoExecutor());
    await layer.close?.();

    expect(before).toEqual([]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('writes the answer as it leaves the stack, and the arguments as they came this far', async () => {
    const { file } = place();
    const masks: ToolLayer = defineLayer({
      name: 'masks',
      caller: async (call, next) =>
        withResult(await next({ ...call, toolArgs: { pin: '****' } }), { result: { pin: '****' } }),
    });
    const layer = record({ file });
    await composeToolCallers([masks, layer])(
      makeCall({ toolArgs: { pin: '1234' } }),
      async (call) => ok(call, { pin: '5678' }),
    );
    await layer.close?.();

    expect(linesOf(file)).toMatchObject([
      { arguments: { pin: '****' }, answer: { result: { pin: '****' } } },
    ]);
    expect(readFileSync(file, 'utf8')).not.toMatch(/1234|5678/);
  });

  it('cleans every text with the scrubs of the stack, and keeps the names of the format', async () => {
    const { file } = place();
    const scrubs = defineLayer({
      name: 'scrubs',
      caller: (call, next) => next(call),
      scrub: (text) => text.replaceAll(/canary|status|text/g, '#'),
    });
    const layer = record({ file });
    const call = makeCall({
      ...{
        toolName: 'canary',
        callId: 'canary',
        toolArgs: { canary: ['canary'] },
        turn: { sessionId: 'canary' },
      },
    });
    const stack = composeToolCallers([scrubs, layer]);
    await stack(call, async (own) =>
      ok(own, { canary: 1 }, { content: [{ type: 'text', text: 'canary' }] }),
    );
    await stack(call, async (own) =>
      withResult(refuse(own, 'rate_limited', 'canary'), { metadata: { hint: 'canary' } }),
    );
    await layer.close?.();

    expect(readFileSync(file, 'utf8')).not.toContain('canary');
    expect(readRecording(file).calls.map(({ answer }) => answer?.status)).toEqual([
      'ok',
      'rate_limited',
    ]);
  });

  it('writes how a call ended whose tool never did', async () => {
    const { file } = place();
    const clock = testClock();
    const layer = record({ file });
    const stack = composeToolCallers([timeout({ maxMs: 50, graceMs: 0 }), layer], { clock });
    let enter = () => {};
    const entered = new Promise<void>((resolve) => (enter = resolve));
    const calling = stack(makeCall(), () => {
      enter();
      return new Promise(() => {});
    });
    await entered;
    await clock.advance(50);
    await calling;
    await layer.close?.();

    expect(linesOf(file)).toMatchObject([
      { duration_ms: 50, answer: { status: 'timeout', executed: 'unknown' } },
    ]);
  });

  it('keeps the line where two members of the metadata would become one', async () => {
    const { file } = place();
    const layer = record({ file });
    await composeToolCallers([layer])(makeCall(), async (call) =>
      withResult(ok(call, 1), { metadata: { a_b: 1, aB: 2 } }),
    );
    await layer.close?.();

    expect(linesOf(file)).toMatchObject([{ answer: { result: 1 } }]);
  });
});

describe('record, while nothing can be written,', () => {
  it('does not run the tool, and runs it again when the disk is back', async () => {
    const { own, file } = place();
    const layer = record({ file });
    const stack = composeToolCallers([layer]);
    const tool = echoExecutor();
    away(own);
    const refused = await stack(makeCall({ toolArgs: { n: 1 } }), tool);
    back(own);
    const taken = await stack(makeCall({ toolArgs: { n: 2 } }), tool);
    await layer.close?.();

    expect(refused).toMatchObject({
      status: 'audit_unavailable',
      executed: 'no',
      errorClass: 'retryable',
    });
    expect(refused.error).toBe(
      'echo was not called: calls cannot be recorded at the moment. Try again later.',
    );
    expect(taken.status).toBe('ok');
    expect(tool.calls.map(({ toolArgs }) => toolArgs)).toEqual([{ n: 2 }]);
    expect(linesOf(file).map(({ arguments: args }) => args)).toEqual([{ n: 2 }]);
  });

  it('runs the tool all the same with onError: "warn", counts what is lost, and says so in the end', async () => {
    const { own, file } = place();
    const layer = record({ file, onError: 'warn' });
    const stack = composeToolCallers([layer]);
    away(own);
    const first = await stack(makeCall(), echoExecutor());
    await layer.close?.().catch(() => {});
    const second = await stack(makeCall(), echoExecutor());
    const error: unknown = await layer.close?.().catch((thrown: unknown) => thrown);
    back(own);

    expect([first.status, second.status]).toEqual(['ok', 'ok']);
    expect(second.audit?.layers).toMatchObject([{ name: 'record', lost: 1 }]);
    expect(isAlliumError(error, 'ERR_RECORDING_UNAVAILABLE') && error.message).toBe(
      `record: 2 calls could not be written to ${file}`,
    );
  });

  it('lets a caller go who does not want to wait', async () => {
    const { file } = place();
    const layer = record({ file });
    const tool = echoExecutor();
    const result = await composeToolCallers([layer])(
      makeCall({ signal: AbortSignal.abort() }),
      tool,
    );
    await layer.close?.();

    expect(result.status).toBe('cancelled');
    expect(tool.calls.length).toBe(0);
  });

  it('does not wait for a pipe', async () => {
    const { file } = place();
    execFileSync('mkfifo', [file]);
    const layer = record({ file });
    const result = await composeToolCallers([layer])(makeCall(), echoExecutor());

    expect(result.status).toBe('audit_unavailable');
  });
});

describe('record, when it is made,', () => {
  it('refuses a path through a file like one through a folder that is not there', () => {
    const { file } = place();
    writeFileSync(file, '');

    for (const path of [
      join(file, 'tape'),
      join(file, 'deeper', 'tape'),
      join(folder, 'nowhere', 'tape'),
    ])
      expect(() => record({ file: path })).toThrow(
        'record: "file" must be a path in a folder that is there',
      );
  });
});
