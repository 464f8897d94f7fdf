import { describe, expect, it } from 'vitest';
import { echoExecutor, makeCall, type PartialCall, settle } from '../../conformance/index.ts';
import {
  composeToolCallers,
  defineTool,
  governTools,
  isAlliumError,
  type Next,
  ok,
  type ToolAnnotations,
  type ToolCaller,
  type ToolLayer,
  withCall,
} from '../../src/index.ts';
import { accountOf } from '../../src/layer.ts';
import { policyOf } from '../../src/policy/index.ts';
import { scopedExecutor, type ScopedExecutorOptions } from './scoped-executor.ts';

async function run(
  options: ScopedExecutorOptions,
  call: PartialCall = {},
  inside: readonly (ToolLayer | ToolCaller)[] = [],
) {
  const executor = echoExecutor();
  const result = await composeToolCallers([scopedExecutor(options), ...inside])(
    makeCall(call),
    executor,
  );
  return { result, ran: executor.calls.length };
}

const renamed =
  (toolName: string): ToolCaller =>
  (call, next) =>
    next(withCall(call, { toolName }));

describe('scopedExecutor', () => {
  it('lets a tool of the scope run, and says which scope it ran in', async () => {
    const { result, ran } = await run({
      stage: 'review',
      allowedTools: ['echo'],
      sideEffectLevel: 'network',
    });

    expect(ran).toBe(1);
    expect(result.status).toBe('ok');
    expect(result.audit?.scope).toEqual({
      stage: 'review',
      allowedTools: ['echo'],
      sideEffectLevel: 'network',
    });
    expect(result.audit?.layers).toMatchObject([
      { name: 'scopedExecutor', status: 'ok', stage: 'review' },
    ]);
  });

  it('refuses a tool outside the scope as scope_violation', async () => {
    const { result, ran } = await run(
      { stage: 'review', allowedTools: ['read'] },
      { toolArgs: { password: 'hunter2' } },
    );

    expect(ran).toBe(0);
    expect(result).toMatchObject({
      status: 'scope_violation',
      errorCategory: 'scope_violation',
      executed: 'no',
    });
    expect(result.error).toBe(
      'echo is not among the tools of the stage "review". Use another tool or leave it.',
    );
    expect(result.audit).toMatchObject({
      scope: { stage: 'review' },
      layers: [{ name: 'scopedExecutor', status: 'rejected', stage: 'review' }],
    });
    expect(accountOf(result).blockedBy).toBe('scopedExecutor');
  });

  it('refuses another tool that a layer below chose as permission_denied', async () => {
    const { result, ran } = await run({ allowedTools: ['echo'] }, {}, [renamed('rm')]);

    expect(ran).toBe(0);
    expect(result).toMatchObject({
      status: 'permission_denied',
      errorCategory: 'permission_denied',
      executed: 'no',
    });
    expect(accountOf(result).blockedBy).toBe('scopedExecutor');
  });

  it('holds a tool that a layer below chose to the effects allowed, whatever the first tool said about itself', async () => {
    const { result, ran } = await run(
      { sideEffectLevel: 'read_only' },
      { annotations: { readOnly: true } },
      [renamed('rm')],
    );

    expect(result.status).toBe('permission_denied');
    expect(ran).toBe(0);
  });

  it('would let it run if only the name at the entrance were checked', async () => {
    const naive: ToolCaller = (call, next) => (call.toolName === 'echo' ? next(call) : ok(call));
    const executor = echoExecutor();
    await composeToolCallers([naive, renamed('rm')])(makeCall(), executor);

    expect(executor.calls.map(({ toolName }) => toolName)).toEqual(['rm']);
  });
});

