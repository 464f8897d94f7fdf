import { describe, expect, it } from 'vitest';
import { stateOf } from '../core/onion/own-call.ts';
import { randomCall, randomPolicy } from '../../conformance/benches/fuzz/random-policies.ts';
import { createRandom } from '../../conformance/benches/fuzz/random.ts';
import { echoExecutor, makeCall, type PartialCall } from '../../conformance/test-kit.ts';
import type { ToolAnnotations } from '../core/contract/annotations.ts';
import { composeToolCallers } from '../core/onion/compose.ts';
import { defineLayer } from '../core/contract/layer.ts';
import { excessOf, narrowPolicy, policyOf, promiseRequests } from './ambient-policy.ts';
import type { CapabilityPolicy } from './capability-policy.ts';
import { advertisable } from './tool-reach.ts';

describe('advertisable', () => {
  it('shows a tool exactly if a call to it is not refused for its name, effects or capabilities', () => {
    const random = createRandom(7);
    let shown = 0;
    for (let index = 0; index < 5_000; index += 1) {
      const {
        workspaceRoots: _roots,
        argConstraints: _constraints,
        recursionLimit: _limit,
        ...policy
      } = randomPolicy(random);
      const call = randomCall(random);
      const isShown = advertisable(policy, { name: call.toolName, annotations: call.annotations });
      if (isShown) shown += 1;

      expect(isShown).toBe(excessOf(call, policy, 'scope') === null);
    }

    expect(shown).toBeGreaterThan(500);
    expect(shown).toBeLessThan(4_500);
  });
});

async function statusOf(
  policy: CapabilityPolicy,
  call: PartialCall,
  proposes = false,
): Promise<string> {
  const executor = echoExecutor();
  const layer = defineLayer({
    name: 'scope',
    caller: (entered, next) => {
      if (proposes) promiseRequests(entered);
      return next(narrowPolicy(entered, policy, 'scope'));
    },
  });
  const { status } = await composeToolCallers([layer])(makeCall(call), executor);
  expect(executor.calls).toHaveLength(status === 'ok' ? 1 : 0);
  return status;
}

describe('a call under workspaceRoots', () => {
  it.each<[string, ToolAnnotations, boolean]>([
    ['a tool that says nothing', {}, false],
    ['a tool that only reads', { readOnly: true }, false],
    ['a tool that touches files', { safety: { filesystem: true } }, false],
    [
      'a tool that touches files and calls itself harmless',
      { sideEffectLevel: 'none', safety: { filesystem: true } },
      false,
    ],
    ['a tool that keeps off files', { safety: { filesystem: false } }, true],
    ['a tool without effects', { sideEffectLevel: 'none' }, true],
    [
      'a tool that keeps to a folder inside',
      { safety: { filesystem: true, allowedRoots: ['/srv/a/x', '/srv/a'] } },
      true,
    ],
    ['a tool with one folder outside', { safety: { allowedRoots: ['/srv/a', '/srv'] } }, false],
    ['a tool whose folder leads out', { safety: { allowedRoots: ['/srv/a/../b'] } }, false],
    ['a tool with a relative folder', { safety: { allowedRoots: ['.'] } }, false],
    ['a tool that names no folder', { safety: { allowedRoots: [] } }, false],
    ['folders that cannot be read', { safety: { allowedRoots: '/srv/a' as never } }, false],
  ])('decides about %s', async (_name, annotations, allowed) => {
    expect(await statusOf({ workspaceRoots: ['/srv/a'] }, { annotations })).toBe(
      allowed ? 'ok' : 'permission_denied',
    );
  });

  it('runs where somebody promised to look at each file, for the tool that was promised only', async () => {
    expect(await statusOf({ workspaceRoots: ['/srv'] }, {}, true)).toBe('ok');

    const call = makeCall();
    promiseRequests(call);
    const other = makeCall({ toolName: 'other' });
    expect(excessOf({ ...call, toolName: 'other' }, { workspaceRoots: [] }, 'scope')?.status).toBe(
      'permission_denied',
    );
    expect(excessOf(other, { workspaceRoots: [] }, 'scope')?.status).toBe('permission_denied');
    expect(stateOf(call)).not.toBe(stateOf(other));
  });
});

describe('a call under argConstraints', () => {
  it('is refused with what would pass, and runs when it does', async () => {
    const policy: CapabilityPolicy = { argConstraints: { echo: { branch: { oneOf: ['main'] } } } };
    const refused = excessOf(makeCall({ toolArgs: { branch: 'hunter2' } }), policy, 'scope');

    expect(refused).toEqual({
      status: 'permission_denied',
      message:
        'echo is not allowed here: its argument "branch" must be one of "main". Change it and call again, or leave it.',
      blockedBy: 'scope',
    });
    expect(await statusOf(policy, { toolArgs: { branch: 'main' } })).toBe('ok');
    expect(await statusOf(policy, { toolArgs: { branch: 'x' } })).toBe('permission_denied');
    expect(await statusOf(policy, {})).toBe('permission_denied');
  });
});

describe('policyOf', () => {
  it('is what every guard was made from, also where a copy of the call was put aside', () => {
    const outer = narrowPolicy(makeCall(), { workspaceRoots: ['/a'] }, 'outer');
    const inner = narrowPolicy(outer, { workspaceRoots: ['/a/b', '/c'] }, 'inner');

    expect(policyOf(inner)).toEqual({ workspaceRoots: ['/a/b'] });
    expect(policyOf(outer)).toEqual({ workspaceRoots: ['/a'] });
  });
});
