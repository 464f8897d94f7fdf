import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../core/json/json-value.ts';
import { hasPty } from '../../consent/pty.fixture.ts';
import { createPlace, type Place } from '../../../conformance/benches/mcp/processes.ts';
import { answerApproval, fileApprovals } from '../../policy/index.ts';
import { queryReceipts, verifyReceipts } from '../../receipts/index.ts';
import { DUAL, startProxy } from './proxy.fixture.ts';
import { MAIN } from '../run-command.fixture.ts';

let place: Place;
beforeEach(() => {
  place = createPlace();
  writeFileSync(join(place.folder, 'notify.mjs'), NOTIFY);
  writeFileSync(join(place.folder, 'tools.mjs'), TOOLS);
  writeFileSync(join(place.folder, 'allium.yaml'), CONFIG);
});
afterEach(() => place.close());

/** Keeps every question it was told, a line each. */
const NOTIFY = `import { appendFileSync } from 'node:fs';
let text = '';
for await (const chunk of process.stdin) text += chunk;
appendFileSync('told.jsonl', text);
console.log(text);
console.error(text);
process.exit(text.includes('"broken"') ? 3 : 0);
`;

const TOOLS = `export default {
  name: 'write_note', description: 'Writes.', inputSchema: { type: 'object', properties: { text: { type: 'string' } } }, execute: ({ text }) => 'noted ' + text,
};`;

const CONFIG = `version: 1
state: { dir: .allium }
layers: [{ auditLog: local }, { consent: { default: ask } }]
tools: [{ module: ./tools.mjs }]
notify: { command: [${JSON.stringify(process.execPath)}, ./notify.mjs] }
`;

const RULES = `version: 1
state: { dir: .allium }
layers: [{ auditLog: local }, { consent: { rules: [{ tool: 'write_*', decision: deny }], default: allow } }]
`;

const started = (program: 'proxy' | 'serve', words: readonly string[]) =>
  startProxy(words, {
    cwd: place.folder,
    env: { ...place.env, DUAL_NOTES: join(place.folder, 'notes') },
    program: [process.execPath, MAIN, program],
  });
const proxied = (...more: readonly string[]) =>
  started('proxy', ['--name', 'files', ...more, '--', process.execPath, DUAL, 'stdio']);
const notes = () =>
  existsSync(join(place.folder, 'notes')) ? readFileSync(join(place.folder, 'notes'), 'utf8') : '';
