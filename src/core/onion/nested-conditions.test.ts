import { AsyncResource } from 'node:async_hooks';
import { describe, expect, it } from 'vitest';
import type { Conditions, Guard } from './pass.ts';

import { echoExecutor, makeCall, settle } from '../../../conformance/test-kit.ts';
import { type GovernedTools, governTools } from '../../dispatch/govern-tools.ts';
import { defineTool } from '../../tools/define-tool.ts';
import type { ToolContext } from '../../tools/tool.ts';
import { composeToolCallers } from './compose.ts';
import { defineLayer } from '../contract/layer.ts';
import {
  NO_CONDITIONS,
  approveCall,
  conditionsFor,
  conditionsOf,
  guardCall,
  inherited,
  runUnder,
} from './conditions.ts';

const noInner: Guard = ({ toolName }) =>
  toolName === 'inner'
    ? { status: 'permission_denied', message: 'Not here.', blockedBy: 'scope' }
    : null;

/** Guards only the calls of the tool `outer`, and whatever they lead to. */
const scope = defineLayer({
  name: 'scope',
  caller: (call, next) => next(call.toolName === 'outer' ? guardCall(call, noInner) : call),
});

/** A dispatcher whose tool `outer` does as it is told, and whose tool `inner` notes that it ran. */
function govern(
  outer: (context: ToolContext, governed: GovernedTools) => unknown,
  layers = [scope],
) {
  const ran: string[] = [];
  const parameters = { type: 'object' } as const;
  const tools = [
    defineTool({
      name: 'outer',
      description: 'o',
      inputSchema: parameters,
      execute: (_args, context) => outer(context, governed),
    }),
    defineTool({
      name: 'inner',
      description: 'i',
      inputSchema: parameters,
      execute: () => ran.push('inner'),
    }),
  ];
  const governed: GovernedTools = governTools({ tools, layers });
  return { governed, ran };
}

const inner = { name: 'inner', arguments: {} };
/** Made before any call, so that what runs in it has no call around it. */
const outside = new AsyncResource('outside');
const statusOf = async (calling: Promise<{ readonly status: string }>) => (await calling).status;

describe('a call that a tool makes', () => {
  it.each<[string, (context: ToolContext, governed: GovernedTools) => Promise<string>]>([
    ['through its context', (context) => statusOf(context.call(inner))],
    [
      'through its context, from where nothing of the call is known',
      (context) => outside.runInAsyncScope(() => statusOf(context.call(inner))),
    ],
    ['through the dispatcher itself', (_context, governed) => statusOf(governed.call(inner))],
    [
      'after having waited',
      (_context, governed) => settle().then(() => statusOf(governed.call(inner))),
    ],
    ['as a batch', async (_context, governed) => (await governed.batch([inner]))[0]?.status ?? ''],
    [
      'through another dispatcher',
      () =>
        statusOf(
          governTools({
            tools: [
              defineTool({
                name: 'inner',
                description: 'i',
                inputSchema: { type: 'object' },
                execute: () => 1,
              }),
            ],
            layers: [],
          }).call(inner),
        ),
    ],
    [
      'through a stack of its own',
      () => statusOf(composeToolCallers([])(makeCall({ toolName: 'inner' }), echoExecutor())),
    ],
  ])('%s is held to the guards of the tool', async (_name, outer) => {
    const { governed, ran } = govern(outer);

    expect((await governed.call({ name: 'outer', arguments: {} })).result).toBe(
      'permission_denied',
    );
    expect(ran).toEqual([]);
  });

  it('is held to them over two tools', async () => {
    const { governed, ran } = govern((context) =>
      context.turn.turnId === 'deep'
        ? statusOf(context.call(inner))
        : context.call({ name: 'outer', arguments: {} }),
    );
    const twice = governTools({
      tools: [
        defineTool({
          name: 'outer',
          description: 'o',
          inputSchema: { type: 'object' },
          execute: () =>
            statusOf(governed.call({ name: 'outer', arguments: {} }, { turn: { turnId: 'deep' } })),
        }),
      ],
      layers: [scope],
    });
    await twice.call({ name: 'outer', arguments: {} });

    expect(ran).toEqual([]);
  });

  it('leaves other calls alone that run at the same time, and those that come later', async () => {
    const { governed, ran } = govern(async (_context, dispatcher) => {
      await settle();
      return statusOf(dispatcher.call(inner));
    });
    const [outer, beside] = await Promise.all([
      governed.call({ name: 'outer', arguments: {} }),
      governed.call(inner),
    ]);
    const later = await governed.call(inner);

    expect([outer.result, beside.status, later.status]).toEqual(['permission_denied', 'ok', 'ok']);
    expect(ran).toHaveLength(2);
  });

  it('does not inherit an approval: it was given for one call', async () => {
    const seen: (Conditions['approved'] | undefined)[] = [];
    const look = defineLayer({
      name: 'look',
      caller(call, next) {
        seen.push(conditionsOf(call).approved);
        return next(call.toolName === 'outer' ? approveCall(guardCall(call, () => null)) : call);
      },
    });
    const { governed, ran } = govern(
      async (context, dispatcher) => [
        await statusOf(context.call(inner)),
        await statusOf(dispatcher.call(inner)),
      ],
      [look],
    );
    const result = await governed.call({ name: 'outer', arguments: {} });

    expect(result.result).toEqual(['ok', 'ok']);
    expect(seen).toEqual([null, null, null]);
    expect(ran).toHaveLength(2);
  });
});

describe('conditionsFor', () => {
  const guard = (): null => null;
  const conditions = (...guards: readonly Guard[]): Conditions => ({
    ...NO_CONDITIONS,
    checks: guards.map((run) => ({ at: 'guard', run, owner: null })),
  });

  it('gives back what it was given outside of every tool', () => {
    const given = conditions(guard);

    expect(conditionsFor(null)).toBeNull();
    expect(conditionsFor(given)).toBe(given);
  });

  it('adds the guards of the tool that is running, once', () => {
    const own = () => null;
    const found = runUnder(conditions(guard), () => [
      conditionsFor(null),
      conditionsFor(conditions(own)),
      conditionsFor(conditions(guard)),
    ]);

    expect(found.map((each) => each?.checks.map(({ run }) => run))).toEqual([
      [guard],
      [guard, own],
      [guard],
    ]);
  });

  it('lets go of the guards when the tool is done', () => {
    runUnder(conditions(guard), () => {});

    expect(conditionsFor(null)).toBeNull();
  });

  it('hands on guards and policy, and neither an approval nor a hash', async () => {
    const held = { ...conditions(guard), policy: { tools: ['a'] }, hash: () => 'x' };

    expect(inherited(held)).toEqual({
      ...NO_CONDITIONS,
      checks: conditions(guard).checks,
      policy: { tools: ['a'] },
    });
  });
});

describe('a stack that a layer calls', () => {
  it('is held to the conditions of the stack outside', async () => {
    const inside = composeToolCallers([
      defineLayer({
        name: 'renames',
        caller: (call, next) => next({ ...call, toolName: 'inner' }),
      }),
    ]);
    const executor = echoExecutor();
    const calling = defineLayer({ name: 'calling', caller: (call, next) => inside(call, next) });
    const result = await composeToolCallers([scope, calling])(
      makeCall({ toolName: 'outer' }),
      executor,
    );

    expect(result.status).toBe('permission_denied');
    expect(executor.calls).toHaveLength(0);
  });
});
