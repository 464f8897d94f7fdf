import { describe, expect, it } from 'vitest';
import { withCall } from '../core/onion/own-call.ts';
import { echoExecutor, makeCall, type PartialCall } from '../../conformance/test-kit.ts';
import { accountOf } from '../core/onion/account.ts';
import type { ToolAnnotations } from '../core/contract/annotations.ts';
import { composeToolCallers } from '../core/onion/compose.ts';
import { defineLayer, type ToolCaller, type ToolLayer } from '../core/contract/layer.ts';
import type { ToolResult } from '../core/contract/result.ts';
import { narrowPolicy, policyOf } from './ambient-policy.ts';
import type { CapabilityPolicy } from './capability-policy.ts';

const under = (policy: CapabilityPolicy, owner = 'scope'): ToolLayer =>
  defineLayer({ name: owner, caller: (call, next) => next(narrowPolicy(call, policy, owner)) });

async function run(
  layers: readonly (ToolLayer | ToolCaller)[],
  call: PartialCall = {},
): Promise<{ result: ToolResult; ran: number }> {
  const executor = echoExecutor();
  const result = await composeToolCallers(layers)(makeCall(call), executor);
  return { result, ran: executor.calls.length };
}

const renamed =
  (toolName: string): ToolCaller =>
  (call, next) =>
    next(withCall(call, { toolName }));

describe('narrowPolicy', () => {
  it('lets a call through that keeps to it', async () => {
    const { result, ran } = await run([under({ tools: ['echo'], sideEffectLevel: 'read_only' })], {
      annotations: { readOnly: true },
    });

    expect(result.status).toBe('ok');
    expect(ran).toBe(1);
  });

  it('turns a call away right before the tool, and names the layer whose policy it breaks', async () => {
    const { result, ran } = await run([
      under({ tools: ['other'] }, 'outer'),
      under({ tools: ['echo'] }, 'inner'),
    ]);

    expect(result).toMatchObject({
      status: 'permission_denied',
      errorCategory: 'permission_denied',
      executed: 'no',
    });
    expect(accountOf(result).blockedBy).toBe('outer');
    expect(ran).toBe(0);
  });

  it.each<[string, CapabilityPolicy, ToolAnnotations, boolean]>([
    ['a tool that says nothing, under a ceiling', { sideEffectLevel: 'process_exec' }, {}, false],
    [
      'a tool that says nothing, under the highest ceiling',
      { sideEffectLevel: 'network' },
      {},
      true,
    ],
    ['a tool that only reads', { sideEffectLevel: 'read_only' }, { readOnly: true }, true],
    [
      'a tool that only reads, where nothing may',
      { sideEffectLevel: 'none' },
      { readOnly: true },
      false,
    ],
    [
      'a level above the ceiling',
      { sideEffectLevel: 'read_only' },
      { sideEffectLevel: 'workspace_write' },
      false,
    ],
    [
      'a level that nobody knows',
      { sideEffectLevel: 'process_exec' },
      { sideEffectLevel: 'harmless' as never },
      false,
    ],
    ['no capabilities named', { capabilities: { fs: ['read'] } }, {}, false],
    [
      'a capability without an operation',
      { capabilities: { fs: ['read'] } },
      { capabilities: { fs: [] } },
      false,
    ],
    [
      'another capability without an operation',
      { capabilities: { fs: ['read'] } },
      { capabilities: { fs: ['read'], net: [] } },
      false,
    ],
    [
      'an operation that is not allowed',
      { capabilities: { fs: ['read'] } },
      { capabilities: { fs: ['read', 'write'] } },
      false,
    ],
    [
      'operations that are',
      { capabilities: { fs: ['read', 'write'] } },
      { capabilities: { fs: ['read'] } },
      true,
    ],
    [
      'capabilities where none are asked for',
      { tools: ['echo'] },
      { capabilities: { fs: ['write'] } },
      true,
    ],
    [
      'capabilities that cannot be read',
      { capabilities: { fs: ['read'] } },
      { capabilities: { fs: null as never } },
      false,
    ],
  ])('decides about %s', async (_name, policy, annotations, allowed) => {
    const { result, ran } = await run([under(policy)], { annotations });

    expect(result.status).toBe(allowed ? 'ok' : 'permission_denied');
    expect(ran).toBe(allowed ? 1 : 0);
  });

  it('does not take the annotations of one tool for those of another that a layer below chose', async () => {
    const harmless = { annotations: { readOnly: true, capabilities: { fs: ['read'] } } };

    expect(
      (await run([under({ sideEffectLevel: 'read_only' }), renamed('rm')], harmless)).result.status,
    ).toBe('permission_denied');
    expect(
      (await run([under({ capabilities: { fs: ['read'] } }), renamed('rm')], harmless)).result
        .status,
    ).toBe('permission_denied');
    expect(
      (await run([under({ sideEffectLevel: 'read_only' }), renamed('echo')], harmless)).result
        .status,
    ).toBe('ok');
    expect(
      (await run([under({ tools: ['echo', 'rm'] }), renamed('rm')], harmless)).result.status,
    ).toBe('ok');
  });

  it('tells how deep tools may call tools', async () => {
    const executor = echoExecutor();
    const stack = composeToolCallers([under({ recursionLimit: 1 })]);

    expect((await stack(makeCall({}, { nesting: 1 }), executor)).status).toBe('ok');
    expect((await stack(makeCall({}, { nesting: 2 }), executor)).status).toBe('permission_denied');
    expect(executor.calls).toHaveLength(1);
  });

  it('is not changed by a list that is changed later', async () => {
    const tools = ['other'];
    const policy = Object.freeze({ tools });
    const widening: ToolCaller = (call, next) => {
      tools.push('echo');
      return next(call);
    };

    expect((await run([under(policy), widening])).result.status).toBe('permission_denied');
  });

  it('refuses what is no policy', () => {
    expect(() => narrowPolicy(makeCall(), { tool: [] } as never, 'scope')).toThrow(
      'scope policy has no option "tool"',
    );
  });
});

describe('policyOf', () => {
  it('is null where nothing restricts, and the intersection below two scopes', async () => {
    const seen: (CapabilityPolicy | null)[] = [];
    const look: ToolCaller = (call, next) => {
      seen.push(policyOf(call));
      return next(call);
    };
    await run([
      look,
      under({ tools: ['echo', 'a'], sideEffectLevel: 'network' }),
      look,
      under({ tools: ['b', 'echo'] }),
      look,
    ]);

    expect(seen).toEqual([
      null,
      { tools: ['a', 'echo'], sideEffectLevel: 'network' },
      { tools: ['echo'], sideEffectLevel: 'network' },
    ]);
  });

  it('leaves the call that was narrowed as it was', () => {
    const call = makeCall();
    narrowPolicy(call, { tools: [] }, 'scope');

    expect(policyOf(call)).toBeNull();
  });
});
