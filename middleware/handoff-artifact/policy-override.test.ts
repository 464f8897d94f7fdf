import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeCall } from '../../conformance/index.ts';
import { composeToolCallers, defineLayer, ok } from '../../src/index.ts';
import {
  allows,
  type ArgConstraints,
  type CapabilityPolicy,
  narrowPolicy,
  type PolicyQuestion,
} from '../../src/policy/index.ts';
import { least, taken } from './handoff.fixture.ts';
import { handoffArtifact } from './handoff-artifact.ts';
import { howMany } from '../../conformance/how-many.fixture.ts';

describe('a policyOverride', () => {
  const tools = ['read_file', 'write_file', 'send_mail', 'constructor'];
  const capabilities = ['workspace', 'network', '__proto__', 'toString'];
  const operations = ['read', 'write', 'delete'];
  const levels = ['none', 'read_only', 'workspace_write', 'process_exec', 'network'] as const;
  const policyOf = (): fc.Arbitrary<CapabilityPolicy> =>
    fc.record(
      {
        tools: fc.subarray(tools),
        capabilities: fc
          .array(fc.tuple(fc.constantFrom(...capabilities), fc.subarray(operations)), {
            maxLength: 4,
          })
          .map((entries) => Object.fromEntries(entries)),
        sideEffectLevel: fc.constantFrom(...levels),
        recursionLimit: fc.nat({ max: 4 }),
        workspaceRoots: fc.subarray(['/srv', '/srv/a', '/srv/ab', '/home']),
        argConstraints: fc.constantFrom<ArgConstraints>(
          { read_file: { path: { within: ['/srv/a'] } } },
          {
            read_file: { path: [{ prefix: '/srv' }], mode: { absent: 'required' } },
            constructor: { path: { maxLength: 4 } },
          },
          {},
        ),
      },
      { requiredKeys: [] },
    );
  const questions: readonly PolicyQuestion[] = [
    ...[...tools, 'other'].map((toolName) => ({ toolName })),
    ...levels.map((sideEffectLevel) => ({ sideEffectLevel })),
    ...[...capabilities, 'other'].flatMap((capability) => [
      { capability },
      ...operations.map((operation) => ({ capability, operation })),
    ]),
    ...[0, 1, 2, 3, 4, 5].map((depth) => ({ depth })),
    ...['/', '/srv', '/srv/a/x', '/srv/ab', '/srv/a/../b', '/home/x'].map((path) => ({ path })),
    ...['/srv', '/srv/a/x', '/srv/ab', 1].flatMap((path) =>
      tools.flatMap((toolName) => [
        { toolName, args: { path } },
        { toolName, args: { path, mode: 'w' } },
        { toolName, args: {} },
      ]),
    ),
  ];
  /** The questions to which `inner` says yes and `outer` no. */
  const widenings = (inner: CapabilityPolicy, outer: CapabilityPolicy) =>
    questions.filter((question) => allows(inner, question) && !allows(outer, question));

  it('is never wider than what the call is under, nor than what was asked for', () => {
    const numRuns = howMany(1_500, 5_000);
    let replaced = 0;
    fc.assert(
      fc.property(policyOf(), policyOf(), (ambient, wanted) => {
        const { record, leftOut, tightened } = taken(
          { policyOverride: wanted },
          { policy: ambient },
        );
        const override = record.policyOverride ?? {};

        expect(leftOut).toEqual([]);
        expect(widenings(override, ambient)).toEqual([]);
        expect(widenings(override, wanted)).toEqual([]);
        expect(tightened || widenings(wanted, override).length === 0).toBe(true);
        if (widenings(wanted, ambient).length > 0) replaced += 1;
      }),
      { numRuns },
    );

    expect(replaced).toBeGreaterThan(numRuns / 5); // Adopted as it is, the override would have widened these.
  });

  it.each<[string, unknown]>([
    ['a misspelt key', { tols: [] }],
    ['a list', []],
    ['a text', 'none'],
    ['a level nobody knows', { sideEffectLevel: 'everything' }],
    ['an empty name', { tools: [''] }],
    ['a number among names', { tools: [1] }],
    ['a negative limit', { recursionLimit: -1 }],
    ['a relative folder', { workspaceRoots: ['srv'] }],
    ['a constraint nobody knows', { argConstraints: { read_file: { path: { pattern: '.*' } } } }],
    ['a lone surrogate', { tools: ['\udc00'] }],
  ])('with %s is dropped and noted', (_name, policyOverride) => {
    const { record, leftOut } = taken({ policyOverride }, { policy: { tools: ['read_file'] } });

    expect(record).not.toHaveProperty('policyOverride');
    expect(leftOut).toEqual(['policyOverride']);
  });

  const scoped = defineLayer({
    name: 'scoped',
    caller: (call, next) => next(narrowPolicy(call, { tools: ['echo', 'read_file'] }, 'scoped')),
  });

  it('is cut down to what layers outside laid down', async () => {
    const handoff = {
      ...least,
      policyOverride: { tools: ['read_file', 'send_mail'], sideEffectLevel: 'network' },
    };
    const result = await composeToolCallers([scoped, handoffArtifact()])(makeCall(), async (call) =>
      ok(call, { handoff }),
    );

    expect(result.audit?.handoff?.policyOverride).toEqual({
      tools: ['read_file'],
      sideEffectLevel: 'network',
    });
    expect(result.audit?.layers).toMatchObject([
      { name: 'handoffArtifact', policyTightened: true },
      { name: 'scoped' },
    ]);
  });

  it('that is not cut down is not said to be, in whatever order it lists its names', () => {
    const { tightened } = taken(
      { policyOverride: { tools: ['b', 'a', 'b'] } },
      { policy: { tools: ['a', 'b', 'c'] } },
    );

    expect(tightened).toBe(false);
  });

  it('that a scrub has touched is dropped: a restriction may be gone', async () => {
    const masking = defineLayer({
      name: 'masking',
      scrub: (text) => text.replaceAll('tools', '***'),
      caller: (call, next) => next(call),
    });
    const handoff = { ...least, policyOverride: { tools: ['read_file', 'send_mail'] } };
    const result = await composeToolCallers([masking, scoped, handoffArtifact()])(
      makeCall(),
      async (call) => ok(call, { handoff }),
    );

    expect(result.audit?.handoff).toMatchObject({ task: 'c' });
    expect(result.audit?.handoff).not.toHaveProperty('policyOverride');
    expect(result.audit?.layers).toMatchObject([
      { leftOut: ['policyOverride'], policyTightened: false },
      {},
      {},
    ]);
  });
});
