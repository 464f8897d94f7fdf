import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { composeToolCallers } from '../index.ts';
import { fileApprovals, fileGrants } from '../policy/index.ts';
import { folderWith, load, problemsIn, stack, TOOLS } from './files.fixture.ts';
import { loadConfig } from './index.ts';

const YAML = `version: 1
session: { id: demo, runId: run-1, model: m-1 }
state: { dir: kept }
layers:
  - auditLog: local
  - requiredReason
  - rateLimit: { maxCalls: 2, windowMs: 60000, per: session }
  - use: ./my-layer.ts#refuse
    with: { word: no }
    only: [shell_*]
    except: [shell_ls]
tools:
  - module: ./tools.ts
limits: { maxConcurrent: 2 }
`;
const MY_LAYER = `import { defineLayer, refuse as refused } from 'allium';
export const refuse = ({ word }: { word: string }) =>
  defineLayer({ name: 'refuse', caller: (call) => refused(call, 'policy_blocked', word) });
export default defineLayer({ name: 'ready', caller: (call, next) => next(call) });
export const orderOf = (call: { toolArgs: { id: string } }) => call.toolArgs.id;
`;
const files = { 'allium.yaml': YAML, 'tools.ts': TOOLS, 'my-layer.ts': MY_LAYER };

describe('loadConfig', () => {
  it('closes the layers it has built when something else is wrong', async () => {
    const layer = `import { writeFileSync } from 'node:fs';
export default { name: 'mine', caller: (call, next) => next(call), close: async () => writeFileSync(new URL('closed', import.meta.url), '') };`;
    const folder = folderWith({ ...stack('  - use: ./mine.mjs', '  - dryRnu'), 'mine.mjs': layer });

    await expect(loadConfig(folder, { env: {} })).rejects.toThrow('dryRnu');
    expect(existsSync(join(folder, 'closed'))).toBe(true);
  });

  it('builds the layers, loads the tools and governs them', async () => {
    const config = await load(files);
    const governed = config.govern();
    const result = await governed.call({ name: 'echo', arguments: { id: 'a', reason: 'why not' } });

    expect(config.layers.map(({ name }) => name)).toEqual([
      'auditLog',
      'requiredReason',
      'rateLimit',
      'refuse',
    ]);
    expect(config.tools.names).toEqual(['echo', 'shell_ls', 'shell_rm', 'web_get']);
    expect(result).toMatchObject({ status: 'ok', result: { name: 'echo', id: 'a' } });
    expect(Object.isFrozen(config)).toBe(true);
  });

  it('lets a layer from a module act upon the tools it is for', async () => {
    const governed = (await load(files)).govern();
    const statusOf = async (name: string) =>
      (await governed.call({ name, arguments: { reason: 'r' } })).status;

    expect([await statusOf('shell_rm'), await statusOf('shell_ls')]).toEqual([
      'policy_blocked',
      'ok',
    ]);
  });

  it('gives calls the session of the file, and lets a host say otherwise', async () => {
    const config = await load(files);
    const sessions: unknown[] = [];
    const governed = config.govern();
    governed.on('tool_call', ({ session_id }) => sessions.push(session_id));
    await governed.call({ name: 'echo', arguments: {} });
    await governed.call({ name: 'echo', arguments: {} }, { turn: { sessionId: 'other' } });
    await governed.batch([{ name: 'echo', arguments: {} }]);

    expect(sessions).toEqual(['demo', 'other', 'demo']);
    expect(config.session).toEqual({ sessionId: 'demo', runId: 'run-1', model: 'm-1' });
  });

  it('keeps state beside the file, not where the process runs', async () => {
    const config = await load(files);
    await config.govern().call({ name: 'echo', arguments: {} });
    await config.close();

    expect(config.stateDir).toBe(join(config.file, '..', 'kept'));
    expect(existsSync(join(config.stateDir, 'receipts'))).toBe(true);
    expect(existsSync(join(process.cwd(), 'kept'))).toBe(false);
  });

  it('closes its layers once, whoever asks', async () => {
    const closed = `export const counts = { closed: 0 };
export default { name: 'counting', caller: (call, next) => next(call), close: async () => { counts.closed += 1; } };`;
    const folder = folderWith({ ...stack('  - use: ./counting.mjs'), 'counting.mjs': closed });
    const config = await loadConfig(folder);
    await config.govern().close();
    await config.govern().close();
    await config.close();
    const { counts } = (await import(join(folder, 'counting.mjs'))) as {
      counts: { closed: number };
    };

    expect(counts.closed).toBe(1);
  });

  it('lets a host replace what the file says', async () => {
    const governed = (await load(files)).govern({ layers: [] });

    expect((await governed.call({ name: 'shell_rm', arguments: {} })).status).toBe('ok');
  });

  it('reads JSON', async () => {
    const config = await load({
      'allium.json': JSON.stringify(
        { version: 1, layers: [{ dryRun: { message: 'x' } }] },
        null,
        '\t',
      ),
    });

    expect(config.layers.map(({ name }) => name)).toEqual(['dryRun']);
  });

  it.each(['allium.ts', 'allium.mjs'])(
    'reads %s, where functions and ready layers may stand',
    async (name) => {
      const from = name.endsWith('.ts')
        ? `import { passThrough } from 'allium';`
        : 'const passThrough = { name: "passThrough", caller: (call, next) => next(call) };';
      const text = `${from}
export default { version: 1, layers: [passThrough, { idempotency: { key: (call) => call.toolArgs.id, store: null } }, { consent: () => true },
  { consent: { rules: [{ tool: '*', when: () => true, decision: 'allow' }] } }, { summary: { $path: 'toolName' } }] };`;
      const config = await load({ [name]: text });

      expect(config.layers.map((layer) => layer.name)).toEqual([
        'passThrough',
        'idempotency',
        'consent',
        'consent',
        'summary',
      ]);
      expect(() => composeToolCallers(config.layers)).not.toThrow();
    },
  );

  it('takes functions from modules and packages', async () => {
    const config = await load({
      ...files,
      ...stack(
        '  - idempotency: { mode: effect, key: { $module: ./my-layer.ts#orderOf } }',
        '  - use: ./my-layer.ts',
      ),
      'my-layer.ts': MY_LAYER,
    });

    expect(config.layers.map(({ name }) => name)).toEqual(['idempotency', 'ready']);
  });

  it('takes some tools of a module, under a prefix', async () => {
    const config = await load({
      'tools.ts': TOOLS,
      'allium.yaml':
        'version: 1\nlayers: []\ntools:\n  - { module: ./tools.ts, prefix: my, only: [shell_*, echo], except: [shell_rm] }\n  - module: ./tools.ts#registry\n',
    });

    expect(config.tools.names).toEqual(['my_echo', 'my_shell_ls', 'web_get']);
  });

  it('hands secrets to tools that ask for them', async () => {
    const tools = `import { defineTool } from 'allium';
export default defineTool({ name: 'peek', description: '', inputSchema: { type: 'object' }, injected: [{ name: 'key', from: 'secret:api' }], execute: ({ key }) => key.length });`;
    const yaml =
      'version: 1\nlayers: []\ntools: [{ module: ./tools.ts }]\nsecrets: { api: "${API_KEY}" }\n';
    const config = await load(
      { 'allium.yaml': yaml, 'tools.ts': tools },
      { env: { API_KEY: 'k'.repeat(7) } },
    );

    expect((await config.govern().call({ name: 'peek', arguments: {} })).result).toBe(7);
    expect(
      await problemsIn(
        { 'allium.yaml': yaml.replace('api:', 'apj:'), 'tools.ts': tools },
        { env: { API_KEY: 'k' } },
      ),
    ).toEqual([
      'allium.yaml:4:10: governTools: tool "peek" needs secret "api", which was not given',
    ]);
  });

  it('takes a file by its path, wherever it is', async () => {
    const folder = folderWith({ 'other.yaml': 'version: 1\nlayers: [dryRun]\n' });
    const config = await loadConfig(join(folder, 'other.yaml'));
    onTestFinished(() => config.close());

    expect(config.layers).toHaveLength(1);
  });

  it('refuses a folder without a file, and one with two', async () => {
    expect(await problemsIn({})).toEqual([
      '.: there is no allium.yaml here; "allium init" writes one',
    ]);
    expect(await problemsIn({ 'allium.yaml': '', 'allium.json': '' })).toEqual([
      '.: there are both allium.yaml and allium.json; say which one is meant',
    ]);
    await expect(loadConfig('gone.yaml')).rejects.toThrow('gone.yaml: there is no such file');
    await expect(loadConfig('LICENSE')).rejects.toThrow('a file ends in .yaml');
  });

  it('keeps calls that wait and standing approvals in the state folder, for the folder of the file', async () => {
    const files = {
      'tools.ts': TOOLS,
      ...stack(
        '  - consent: { default: ask }',
        'state: { dir: ./kept }',
        'tools: [{ module: ./tools.ts }]',
      ),
    };
    const config = await load(files);
    const asked = await config.govern().call({ name: 'echo', arguments: {} });
    const resumed = await config
      .govern()
      .resume(asked.interruption?.id ?? '', { decision: 'allow_always', decidedBy: 'ada' });

    expect([asked.status, resumed.status]).toEqual(['approval_required', 'ok']);
    expect(
      await fileApprovals({ dir: join(config.stateDir, 'approvals') }).list({ ended: true }),
    ).toHaveLength(1);
    expect(await fileGrants({ dir: join(config.stateDir, 'grants') }).list()).toMatchObject([
      { workspace: dirname(config.file) },
    ]);
  });
});
