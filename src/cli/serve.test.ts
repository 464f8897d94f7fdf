import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { everyNth } from '../../conformance/how-many.fixture.ts';
import { DRIVERS } from '../../conformance/benches/mcp/clients.ts';
import type { Answer, Connection, Question } from '../../conformance/benches/mcp/driver.ts';
import { createPlace, type Place } from '../../conformance/benches/mcp/processes.ts';
import { startRawClient } from '../../conformance/benches/mcp/raw-client.ts';
import { verifyReceipts } from '../receipts/index.ts';
import { MAIN } from './run-command.fixture.ts';
import { STARTER_CONFIG, STARTER_TOOLS } from './init.ts';

const MORE_TOOLS = `
import { defineTool } from 'allium';
const inputSchema = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] };
export const divide = defineTool({
  name: 'divide',
  description: 'Divides.',
  inputSchema,
  outputSchema: { type: 'object', properties: { quotient: { type: 'number' } }, required: ['quotient'], additionalProperties: false },
  execute: ({ a, b }) => ({ quotient: a / b }),
});
export const forbidden = defineTool({ name: 'forbidden', description: 'Never runs.', inputSchema, execute: () => ({ ran: true }) });
`;

const RULES = '{ tool: add, decision: allow }';
const CONFIG = `${STARTER_CONFIG.replace(
  RULES,
  [RULES, '{ tool: divide, decision: allow }', '{ tool: forbidden, decision: deny }'].join(
    '\n        - ',
  ),
)}  - module: ./more-tools.ts\n`;

let place: Place;
const children: ChildProcess[] = [];
beforeEach(() => {
  place = createPlace();
  writeFileSync(join(place.folder, 'allium.yaml'), CONFIG);
  writeFileSync(join(place.folder, 'tools.ts'), STARTER_TOOLS);
  writeFileSync(join(place.folder, 'more-tools.ts'), MORE_TOOLS);
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await place.close();
});

/** Notes are written where the server runs. */
const command = (...args: readonly string[]) => ({
  command: process.execPath,
  args: [MAIN, 'serve', ...args],
  env: place.env,
  cwd: place.folder,
});