describe('scopedExecutor with', () => {
  it.each<[string, ScopedExecutorOptions, PartialCall, string]>([
    ['allowedTools absent allows every tool', {}, { toolName: 'anything' }, 'ok'],
    ['allowedTools undefined allows every tool', { allowedTools: undefined as never }, {}, 'ok'],
    ['allowedTools empty allows none', { allowedTools: [] }, {}, 'scope_violation'],
    [
      'allowedTools matches names exactly',
      { allowedTools: ['Echo', 'ech', 'echo '] },
      {},
      'scope_violation',
    ],
    [
      'allowedTools knows no name that every object has',
      { allowedTools: ['echo'] },
      { toolName: 'constructor' },
      'scope_violation',
    ],
    [
      'allowedTools may name what every object has',
      { allowedTools: ['__proto__'] },
      { toolName: '__proto__' },
      'ok',
    ],
    [
      'sideEffectLevel allows up to its level',
      { sideEffectLevel: 'workspace_write' },
      { annotations: { sideEffectLevel: 'read_only' } },
      'ok',
    ],
    [
      'sideEffectLevel allows no more',
      { sideEffectLevel: 'workspace_write' },
      { annotations: { sideEffectLevel: 'network' } },
      'permission_denied',
    ],
    [
      'sideEffectLevel takes a tool that says nothing for the worst',
      { sideEffectLevel: 'process_exec' },
      {},
      'permission_denied',
    ],
    [
      'capabilities allows what it lists',
      { capabilities: { fs: ['read'] } },
      { annotations: { capabilities: { fs: ['read'] } } },
      'ok',
    ],
    [
      'capabilities allows no other operation',
      { capabilities: { fs: ['read'] } },
      { annotations: { capabilities: { fs: ['write'] } } },
      'permission_denied',
    ],
    [
      'capabilities allows no other capability',
      { capabilities: { fs: ['read'] } },
      { annotations: { capabilities: { net: ['read'] } } },
      'permission_denied',
    ],
    [
      'capabilities empty allows none',
      { capabilities: {} },
      { annotations: { capabilities: { fs: ['read'] } } },
      'permission_denied',
    ],
    [
      'workspaceRoots takes a tool that says nothing for the worst',
      { workspaceRoots: ['/srv'] },
      {},
      'permission_denied',
    ],
    [
      'workspaceRoots allows a tool that keeps to them',
      { workspaceRoots: ['/srv'] },
      { annotations: { safety: { allowedRoots: ['/srv/a'] } } },
      'ok',
    ],
    [
      'argConstraints allows what passes',
      { argConstraints: { echo: { n: { maximum: 2 } } } },
      { toolArgs: { n: 2 } },
      'ok',
    ],
    [
      'argConstraints allows nothing else',
      { argConstraints: { echo: { n: { maximum: 2 } } } },
      { toolArgs: { n: 3 } },
      'permission_denied',
    ],
    ['recursionLimit allows the call of the model', { recursionLimit: 0 }, {}, 'ok'],
    [
      'capabilities takes a tool that names none for the worst',
      { capabilities: { fs: ['read'] } },
      {},
      'permission_denied',
    ],
  ])('%s', async (_name, options, call, status) => {
    const { result, ran } = await run(options, call);

    expect(result.status).toBe(status);
    expect(ran).toBe(status === 'ok' ? 1 : 0);
  });

  it('hide shows only what could be called, and absent shows everything', () => {
    const tool = (name: string, annotations: ToolAnnotations = {}) =>
      defineTool({
        name,
        description: 'd',
        inputSchema: { type: 'object' },
        annotations,
        execute: () => name,
      });
    const tools = [
      tool('read', { readOnly: true }),
      tool('wipe'),
      tool('other', { readOnly: true }),
    ];
    const shown = (options: ScopedExecutorOptions) =>
      governTools({
        tools,
        layers: [
          scopedExecutor({
            allowedTools: ['read', 'wipe'],
            sideEffectLevel: 'read_only',
            ...options,
          }),
        ],
      }).tools;

    expect(shown({ hide: true }).map(({ name }) => name)).toEqual(['read']);
    expect(shown({}).map(({ name }) => name)).toEqual(['read', 'wipe', 'other']);
  });

  it('stage absent is called scoped', async () => {
    expect((await run({})).result.audit?.scope).toEqual({ stage: 'scoped' });
  });

  it('onViolation raise throws at the outer edge, after every outer layer has seen the refusal', async () => {
    const seen: string[] = [];
    const watch: ToolCaller = async (call, next) => {
      const result = await next(call);
      seen.push(result.status);
      return ok(call, 'all is well');
    };
    const executor = echoExecutor();
    const calling = composeToolCallers([
      watch,
      scopedExecutor({ allowedTools: [], onViolation: 'raise' }),
    ])(makeCall(), executor);

    await expect(calling).rejects.toSatisfy(
      (error) =>
        isAlliumError(error, 'ERR_CALL_REFUSED') && error.details.status === 'scope_violation',
    );
    expect(seen).toEqual(['scope_violation']);
    expect(executor.calls).toHaveLength(0);
  });
});

