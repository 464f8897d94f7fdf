import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { testClock } from '../../conformance/index.ts';
import { systemClock } from '../index.ts';
import { accept, closeOutlet, createOutlet } from './outlet.ts';
import type { TelemetryProblem } from './problem.ts';
import { recordOf } from '../../middleware/telemetry/run.fixture.ts';
import { stderrSender } from './reporter.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'allium-stderr-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const SETTINGS = { maxPending: 10, timeoutMs: 1000, tell: () => {}, onDropped: () => {} };

describe('the stderr sink', () => {
  it('writes every record as one JSON line, in order', async () => {
    const file = join(folder, 'lines');
    const descriptor = openSync(file, 'w');
    const outlet = createOutlet(stderrSender(descriptor), SETTINGS);
    const names = ['a', 'b\n{"forged":1}', 'c'];
    for (const toolName of names)
      accept(outlet, await recordOf({ call: { toolName } }), testClock());
    await closeOutlet(outlet);
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    closeSync(descriptor);

    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject(
      names.map((name) => ({
        name: 'allium',
        level: 30,
        msg: `tool_call.${name}`,
        span: { name: `tool_call.${name}`, kind: 'tool_call' },
      })),
    );
    expect(outlet.counts).toEqual({ generated: 3, delivered: 3, dropped: 0, pending: 0 });
  });

  it('says that a record is lost where nothing can be written', async () => {
    const descriptor = openSync(join(folder, 'gone'), 'w');
    closeSync(descriptor);
    const problems: TelemetryProblem[] = [];
    const outlet = createOutlet(stderrSender(descriptor), {
      ...SETTINGS,
      tell: (problem) => void problems.push(problem),
    });
    accept(outlet, await recordOf({}), systemClock);
    await closeOutlet(outlet);

    expect(problems.map(({ kind }) => kind)).toEqual(['failed', 'closed']);
    expect(outlet.counts).toMatchObject({ delivered: 0, dropped: 1 });
  });

  it('counts what a pipe has taken: a pipe cannot be synced', async () => {
    const child = spawn(process.execPath, ['-e', 'process.stdin.pipe(process.stdout)'], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const { stdin, stdout } = child;
    const outlet = createOutlet(stderrSender(descriptorOf(stdin)), SETTINGS);
    accept(outlet, await recordOf({ call: { toolName: 'piped' } }), systemClock);
    const [line] = (await once(stdout, 'data')) as [Buffer];
    await closeOutlet(outlet);
    stdin.end();
    await once(child, 'exit');

    expect(JSON.parse(line.toString())).toMatchObject({ msg: 'tool_call.piped' });
    expect(outlet.counts).toMatchObject({ delivered: 1, dropped: 0 });
  });
});

/** The number behind a pipe, which Node keeps to itself. */
const descriptorOf = (stream: object): number => (stream as { _handle: { fd: number } })._handle.fd;
