import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { consent } from '../../middleware/index.ts';
import { governTools } from '../index.ts';
import { type Approval, answerApproval, fileApprovals } from '../policy/index.ts';
import { allium, projectWith } from './run-command.fixture.ts';

const FILES = {
  'allium.yaml':
    'version: 1\nlayers: [{ consent: { default: ask } }]\ntools: [{ module: ./tools.mjs }]\n',
  'tools.mjs': `import { appendFileSync } from 'node:fs';
export default {
  name: 'pay',
  description: 'Pays.',
  inputSchema: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
  execute: ({ to }) => (appendFileSync('paid.txt', to + '\\n'), 'paid ' + to),
};`,
};

/** A project with a call that waits, made by one process. */
function waiting(files: Readonly<Record<string, string>> = FILES, args: readonly string[] = []) {
  const folder = projectWith(files);
  const asked = allium(folder, ['call', 'pay', '--args', '{"to":"bob"}', ...args]);
  const [id = ''] = /approval_[\w-]+/.exec(asked.err) ?? [];
  const paid = () =>
    existsSync(join(folder, 'paid.txt')) ? readFileSync(join(folder, 'paid.txt'), 'utf8') : '';
  /** As a person does at a terminal, which has tests of its own. */
  const approve = (decision = 'allow_once', dir = join(folder, '.allium', 'approvals')) =>
    answerApproval(fileApprovals({ dir }), id, { decision, decidedBy: 'ada' });
  return { folder, asked, id, paid, approve };
}

describe('allium call --resume', () => {
  it('runs once what was approved, in another process, and tells the third', async () => {
    const { folder, asked, id, paid, approve } = waiting();
    await approve();
    const resumed = allium(folder, ['call', '--resume', id], { fresh: true });
    const again = allium(folder, ['call', '--resume', id], { fresh: true });

    expect(asked).toMatchObject({
      code: 1,
      out: expect.stringContaining('needs an approval') as string,
    });
    expect(asked.err).toBe(
      `allium: ${id} waits: a person must decide about it first. Then:\n  allium call --resume ${id}\n`,
    );
    expect(resumed).toEqual({ code: 0, out: 'paid bob\n', err: '' });
    expect(again).toEqual({
      code: 1,
      out: '',
      err: `allium: ERR_APPROVAL_RESOLVED: approval "${id}" was answered before\n`,
    });
    expect(paid()).toBe('bob\n');
  });

  it('takes nothing up that nobody decided about, or knows', () => {
    const { folder, id, paid } = waiting();

    expect(allium(folder, ['call', '--resume', id])).toMatchObject({
      code: 1,
      err: expect.stringContaining('ERR_APPROVAL_PENDING') as string,
    });
    expect(allium(folder, ['call', '--resume', 'unheard'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('ERR_UNKNOWN_APPROVAL') as string,
    });
    expect(allium(folder, ['call', 'pay', '--resume', id])).toMatchObject({ code: 2, out: '' });
    expect(allium(folder, ['call'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('name the tool') as string,
    });
    expect(paid()).toBe('');
  });

  it('says where to go on in a folder without a file', () => {
    const { id } = waiting();
    const emptyFolder = mkdtempSync(join(tmpdir(), 'allium-empty-'));
    onTestFinished(() => rmSync(emptyFolder, { recursive: true }));

    expect(allium(emptyFolder, ['call', '--resume', id])).toEqual({
      code: 2,
      out: '',
      err: 'allium: there is no allium.yaml here: use --resume in the folder that the call was made in, or with --config and its file. A call of an MCP client is made again in the client\n',
    });
  });

  it('says that a call was denied, with the reason, and runs nothing', () => {
    const { folder, id, paid } = waiting();
    allium(folder, ['approvals', 'deny', id.slice(0, 14), '--reason', 'not on a Friday']);
    const { code, out } = allium(folder, ['call', '--resume', id.slice(0, 14)]);

    expect(code).toBe(1);
    expect(out).toContain('not on a Friday');
    expect(paid()).toBe('');
  });

  it('keeps the same call from asking again where it was approved for always, in the same session', async () => {
    const { folder, id, paid, approve } = waiting(FILES, ['--session', 's-1']);
    await approve('allow_always');
    allium(folder, ['call', '--resume', id]);
    const again = allium(folder, ['call', 'pay', '--args', '{"to":"bob"}', '--session', 's-1']);
    const other = allium(folder, ['call', 'pay', '--args', '{"to":"eve"}', '--session', 's-1']);

    expect([again.code, other.code]).toEqual([0, 1]);
    expect(allium(folder, ['grants', 'list']).out).toContain('by ada');
    expect(paid()).toBe('bob\nbob\n');
  });

  it('finds approvals in the state folder that the file names', async () => {
    const { folder, id, paid, approve } = waiting({
      ...FILES,
      'allium.yaml': `${FILES['allium.yaml']}state: { dir: ./kept }\n`,
    });
    const dir = join(folder, 'kept', 'approvals');
    await approve('allow_once', dir);

    expect(await fileApprovals({ dir }).list()).toHaveLength(1);
    expect(allium(folder, ['call', '--resume', id])).toMatchObject({ code: 0 });
    expect(paid()).toBe('bob\n');
  });

  it('takes nothing up that came from a client, or has no such tool here, and uses nothing up', async () => {
    const { folder, id, paid, approve } = waiting();
    const store = fileApprovals({ dir: join(folder, '.allium', 'approvals') });
    const local = await store.get(id);
    await store.add({ ...(local as Approval), id: 'approval_client', route: 'client' }); // It was just made.
    await store.add({ ...(local as Approval), id: 'approval_other', toolName: 'transfer' });
    await approve();
    for (const other of ['approval_client', 'approval_other'])
      await answerApproval(store, other, { decision: 'allow_once' });
    const before = await store.list();
    const [client, other] = ['approval_client', 'approval_other'].map((each) =>
      allium(folder, ['call', '--resume', each]),
    );

    expect(client).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('make the same call again in the client') as string,
    });
    expect(other).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('has no tool "transfer"') as string,
    });
    expect(await store.list()).toEqual(before);
    expect(paid()).toBe('');
    expect(allium(folder, ['call', '--resume', id])).toMatchObject({ code: 0 });
  });

  it('is left as it is by a program that has no such tool, and runs afterwards', async () => {
    const { folder, id, paid, approve } = waiting();
    await approve();
    const other = governTools({
      tools: [],
      layers: [consent({ default: 'ask' })],
      approvals: fileApprovals({ dir: join(folder, '.allium', 'approvals') }),
      onUnknownTool: 'repair',
    });
    const { status } = await other.resume(id);
    await other.close();

    expect([status, paid()]).toEqual(['tool_not_found', '']);
    expect(allium(folder, ['call', '--resume', id])).toMatchObject({ code: 0 });
    expect(paid()).toBe('bob\n');
  });
});
