import { describe, expect, it } from 'vitest';
import { echoExecutor, makeCall } from '../../conformance/index.ts';
import { rateLimit, summary } from '../../middleware/index.ts';
import { composeToolCallers, isAlliumError, type ToolLayer } from '../index.ts';
import { buildLayers } from './build-layers.ts';
import type { LayerFactory } from './layer-factories.ts';

const namesIn = (layers: readonly ToolLayer[]) => layers.map(({ name }) => name);

function problemsOf(...entries: readonly unknown[]): readonly string[] {
  try {
    buildLayers(entries);
    return [];
  } catch (thrown) {
    return isAlliumError(thrown, 'ERR_INVALID_CONFIG')
      ? thrown.message.split('\n')
      : [String(thrown)];
  }
}

describe('buildLayers', () => {
  it('takes names, names with a value, layers and functions, first is outermost', () => {
    const layers = buildLayers([
      'requiredReason',
      { rateLimit: { maxCalls: 1 } },
      { telemetry: 'noop' },
      { dryRun: null },
      rateLimit({ maxCalls: 2 }),
    ]);

    expect(namesIn(layers)).toEqual([
      'requiredReason',
      'rateLimit',
      'telemetry',
      'dryRun',
      'rateLimit',
    ]);
  });

  it('hands the value to the factory as it is', async () => {
    const executor = echoExecutor();
    const limited = composeToolCallers(buildLayers([{ rateLimit: { maxCalls: 1, per: 'tool' } }]));

    expect((await limited(makeCall(), executor)).status).toBe('ok');
    expect((await limited(makeCall(), executor)).status).toBe('rate_limited');
    expect(executor.calls).toHaveLength(1);
  });

  it('holds an entry to the tools of only and except', async () => {
    const stack = composeToolCallers(
      buildLayers([{ dryRun: {}, only: ['shell_*', 'rm'], except: ['shell_ls'] }]),
    );
    const statusOf = async (toolName: string) =>
      (await stack(makeCall({ toolName }), echoExecutor())).status;

    expect([
      await statusOf('shell_rm'),
      await statusOf('rm'),
      await statusOf('shell_ls'),
      await statusOf('read'),
    ]).toEqual(['dry_run', 'dry_run', 'ok', 'ok']);
  });

  it('means no tool by an empty list', async () => {
    const stack = composeToolCallers(buildLayers([{ dryRun: {}, only: [] }]));

    expect((await stack(makeCall(), echoExecutor())).status).toBe('ok');
  });

  it('reads a path of the call where a factory wants a function', async () => {
    const executor = echoExecutor();
    const stack = composeToolCallers(
      buildLayers([{ idempotency: { key: { $path: 'toolArgs.order.id' } } }]),
    );
    const callWith = (id: unknown) =>
      stack(makeCall({ toolArgs: { order: { id: id as string } } }), executor);
    await callWith(7);
    await callWith(7);
    await callWith('8');

    expect(executor.calls).toHaveLength(2);
  });

  it('reads nothing that a call merely inherits', async () => {
    const executor = echoExecutor();
    const stack = composeToolCallers(
      buildLayers([{ rateLimit: { maxCalls: 1, per: { $path: 'toolArgs.constructor.name' } } }]),
    );

    expect((await stack(makeCall(), executor)).status).toBe('tool_middleware_exception');
    expect(executor.calls).toHaveLength(0);
  });

  it('takes more forms, and other factories', async () => {
    const seen: string[] = [];
    const forms = new Map([
      [
        '$text' as const,
        (text: unknown, where: string) => {
          seen.push(where);
          return () => String(text);
        },
      ],
    ]);
    const factories = new Map<string, LayerFactory>([['line', summary]]);
    const [layer] = buildLayers([{ line: { $text: 'hello' } }], { forms, factories });
    const result = await composeToolCallers([layer as ToolLayer])(makeCall(), echoExecutor());

    expect(result.audit?.summary).toBe('hello');
    expect(seen).toEqual(['layers[0].line.$text']);
  });

  it('uses layers and factories from elsewhere', () => {
    const modules: Readonly<Record<string, unknown>> = {
      ready: rateLimit({ maxCalls: 1 }),
      makes: rateLimit,
      wrong: 5,
    };
    const use = (reference: string) => modules[reference];
    const layers = buildLayers([{ use: 'ready' }, { use: 'makes', with: { maxCalls: 3 } }], {
      use,
    });

    expect(namesIn(layers)).toEqual(['rateLimit', 'rateLimit']);
    expect(() => buildLayers([{ use: 'wrong' }], { use })).toThrow(
      'layers[0].use: this is neither a layer nor a function that makes one',
    );
    expect(() => buildLayers([{ use: 'ready', with: {} }], { use })).toThrow(
      'layers[0].with: this layer is ready',
    );
    expect(() => buildLayers([{ use: 'makes', with: { maxCall: 3 } }], { use })).toThrow(
      'layers[0].with.maxCall: rateLimit has no option',
    );
    expect(() => buildLayers([{ use: 'makes' }])).toThrow(
      'layers[0].use: modules cannot be used here',
    );
  });

  it.each([
    [
      'a misspelt layer',
      { rateLimt: {} },
      'layers[0].rateLimt: there is no layer "rateLimt"; did you mean "rateLimit"?',
    ],
    [
      'a name nobody has',
      'zzzzzzzz',
      'layers[0]: there is no layer "zzzzzzzz"; one of your own is { use: module }',
    ],
    [
      'two layers in one entry',
      { dryRun: {}, retry: {} },
      'layers[0].retry: an entry is one layer, and this one is "dryRun" already',
    ],
    [
      'an entry without a layer',
      { only: ['a'] },
      'layers[0]: an entry needs the name of a layer, or "use"',
    ],
    [
      'with where nothing is used',
      { dryRun: {}, with: {} },
      'layers[0].with: there is no layer "with"; one of your own is { use: module }',
    ],
    ['a number', 5, 'layers[0]: a layer is a name, a name with its options, or { use: module }'],
    [
      'names that are no list',
      { dryRun: {}, only: 'a' },
      'layers[0].only: must be a list of tool names, with "*" for any run of characters',
    ],
    [
      'a misspelt option',
      { rateLimit: { maxCall: 1 } },
      'layers[0].rateLimit.maxCall: rateLimit has no option "maxCall"; did you mean "maxCalls"?',
    ],
    [
      'an option that is missing',
      { rateLimit: {} },
      'layers[0].rateLimit: rateLimit: "maxCalls" must be a whole number of at least 0, got nothing',
    ],
    [
      'a wrong rule',
      {
        consent: {
          rules: [
            { tool: 'a', decision: 'allow' },
            { tool: 'b', decison: 'deny' },
          ],
        },
      },
      'layers[0].consent.rules[1].decison: consent rule 2 has no option "decison"; did you mean "decision"?',
    ],
    [
      'a misspelt form',
      { idempotency: { key: { $pth: 'a' } } },
      'layers[0].idempotency.key.$pth: there is no "$pth"; did you mean "$path"?',
    ],
    [
      'a form with company',
      { idempotency: { key: { $path: 'toolName', b: 1 } } },
      'layers[0].idempotency.key.$path: "$path" stands alone: nothing else may be beside it',
    ],
    [
      'a path that begins nowhere',
      { idempotency: { key: { $path: 'toolArg.a' } } },
      'layers[0].idempotency.key.$path: "$path" must begin with one of toolName, toolArgs, callId, turn, annotations, metadata; did you mean "toolArgs"?',
    ],
    [
      'a layer called constructor',
      'constructor',
      'layers[0]: there is no layer "constructor"; one of your own is { use: module }',
    ],
    [
      'an option called __proto__',
      { dryRun: JSON.parse('{"__proto__":{"only":[]}}') as unknown },
      'layers[0].dryRun.__proto__: dryRun has no option "__proto__"; it takes only, except, message',
    ],
  ])('refuses %s', (_what, entry, problem) => {
    expect(problemsOf(entry)).toEqual([problem]);
  });

  it('tells everything that is wrong at once', () => {
    expect(
      problemsOf({ rateLimit: {} }, 'dryRun', { timeot: {} }, { retry: { maxAttempts: 0 } }),
    ).toHaveLength(3);
  });
});