async function listening(...args: readonly string[]) {
  const { command: program, args: words, env, cwd } = command('--listen', '0', ...args);
  const child = spawn(program, words, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => void (out += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => void (err += chunk));
  const ended = new Promise<number | null>((resolve) => void child.once('close', resolve));
  const found = await vi.waitFor(
    () => {
      const [, url] = /listening on (\S+)/.exec(err) ?? [];
      const [, token] = /Bearer ([\w-]+)"/.exec(err) ?? [];
      if (url === undefined || token === undefined) throw new Error('it does not listen yet');
      return { url, token };
    },
    { timeout: 30_000 },
  );
  return { ...found, child, ended, out: () => out };
}

const reason = 'to try it';
const notes = () =>
  existsSync(join(place.folder, 'notes.txt'))
    ? readFileSync(join(place.folder, 'notes.txt'), 'utf8')
    : '';

async function verified() {
  const publicKey = readFileSync(
    join(place.folder, '.allium/keys/receipts-ed25519.pub.pem'),
    'utf8',
  );
  return verifyReceipts(join(place.folder, '.allium/receipts'), { publicKey });
}

/** What every client sees, however it is connected. */
async function tryOut(connection: Connection, questions: readonly Question[]): Promise<void> {
  const tools = await connection.listTools();
  expect(tools.map(({ name }) => name).sort()).toEqual([
    'add',
    'divide',
    'forbidden',
    'write_note',
  ]);
  for (const { inputSchema } of tools) {
    expect(inputSchema).toMatchObject({
      type: 'object',
      properties: { reason: { type: 'string' } },
    });
    expect(inputSchema.required).toContain('reason');
  }
  expect(tools.filter(({ hasOutputSchema }) => hasOutputSchema).map(({ name }) => name)).toEqual([
    'divide',
  ]);

  const sum = await connection.call('add', { a: 1, b: 2, reason });
  expect(sum).toMatchObject({ kind: 'result', isError: false });
  expect(sum.kind === 'result' && sum.whole).toContain('"structuredContent":{"sum":3}');
  const quotient = await connection.call('divide', { a: 6, b: 3, reason });
  expect(quotient.kind === 'result' && quotient.whole).toContain(
    '"structuredContent":{"quotient":2}',
  );
  expect(await connection.call('add', { a: 1, b: 2 })).toMatchObject({
    kind: 'result',
    isError: true,
  });

  const denied = await connection.call('forbidden', { a: 1, b: 2, reason });
  expect(denied).toMatchObject({ kind: 'result', isError: true });
  expect(denied.kind === 'result' && denied.text).not.toBe('');
  expect(denied.kind === 'result' && denied.whole).toContain('"allium/status":"consent_denied"');
  expect(denied.kind === 'result' && denied.whole).toContain('"allium/executed":"no"');

  const written = await connection.call('write_note', { text: 'yes', reason });
  expect(written).toMatchObject({ kind: 'result', isError: false });
  const rejected = await connection.call('write_note', { text: 'no', reason });
  expect(rejected).toMatchObject({ kind: 'result', isError: true });
  expect(rejected.kind === 'result' && rejected.whole).toContain(
    '"allium/status":"consent_denied"',
  );
  expect(questions).toHaveLength(2);
  expect(questions[0]?.message).toContain('write_note');
  expect(notes()).toBe('yes\n');
}

const asked = (questions: Question[]) => ({
  isModern: true,
  onElicit(question: Question): Answer {
    questions.push(question);
    return question.message.includes('"yes"')
      ? { action: 'accept', content: { decision: 'allow_once' } }
      : { action: 'decline' };
  },
});

describe.each(everyNth(2, DRIVERS).map((driver) => [driver.name, driver] as const))(
  'allium serve, to %s,',
  (_name, driver) => {
    it('offers governed tools on standard input and output, and leaves no process behind', async () => {
      const questions: Question[] = [];
      const connection = await driver.connect(command(), asked(questions));

      expect(connection.era).toBe(driver.isModern ? 'modern' : 'legacy');
      await tryOut(connection, questions);
      await connection.close();
      expect(await place.endProcesses()).toBe(0);
      expect(await verified()).toMatchObject({ ok: true, count: 6, key: 'known' });
    });

    it('offers the same over HTTP', async () => {
      const questions: Question[] = [];
      const { url, token, child, ended, out } = await listening();
      const connection = await driver.connect({ url, token }, asked(questions));

      expect(connection.era).toBe(driver.isModern ? 'modern' : 'legacy');
      await tryOut(connection, questions);
      await connection.close();
      child.kill('SIGTERM');
      expect(await ended).toBe(143);
      expect(out()).toBe('');
      expect(await verified()).toMatchObject({ ok: true, count: 6, key: 'known' });
    });

    it('keeps a call for somebody else where its client cannot ask', async () => {
      const connection = await driver.connect(command(), { isModern: true });
      const waiting = await connection.call('write_note', { text: 'later', reason });

      expect(waiting).toMatchObject({ kind: 'result', isError: true });
      expect(waiting.kind === 'result' && waiting.text).toMatch(
        /^write_note needs an approval by a person, and waits for it/,
      );
      expect(waiting.kind === 'result' && waiting.whole).toContain(
        '"allium/status":"approval_required"',
      );
      expect(notes()).toBe('');
      await connection.close();
    });
  },
);

describe('allium serve', () => {
  it('answers pings, knows no other methods, and says nothing else on standard output', async () => {
    const client = await startRawClient(command('--config', place.folder, '--name', 'shop'));
    const hello = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'raw', version: '1' },
    };
    const modern = (version: string) => ({
      _meta: {
        'io.modelcontextprotocol/protocolVersion': version,
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    });

    expect(await client.request('1', 'ping', {})).toMatchObject({ result: {} });
    expect(await client.request('2', 'prompts/list', {})).toMatchObject({
      error: { code: -32_601 },
    });
    expect(await client.request('3', '__proto__', {})).toMatchObject({ error: { code: -32_601 } });
    expect(await client.request('4', 'initialize', hello)).toMatchObject({
      result: {
        protocolVersion: '2025-06-18',
        serverInfo: { name: 'shop' },
        capabilities: { tools: {} },
      },
    });
    expect(await client.request('5', 'server/discover', modern('2026-07-28'))).toMatchObject({
      result: { resultType: 'complete', supportedVersions: ['2026-07-28'] },
    });
    expect(await client.request('6', 'ping', modern('2026-07-28'))).toMatchObject({
      error: { code: -32_601 },
    });
    expect(await client.request('7', 'server/discover', modern('2099-01-01'))).toMatchObject({
      error: { code: -32_022 },
    });
    expect(client.garbage()).toBe(0);
    await client.leave();
  });

  it('lets in nobody without the token', async () => {
    const { url, token } = await listening();
    const statusWith = async (headers: Readonly<Record<string, string>>) => {
      const body = JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
        params: {
          protocolVersion: '2025-11-25',
          capabilities: {},
          clientInfo: { name: 'x', version: '1' },
        },
      });
      const accept = 'application/json, text/event-stream';
      const response = await fetch(url, {
        method: 'POST',
        body,
        headers: { accept, 'content-type': 'application/json', ...headers },
      });
      await response.body?.cancel();
      return response.status;
    };

    expect(await statusWith({})).toBe(401);
    expect(await statusWith({ authorization: `Bearer ${token}x` })).toBe(401);
    expect(
      await statusWith({ authorization: `Bearer ${token}`, origin: 'https://elsewhere.example' }),
    ).toBe(403);
    expect(await statusWith({ authorization: `Bearer ${token}` })).toBe(200);
  });
});
