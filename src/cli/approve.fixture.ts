/**
 * A project whose calls somebody has to approve, and that somebody at a terminal, with a code, or
 * with neither.
 */

import { spawn } from 'node:child_process';
import { APPROVAL_ANSWERS } from '../approvals/question.ts';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { isoTime } from '../core/time/clock.ts';
import { codeFor, createCode } from '../approvals/store/approval-code.ts';
import { approvalOf } from '../approvals/approvals.fixture.ts';
import { type Approval, fileApprovals } from '../policy/index.ts';
import { codeKey } from '../receipts/key-files.ts';
import { WITH_TERMINAL } from './proxy/proxy.fixture.ts';
import { allium, type Ended, MAIN, projectWith } from './run-command.fixture.ts';
import { keysBeside } from './approvals/approval-notices.ts';

/** Says where the code went: into a file that no command but this one writes. */
const TOLD = 'told.json';

const FILES = {
  'allium.yaml': `version: 1
state: { dir: .allium }
layers: [{ auditLog: local }, { consent: { default: ask } }]
tools: [{ module: ./tools.mjs }]
notify: { command: [${JSON.stringify(process.execPath)}, ./notify.mjs] }
`,
  'tools.mjs': `import { appendFileSync } from 'node:fs';
export default {
  name: 'pay',
  description: 'Pays.',
  inputSchema: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
  execute: ({ to }) => (appendFileSync('paid.txt', to + '\\n'), 'paid ' + to),
};`,
  'notify.mjs': `import { writeFileSync } from 'node:fs';
let text = '';
for await (const chunk of process.stdin) text += chunk;
writeFileSync('${TOLD}', JSON.stringify({ arguments: process.argv.slice(2), question: JSON.parse(text) }));
console.log(text);
console.error(text);
`,
};

/** A call that waits, made in a process of its own, and what the notifier was told about it. */
export function waitingPayment(files: Readonly<Record<string, string>> = {}) {
  const folder = projectWith({ ...FILES, ...files });
  const asked = allium(folder, ['call', 'pay', '--args', '{"to":"bob"}']);
  const dir = join(folder, '.allium', 'approvals');
  const store = fileApprovals({ dir });
  const [id = ''] = /approval_[\w-]+/.exec(asked.err) ?? [];
  const told = () =>
    existsSync(join(folder, TOLD))
      ? (JSON.parse(readFileSync(join(folder, TOLD), 'utf8')) as Told)
      : null;
  const paid = () =>
    existsSync(join(folder, 'paid.txt')) ? readFileSync(join(folder, 'paid.txt'), 'utf8') : '';
  const reply = async (): Promise<Approval['reply']> => (await store.get(id))?.reply ?? null;
  return { folder, asked, dir, store, id, told, code: told()?.question.code ?? '', paid, reply };
}

/** The same as it is kept, with a code, without the process that asked. */
export async function keptPayment() {
  const folder = projectWith(FILES);
  const [dir, id, code] = [join(folder, '.allium', 'approvals'), 'approval_kept', createCode()];
  const store = fileApprovals({ dir });
  const kept = await codeFor(codeKey(keysBeside(dir)), id, code);
  await store.add(
    approvalOf({
      id,
      requestedAt: isoTime(Date.now()),
      route: 'command',
      code: kept,
      options: [...APPROVAL_ANSWERS],
    }),
  );
  return { folder, store, id, code, reply: async () => (await store.get(id))?.reply ?? null };
}

interface Told {
  readonly arguments: readonly string[];
  readonly question: Readonly<Record<string, unknown>> & { readonly code: string };
}

/** All that is in the files of a folder, but for what the notifier was told. */
export function contentsOf(folder: string): string {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && entry.name !== TOLD,
  );
  return names
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'))
    .join('\n');
}

export interface AtTerminal extends Ended {
  readonly screen: string;
}

/**
 * The command with a terminal that controls it, and pipes for standard streams. Once the question
 * is on the screen, `keys` says what is typed there; what is given as `input` is on standard input
 * from the beginning.
 */
export function withTerminal(
  cwd: string,
  args: readonly string[],
  keys: (number: string) => string,
  input = '',
): Promise<AtTerminal> {
  const child = spawn('python3', ['-c', WITH_TERMINAL, process.execPath, MAIN, ...args], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd },
    stdio: ['pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
    timeout: 50_000,
  });
  const [stdin, stdout, stderr, screenOut, keyboard] = child.stdio as unknown as [
    Writable,
    Readable,
    Readable,
    Readable,
    Writable,
  ]; // All are pipes.
  const seen = { out: '', err: '', screen: '' };
  let hasTyped = false;
  stdout.setEncoding('utf8').on('data', (chunk: string) => void (seen.out += chunk));
  stderr.setEncoding('utf8').on('data', (chunk: string) => void (seen.err += chunk));
  screenOut.setEncoding('utf8').on('data', (chunk: string) => {
    seen.screen += chunk;
    const [, number] = /type (\d{4}); /.exec(seen.screen) ?? [];
    if (number === undefined || hasTyped) return;
    hasTyped = true;
    keyboard.write(`${keys(number)}\r`);
  });
  for (const stream of [stdin, keyboard]) stream.on('error', () => {});
  stdin.end(input);
  return new Promise((done) => void child.once('close', (code) => done({ code, ...seen })));
}
