import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { commandSubject } from './command-subject.ts';
import { createSubject } from './create-subject.ts';
import { parseScenario } from './load-scenarios.ts';
import { runScenario } from './run-scenarios.ts';
import { serveSubject } from './serve-subject.ts';

const folders: string[] = [];
afterEach(() => folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true })));

/**
 * A command that runs a program of a few lines. `answer(request)` is called with each request and
 * writes what it returns.
 */
function program(body: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'allium-subject-'));
  folders.push(folder);
  const file = join(folder, 'subject.mjs');
  const loop = `import { createInterface } from 'node:readline';
const say = (value) => process.stdout.write(JSON.stringify(value) + '\\n');
for await (const line of createInterface({ input: process.stdin })) { const request = JSON.parse(line); ${body} }`;
  writeFileSync(file, loop);
  return `"${process.execPath}" "${file}"`;
}

const HEAD = 'id: area.one\ntitle: it is so\nrequirement: AB-1\nsource: here\n';
const SCENARIO = {
  file: 'a.yaml',
  scenario: parseScenario(`${HEAD}steps: [{ call: echo, expect: { status: ok } }]\n`, 'a.yaml'),
};

async function differences(command: string, timeoutMs = 20_000): Promise<readonly string[]> {
  const subject = commandSubject(command, { timeoutMs, stderr: 'ignore' });
  try {
    return (await runScenario(SCENARIO, subject)).mismatches.map(
      ({ path, got }) => `${path}: ${got}`,
    );
  } finally {
    await subject.close?.();
  }
}

/** One that has ended and waits for somebody to look does not run. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return (
      !existsSync(`/proc/${pid}/stat`) ||
      !readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') Z ')
    );
  } catch {
    return false;
  }
}

const ANSWERS = `say({ id: request.id, result: request.method === 'do' ? { value: { status: 'ok' } } : {} });`;

describe('commandSubject', () => {
  it('judges a process by what it answers', async () => {
    expect(await differences(program(ANSWERS))).toEqual([]);
    expect(await differences(program(ANSWERS.replace("'ok'", "'timeout'")))).toEqual([
      'steps[0].status: "timeout"',
    ]);
  });

  it.each([
    ['does not start', () => 'allium-no-such-command', /ended with code 127/],
    ['ends at once', () => `"${process.execPath}" -e "process.exit(3)"`, /ended with code 3/],
    [
      'answers what was not asked',
      () => program('say({ id: 99, result: {} });'),
      /answered what was not asked/,
    ],
    [
      'answers with something else than JSON',
      () => program("process.stdout.write('hello\\n');"),
      /answered what was not asked: hello/,
    ],
    [
      'refuses',
      () => program("say({ id: request.id, error: { code: 'ERR_NO', message: 'not today' } });"),
      /"code":"ERR_NO","message":"not today"/,
    ],
  ])('fails a subject that %s', async (_name, command, message) => {
    expect(await differences(command())).toEqual([expect.stringMatching(message)]);
  });

  it('fails a subject that does not answer, and leaves no process behind', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'allium-subject-'));
    folders.push(folder);
    const pidFile = join(folder, 'pid');
    const stubborn = program(
      `(await import('node:fs')).writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); setInterval(() => {}, 1000);`,
    );

    expect(await differences(stubborn, 2_000)).toEqual([
      expect.stringMatching(/did not answer "open" in 2000 ms/),
    ]);
    await vi.waitFor(() => expect(isRunning(Number(readFileSync(pidFile, 'utf8')))).toBe(false));
  });
});

describe('serveSubject', () => {
  it('answers one line for each line, whatever the line is', async () => {
    const input = new PassThrough();
    const output = new PassThrough();
    const step = { call: 'echo', args: { a: 1 } };
    input.end(
      [
        '{"id":1,"method":"do"}',
        'nonsense',
        '{"id":2,"method":"open"}',
        JSON.stringify({ id: 3, method: 'do', params: step }),
        '{"id":4,"method":"finish"}',
        '{"id":5,"method":"dance"}',
      ].join('\n'),
    );
    await serveSubject(createSubject({ name: 'here' }), input, output);
    output.end();
    const lines = (await text(output))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object);

    expect(lines).toMatchObject([
      { id: 1, error: { message: 'no scenario is open' } },
      { id: null, error: { message: 'no scenario is open' } },
      { id: 2, result: {} },
      { id: 3, result: { value: { status: 'ok', result: { a: 1 } } } },
      { id: 4, result: { received: [{ tool: 'echo', args: { a: 1 } }] } },
      { id: 5, error: { message: 'no scenario is open' } },
    ]);
  });
});