describe('scopes inside scopes', () => {
  it.each<[ScopedExecutorOptions, ScopedExecutorOptions, string]>([
    [{ allowedTools: ['echo', 'a'] }, { allowedTools: ['echo', 'b'] }, 'ok'],
    [{ allowedTools: ['a'] }, { allowedTools: ['echo'] }, 'scope_violation'],
    [{ allowedTools: ['echo'] }, { allowedTools: [] }, 'scope_violation'],
    [{ allowedTools: [] }, {}, 'scope_violation'],
    [{ sideEffectLevel: 'read_only' }, { sideEffectLevel: 'network' }, 'permission_denied'],
    [{ sideEffectLevel: 'network' }, { sideEffectLevel: 'read_only' }, 'permission_denied'],
    [{ capabilities: { fs: ['read'] } }, { capabilities: { fs: ['write'] } }, 'permission_denied'],
  ])('%j around %j ends %s', async (outer, inner, status) => {
    const { result, ran } = await run(outer, {}, [scopedExecutor(inner)]);

    expect(result.status).toBe(status);
    expect(ran).toBe(status === 'ok' ? 1 : 0);
  });

  it('do not widen each other when a layer between them changes the tool', async () => {
    const { result, ran } = await run({ allowedTools: ['echo'] }, {}, [
      renamed('rm'),
      scopedExecutor({ allowedTools: ['rm'] }),
    ]);

    expect(result.status).toBe('permission_denied');
    expect(ran).toBe(0);
  });

  it('are gone on every exit', async () => {
    const failing: Next = () => Promise.reject(new Error('no'));
    const scope = scopedExecutor({ allowedTools: ['echo'] });
    const call = makeCall();
    await composeToolCallers([scope])(call, failing);
    await composeToolCallers([scope])(makeCall({ toolName: 'other' }), echoExecutor());
    const executor = echoExecutor();
    await composeToolCallers([])(makeCall({ toolName: 'other' }), executor);

    expect(policyOf(call)).toBeNull();
    expect(executor.calls).toHaveLength(1);
  });

  it('keep parallel calls apart', async () => {
    const seen = new Map<string, unknown>();
    const look: Next = async (call) => {
      await settle();
      seen.set(call.toolName, policyOf(call)?.tools);
      await settle();
      return ok(call);
    };
    const names = Array.from({ length: 100 }, (_, index) => `tool_${index}`);
    const results = await Promise.all(
      names.map((name) =>
        composeToolCallers([scopedExecutor({ stage: name, allowedTools: [name] })])(
          makeCall({ toolName: name }),
          look,
        ),
      ),
    );

    expect(names.map((name) => seen.get(name))).toEqual(names.map((name) => [name]));
    expect(results.map((result) => result.audit?.scope?.stage)).toEqual(names);
  });

  it('are not changed by a list that the host changes later', async () => {
    const allowedTools = ['read'];
    const capabilities = { fs: ['read'] };
    const layer = scopedExecutor({ allowedTools, capabilities });
    allowedTools.push('echo');
    capabilities.fs.push('write');
    const result = await composeToolCallers([layer])(makeCall(), echoExecutor());

    expect(result.status).toBe('scope_violation');
    expect(result.audit?.scope?.allowedTools).toEqual(['read']);
  });
});

describe('scopedExecutor is not built with', () => {
  it.each([
    [undefined],
    [null],
    [{ tools: ['a'] }],
    [{ allowedTools: 'a' }],
    [{ allowedTools: null }],
    [{ allowedTools: ['read_*'] }],
    [{ allowedTools: ['*'] }],
    [{ allowedTools: [''] }],
    [{ sideEffectLevel: 'everything' }],
    [{ capabilities: { fs: 'read' } }],
    [{ capabilities: ['fs'] }],
    [{ onViolation: 'warn' }],
    [{ stage: '' }],
    [{ workspaceRoots: ['src'] }],
    [{ workspaceRoots: '/srv' }],
    [{ argConstraints: { echo: { n: {} } } }],
    [{ argConstraints: { echo: { n: { max: 2 } } } }],
    [{ recursionLimit: -1 }],
    [{ hide: 'yes' }],
  ])('%j', (options) => {
    expect(() => scopedExecutor(options as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error,
    );
  });
});
