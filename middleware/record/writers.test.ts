import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { echoExecutor, makeCall } from '../../conformance/index.ts';
import { composeToolCallers } from '../../src/index.ts';
import { readRecording } from '../replay/replay.ts';
import { built } from '../../src/stores/built.fixture.ts';
import { record } from './record.ts';

const folder = mkdtempSync(join(tmpdir(), 'allium-writers-'));
const child = built('middleware/record/appender.fixture.ts');
const full = built('middleware/record/full-disk.fixture.ts');
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a process that appends, and kills it once it is under way if it is told to. */
function appends(
  file: string,
  name: string,
  count: number,
  killed = false,
): Promise<NodeJS.Signals | number | null> {
  const running = spawn(process.execPath, [child, file, name, String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 50_000,
  });
  if (killed) running.stdout.once('data', () => running.kill('SIGKILL'));
  else running.stdout.resume();
  return new Promise((resolve) => running.on('close', (code, signal) => resolve(signal ?? code)));
}

async function recordOne(file: string, toolName: string): Promise<void> {
  const layer = record({ file });
  await composeToolCallers([layer])(makeCall({ toolName }), echoExecutor());
  await layer.close?.();
}

describe('a recording', () => {
  it('keeps every line of two processes that write at once', async () => {
    const file = join(folder, 'two.jsonl');
    const ends = await Promise.all([appends(file, 'a', 300), appends(file, 'b', 300)]);
    const { calls, torn } = readRecording(file);
    const indexesOf = (name: string) =>
      calls.filter(({ toolName }) => toolName === name).map(({ arguments: args }) => args.index);

    expect([ends, torn]).toEqual([[0, 0], 0]);
    for (const name of ['a', 'b'])
      expect(indexesOf(name)).toEqual(Array.from({ length: 300 }, (_, index) => index));
    expect(
      calls.every(({ toolName, answer }) =>
        new RegExp(`^"${toolName}+"$`).test(JSON.stringify(answer?.result)),
      ),
    ).toBe(true);
  });

  it('can be read and gone on with after its writer was killed', async () => {
    const file = join(folder, 'killed.jsonl');
    const end = await appends(file, 'a', 100_000, true);
    const before = readRecording(file).calls.length;
    await recordOne(file, 'next');
    const after = readRecording(file).calls;

    expect(end).toBe('SIGKILL');
    expect(before).toBeGreaterThan(10);
    expect(after.map(({ toolName }) => toolName)).toEqual([
      ...Array.from({ length: before }, () => 'a'),
      'next',
    ]);
  });

  it('is gone on with behind a line that was cut off, without taking anything away', async () => {
    const file = join(folder, 'torn.jsonl');
    await recordOne(file, 'first');
    appendFileSync(file, '{"schema_version":1,"record":"call","wri');
    const before = readFileSync(file, 'utf8');
    await recordOne(file, 'second');
    const { calls, torn } = readRecording(file);

    expect(readFileSync(file, 'utf8').startsWith(before)).toBe(true);
    expect([calls.map(({ toolName }) => toolName), torn]).toEqual([['first', 'second'], 1]);
  });

  it('notices that another writer died in between', async () => {
    const file = join(folder, 'between.jsonl');
    const layer = record({ file });
    const stack = composeToolCallers([layer]);
    await stack(makeCall({ toolName: 'first' }), echoExecutor());
    while (!readFileSync(file, 'utf8').includes('first'))
      await new Promise((resolve) => setImmediate(resolve));
    appendFileSync(file, '{"half');
    await stack(makeCall({ toolName: 'second' }), echoExecutor());
    await layer.close?.();
    const { calls, torn } = readRecording(file);

    expect([calls.map(({ toolName }) => toolName), torn]).toEqual([['first', 'second'], 1]);
  });

  it('holds every call that ran, once, though the disk was full for a while and cut a line off', () => {
    const file = join(folder, 'full.jsonl');
    const limited =
      'import os, resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (95_000, -1)); os.execv(sys.argv[1], sys.argv[1:])';
    const { stdout } = spawnSync('python3', ['-c', limited, process.execPath, full, file], {
      encoding: 'utf8',
      timeout: 50_000,
    });
    const said = JSON.parse(stdout) as { ran: number[]; refusals: number; last: string };
    const { calls, torn } = readRecording(file);

    expect([said.refusals, said.last]).toEqual([3, 'ok']);
    expect(said.ran.length).toBeGreaterThan(8);
    expect(calls.map(({ arguments: args }) => args.index)).toEqual(said.ran);
    expect(torn).toBe(1);
  });
});