const store = () => fileApprovals({ dir: join(place.folder, '.allium', 'approvals') });
const told = () =>
  existsSync(join(place.folder, 'told.jsonl'))
    ? readFileSync(join(place.folder, 'told.jsonl'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { id: string; code: string })
    : [];
const textOf = ({ result }: JsonObject) =>
  ((result as JsonObject).content as readonly JsonObject[])[0]?.text;
const approvalIn = ({ result }: JsonObject) =>
  ((result as JsonObject)._meta as JsonObject)['allium/approval'] as string;

/** Leaves, and waits until the process is gone. */
async function gone(proxy: ReturnType<typeof proxied>): Promise<string> {
  proxy.leave();
  await proxy.ended;
  return proxy.err();
}

describe.each(['proxy', 'serve'] as const)('allium %s with a call that waits', (program) => {
  it('shows client and log neither a command, nor the state folder, nor the code, and tells the notifier', async () => {
    const server = program === 'proxy' ? proxied() : started('serve', []);
    await server.greet();
    const first = await server.call('write_note', { text: 'one' });
    const again = await server.call('write_note', { text: 'one' });
    await server.call('write_note', { text: 'broken' });
    const log = await gone(server);
    // Each notice is sent by a process of its own: which of them writes first is open.
    const notice = told().find(({ id }) => id === approvalIn(first));
    const broken = told().find(({ id }) => id !== approvalIn(first));
    const surfaces = JSON.stringify([first, again]);

    expect(textOf(first)).toMatch(
      /^write_note needs an approval by a person, and waits for it; it has not run\./,
    );
    expect(textOf(again)).toBe(textOf(first));
    expect(told()).toHaveLength(2);
    expect(notice?.code).toMatch(/^\w{5}-\w{5}$/);
    expect(broken?.code).toMatch(/^\w{5}-\w{5}$/);
    for (const secret of [
      /allium approvals/,
      /--dir/,
      /--code/,
      place.folder,
      '.allium',
      notice?.code ?? '',
      broken?.code ?? '',
    ])
      expect(surfaces).not.toMatch(secret);
    for (const { code } of told()) expect(log).not.toContain(code);
    expect(log).toContain(
      `no person was told of ${broken?.id ?? ''}: the command of "notify" ended with 3`,
    );
    expect((await store().list()).map(({ route, code }) => [route, code?.tries])).toEqual([
      ['client', 0],
      ['client', 0],
    ]);
    expect(notes()).toBe('');
  }, 90_000);
});

describe.runIf(hasPty)('notify: terminal', () => {
  it('rings the bell and writes the code to the terminal, and nowhere else', async () => {
    writeFileSync(
      join(place.folder, 'allium.yaml'),
      CONFIG.replace(/notify: .*/, 'notify: terminal'),
    );
    const words = ['--name', 'files', '--', process.execPath, DUAL, 'stdio'];
    const proxy = startProxy(words, { cwd: place.folder, env: place.env, atTerminal: true });
    await proxy.greet();
    const waiting = await proxy.call('write_note', { text: 'one' });
    const code = await vi.waitFor(() => {
      const [, found] = /its code is (\w{5}-\w{5})/.exec(proxy.screen()) ?? [];
      if (found === undefined) throw new Error('nobody was told yet');
      return found;
    }, 30_000);
    const log = await gone(proxy);

    // The terminal may put a carriage return of its own before every line end.
    expect(proxy.screen().replaceAll('\r', '')).toContain(
      `\u0007\nallium: write_note waits for your decision: allium approvals show ${approvalIn(waiting)}`,
    );
    expect(JSON.stringify(waiting) + log).not.toContain(code);
  }, 90_000);
});

describe('receipts of allium proxy', () => {
  it('name the server as the host calls it and the rule that decided, and tell the model neither', async () => {
    writeFileSync(join(place.folder, 'allium.yaml'), RULES);
    const proxy = proxied('--session', 's1');
    await proxy.greet();
    const denied = await proxy.call('write_note', { text: 'one' });
    await proxy.call('add', { a: 1, b: 2 });
    await gone(proxy);
    const facts: unknown[] = [];
    for await (const { server, rule } of queryReceipts(join(place.folder, '.allium', 'receipts')))
      facts.push([server, rule]);

    expect(facts).toEqual([
      ['files', 'consent rule 1 (deny write_*)'],
      ['files', 'consent default (allow)'],
    ]);
    expect(JSON.stringify(denied)).not.toMatch(/rule|files/);
    expect(notes()).toBe('');
  }, 90_000);

  it('make no name of a word that sets a variable', async () => {
    writeFileSync(join(place.folder, 'allium.yaml'), RULES);
    const value = randomBytes(12).toString('hex');
    const proxy = started('proxy', ['--', 'env', `KEY=${value}`, process.execPath, DUAL, 'stdio']);
    await proxy.greet();
    await proxy.call('add', { a: 1, b: 2 });
    await gone(proxy);
    const lines: string[] = [];
    for await (const receipt of queryReceipts(join(place.folder, '.allium', 'receipts')))
      lines.push(JSON.stringify(receipt));

    expect(lines).toHaveLength(1);
    expect(
      lines.join('') + readdirSync(join(place.folder, '.allium', 'receipts')).join(''),
    ).not.toContain(value);
  }, 90_000);

  it('name each of several servers by its name in the file', async () => {
    const server = `{ command: ${JSON.stringify(process.execPath)}, args: [${JSON.stringify(DUAL)}, stdio] }`;
    writeFileSync(
      join(place.folder, 'allium.yaml'),
      `${RULES}proxy: { servers: { one: ${server}, two: ${server.replace('{', '{ prefix: second,')} } }\n`,
    );
    const proxy = started('proxy', []);
    await proxy.greet();
    for (const name of ['one_add', 'second_add']) await proxy.call(name, { a: 1, b: 2 });
    await gone(proxy);
    const servers: unknown[] = [];
    for await (const receipt of queryReceipts(join(place.folder, '.allium', 'receipts')))
      servers.push(receipt.server);

    expect(servers).toEqual(['one', 'two']);
  }, 90_000);
});

describe('allium proxy that is started again', () => {
  it('takes up what was approved meanwhile, once, and keeps an answer for always', async () => {
    const before = proxied();
    await before.greet();
    const once = approvalIn(await before.call('write_note', { text: 'once' }));
    const always = approvalIn(await before.call('write_note', { text: 'always' }));
    await gone(before);
    await answerApproval(store(), once, { decision: 'allow_once', decidedBy: 'ada' });
    await answerApproval(store(), always, { decision: 'allow_always', decidedBy: 'ada' });
    const after = proxied();
    await after.greet();
    const texts = [];
    for (const text of ['once', 'always', 'always', 'once'])
      texts.push(textOf(await after.call('write_note', { text })));
    await gone(after);

    expect(texts.slice(0, 3)).toEqual(['noted once', 'noted always', 'noted always']);
    expect(texts[3]).toContain('needs an approval');
    expect(notes()).toBe('once\nalways\nalways\n');
  }, 90_000);

  it('shares its session with a second one of the same name, and with no other server', async () => {
    const [one, two] = [proxied(), proxied()];
    await Promise.all([one.greet(), two.greet()]);
    await Promise.all([
      one.call('write_note', { text: 'a' }),
      two.call('write_note', { text: 'b' }),
    ]);
    await Promise.all([gone(one), gone(two)]);
    const elsewhere = started('proxy', [
      '--name',
      'files',
      '--',
      process.execPath,
      DUAL,
      'stdio',
      'other',
    ]);
    await elsewhere.greet();
    await elsewhere.call('write_note', { text: 'a' });
    await gone(elsewhere);
    const sessions: string[] = [];
    for await (const { session_id } of queryReceipts(join(place.folder, '.allium', 'receipts')))
      sessions.push(session_id);

    expect(new Set(sessions).size).toBe(2);
    expect(sessions.every((session) => /^files-[0-9a-f]{12}$/.test(session))).toBe(true);
    expect(await verifyReceipts(join(place.folder, '.allium', 'receipts'))).toMatchObject({
      ok: true,
      count: 3,
    });
  }, 90_000);
});
