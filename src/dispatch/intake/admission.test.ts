import { describe, expect, it } from 'vitest';
import { withCall } from '../../core/onion/own-call.ts';
import { type AlliumError, isAlliumError } from '../../core/contract/errors.ts';
import { defineLayer, type ToolLayer } from '../../core/contract/layer.ts';
import { narrowPolicy } from '../../policy/ambient-policy.ts';
import { defineTool } from '../../tools/define-tool.ts';
import { injectParameter } from '../../tools/parameters/inject-parameter.ts';
import { governTools } from '../govern-tools.ts';
import { echoTool, setup, storyOf } from '../testing.fixture.ts';

/** Injects `why`, and takes it off again on the way down. */
const why: ToolLayer = defineLayer({
  name: 'why',
  rewrites: true,
  schemaTransform: (tool) => injectParameter(tool, 'why', { type: 'string', minLength: 1 }),
  caller(call, next) {
    const { why: _taken, ...rest } = call.toolArgs;
    return next({ ...call, toolArgs: rest });
  },
});

describe('a tool that is not there', () => {
  it('is tool_not_found with a hint, keeps its id, and is heard of', async () => {
    const { governed, events, ran } = setup();

    const result = await governed.call({ name: 'ehco', arguments: {}, id: 'c7' });

    expect(result).toMatchObject({
      status: 'tool_not_found',
      errorClass: 'repairable',
      executed: 'no',
      toolCallId: 'c7',
    });
    expect(result.error).toContain('Did you mean "echo"?');
    expect(storyOf(events)).toEqual(['pending', 'audit', 'failed']);
    expect(ran).toEqual([]);
  });

  it('throws with its id where the host wants that, after the events', async () => {
    const { governed, events } = setup({ onUnknownTool: 'throw' });

    const error: unknown = await governed
      .call({ name: 'nobody', arguments: {}, id: 'c8' })
      .catch((thrown: unknown) => thrown);

    expect(isAlliumError(error, 'ERR_UNKNOWN_TOOL')).toBe(true);
    expect((error as AlliumError).details).toMatchObject({ toolName: 'nobody', toolCallId: 'c8' });
    expect(storyOf(events).at(-1)).toBe('failed');
  });

  it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])(
    'is not found under a name every object has: %s',
    async (name) => {
      const { governed } = setup();

      expect((await governed.call({ name, arguments: {} })).status).toBe('tool_not_found');
    },
  );

  it('is recorded under no more of a made-up name than a tool could have', async () => {
    const { governed, events } = setup();

    const result = await governed.call({ name: 'x'.repeat(100_000), arguments: {} });

    expect(result.toolName).toBe('x'.repeat(128));
    expect(JSON.stringify([result, events]).length).toBeLessThan(10_000);
  });

  it('may be called constructor all the same', async () => {
    const { governed, ran } = setup({ toolList: (list) => [echoTool(list, 'constructor')] });

    expect((await governed.call({ name: 'constructor', arguments: {} })).status).toBe('ok');
    expect(ran).toHaveLength(1);
  });
});

describe('arguments', () => {
  const malformed: readonly [string, unknown][] = [
    ['cut-off JSON', '{"text": "a'],
    ['an empty string', ''],
    ['a list', '[1]'],
    ['null', 'null'],
    ['a bare string', '"text"'],
    ['a number instead of arguments', 5],
    ['a wrong type', { text: 5 }],
    ['an undeclared member', { text: 'a', more: 1 }],
    ['a member called __proto__', '{"__proto__": {"text": "a"}}'],
    ['a number without end', '{"text": 1e400}'],
    ['half a character', '{"text": "\\ud800"}'],
    ['half a character in a name', '{"\\ud800": 1}'],
    ['a revoked proxy', revoked()],
    ['a function', { text: () => 'a' }],
    ['something that contains itself', cyclic()],
    ['too many levels', `{"text":${'['.repeat(70)}${']'.repeat(70)}}`],
    ['a million levels', `${'{"a":'.repeat(1_000_000)}1${'}'.repeat(1_000_000)}`.slice(0, 900_000)],
  ];

  function revoked(): object {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  }

  function cyclic(): object {
    const self: Record<string, unknown> = {};
    self.text = self;
    return self;
  }

  it.each(malformed)('are a schema_violation and run nothing: %s', async (_name, given) => {
    const { governed, ran, events } = setup();

    const result = await governed.call({ name: 'echo', arguments: given as object, id: 'c1' });

    expect(result).toMatchObject({
      status: 'schema_violation',
      errorClass: 'repairable',
      executed: 'no',
      toolCallId: 'c1',
    });
    expect(storyOf(events)).toEqual(['pending', 'audit', 'failed']);
    expect(ran).toEqual([]);
  });

  it('are never shown by value in the error', async () => {
    const { governed } = setup();

    const result = await governed.call({ name: 'echo', arguments: { text: { canary: 'c4n4ry' } } });

    expect(result.error).toContain('/text');
    expect(JSON.stringify(result.error)).not.toContain('c4n4ry');
  });

  it('throw with the id where the host wants that', async () => {
    const { governed } = setup({ onInvalidArgs: 'throw' });

    await expect(governed.call({ name: 'echo', arguments: '{', id: 'c9' })).rejects.toMatchObject({
      code: 'ERR_INVALID_ARGS',
      details: { toolCallId: 'c9' },
    });
  });

  it('are read once: a getter cannot show one value to the check and another to the tool', async () => {
    const { governed, ran } = setup();
    let reads = 0;
    const shifty = Object.defineProperty({}, 'text', {
      enumerable: true,
      get: () => (reads++ < 1 ? 'harmless' : 5),
    });

    const result = await governed.call({ name: 'echo', arguments: shifty });

    expect(result.status).toBe('ok');
    expect(ran[0]?.args).toEqual({ text: 'harmless' });
  });

  it('over the size limit are turned away, as text and as object', async () => {
    const { governed } = setup({ limits: { maxArgsBytes: 100 } });
    const text = 'x'.repeat(200);

    expect((await governed.call({ name: 'echo', arguments: { text } })).error).toContain(
      'too large',
    );
    expect(
      (await governed.call({ name: 'echo', arguments: JSON.stringify({ text }) })).error,
    ).toContain('too large');
  });
});

describe('two schema checks', () => {
  it('admit an injected field and enter the tool without it', async () => {
    const { governed, ran } = setup({ layers: [why] });

    const result = await governed.call({ name: 'echo', arguments: { text: 'a', why: 'because' } });

    expect(governed.tools[0]?.inputSchema).toMatchObject({ required: ['why'] });
    expect(result.status).toBe('ok');
    expect(ran[0]?.args).toEqual({ text: 'a' });
  });

  it('turn away a call without the injected field', async () => {
    const { governed, ran } = setup({ layers: [why] });

    expect((await governed.call({ name: 'echo', arguments: { text: 'a' } })).status).toBe(
      'schema_violation',
    );
    expect(ran).toEqual([]);
  });

  it('keep a field from the tool that was injected and never taken off', async () => {
    const forgetful = defineLayer({
      name: 'forgetful',
      caller: (call, next) => next(call),
      schemaTransform: (tool) => injectParameter(tool, 'why', { type: 'string' }),
    });
    const { governed, ran } = setup({ layers: [forgetful] });

    expect(
      await governed.call({ name: 'echo', arguments: { text: 'a', why: 'because' } }),
    ).toMatchObject({
      status: 'schema_violation',
      executed: 'no',
    });
    expect(ran).toEqual([]);
  });

  it('keep a layer from entering the tool with arguments that do not fit it', async () => {
    const spoil = defineLayer({
      name: 'spoil',
      caller: (call, next) => next({ ...call, toolArgs: { text: 5 } }),
    });
    const { governed, ran } = setup({ layers: [spoil] });

    const result = await governed.call({ name: 'echo', arguments: { text: 'a' } });

    expect(result).toMatchObject({ status: 'schema_violation', executed: 'no' });
    expect(ran).toEqual([]);
  });

  it('hold for a tool that a layer chose instead', async () => {
    const strict = defineTool({
      name: 'strict',
      description: '',
      inputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
      execute: () => 'ran',
    });
    const swap = defineLayer({
      name: 'swap',
      caller: (call, next) => next({ ...call, toolName: 'strict' }),
    });
    const { governed } = setup({ toolList: (ran) => [echoTool(ran), strict], layers: [swap] });

    expect((await governed.call({ name: 'echo', arguments: { text: 'a' } })).status).toBe(
      'schema_violation',
    );
  });

  it('turn away a call that a layer sends to a tool that is not there', async () => {
    const swap = defineLayer({
      name: 'swap',
      caller: (call, next) => next({ ...call, toolName: 'nobody' }),
    });
    const { governed } = setup({ layers: [swap] });

    expect(await governed.call({ name: 'echo', arguments: {} })).toMatchObject({
      status: 'tool_not_found',
      executed: 'no',
    });
  });
});

describe('what the model is shown', () => {
  it('has the last word of the outermost layer', () => {
    const says = (word: string) =>
      defineLayer({
        name: word,
        caller: (call, next) => next(call),
        schemaTransform: (tool) => ({ ...tool, description: `${tool.description} ${word}` }),
      });
    const { governed } = setup({ layers: [says('outer'), says('inner')] });

    expect(governed.tools[0]?.description).toBe('Answers with its arguments. inner outer');
  });

  it('hides a tool that a layer hides, and its calls find nothing', async () => {
    const hide = defineLayer({
      name: 'hide',
      caller: (call, next) => next(call),
      schemaTransform: () => null,
    });
    const { governed, ran } = setup({ layers: [hide] });

    expect(governed.tools).toEqual([]);
    expect((await governed.call({ name: 'echo', arguments: {} })).status).toBe('tool_not_found');
    expect(ran).toEqual([]);
  });

  it.each([
    ['a string', 'x'],
    ['nothing', undefined],
    ['another name', { name: 'other', description: '', inputSchema: {}, annotations: {} }],
  ])('refuses a transform that answers with %s', (_name, answer) => {
    const odd = defineLayer({
      name: 'odd',
      caller: (call, next) => next(call),
      schemaTransform: () => answer as never,
    });

    expect(() => setup({ layers: [odd] })).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_TRANSFORM' }) as Error,
    );
  });

  it('is the same bytes for the same input', () => {
    expect(JSON.stringify(setup({ layers: [why] }).governed.tools)).toBe(
      JSON.stringify(setup({ layers: [why] }).governed.tools),
    );
  });
});

describe('a turn', () => {
  const two = (ran: Parameters<typeof echoTool>[0]) => [echoTool(ran), echoTool(ran, 'other')];

  it('reaches only what it was shown, and learns nothing of the rest', async () => {
    const { governed, ran } = setup({ toolList: two });
    const turn = { turnId: 't1' };

    expect(governed.advertise({ turn, select: ['echo'] }).map(({ name }) => name)).toEqual([
      'echo',
    ]);
    const hidden = await governed.call({ name: 'other', arguments: {} }, { turn });
    const absent = await governed.call({ name: 'otter', arguments: {} }, { turn });

    expect(hidden.status).toBe('tool_not_found');
    expect(hidden.error?.replace('other', 'otter')).toBe(absent.error);
    expect(ran).toEqual([]);
  });

  it('cannot be shown a tool that is not there', () => {
    expect(() =>
      setup({ toolList: two }).governed.advertise({ turn: {}, select: ['ehco'] }),
    ).toThrow(expect.objectContaining({ code: 'ERR_UNKNOWN_TOOL' }) as Error);
  });

  it('does not bind another turn', async () => {
    const { governed } = setup({ toolList: two });
    governed.advertise({ turn: { turnId: 't1' }, select: ({ name }) => name === 'echo' });

    expect(
      (await governed.call({ name: 'other', arguments: {} }, { turn: { turnId: 't2' } })).status,
    ).toBe('ok');
  });

  it('is found by session and iteration where it has no id', async () => {
    const { governed } = setup({ toolList: two });
    governed.advertise({ turn: { sessionId: 's', iteration: 3 }, select: [] });

    expect(
      (
        await governed.call(
          { name: 'echo', arguments: {} },
          { turn: { sessionId: 's', iteration: 3 } },
        )
      ).status,
    ).toBe('tool_not_found');
    expect(
      (
        await governed.call(
          { name: 'echo', arguments: {} },
          { turn: { sessionId: 's', iteration: 4 } },
        )
      ).status,
    ).toBe('ok');
  });

  it.each([{}, { iteration: 1 }, { sessionId: 's' }, { runId: 'r' }])(
    'is the same turn for a list and a call when the host says as little as %j',
    async (turn) => {
      const { governed } = setup({ toolList: two });
      governed.advertise({ turn, select: ['echo'] });

      expect((await governed.call({ name: 'other', arguments: {} }, { turn })).status).toBe(
        'tool_not_found',
      );
    },
  );

  it('binds the calls a tool makes itself', async () => {
    const outer = defineTool({
      name: 'outer',
      description: '',
      inputSchema: { type: 'object' },
      execute: async (_args, { call }) => (await call({ name: 'echo', arguments: {} })).status,
    });
    const { governed } = setup({ toolList: (ran) => [outer, echoTool(ran)] });
    governed.advertise({ turn: { turnId: 't1' }, select: ['outer'] });

    expect(
      (await governed.call({ name: 'outer', arguments: {} }, { turn: { turnId: 't1' } })).result,
    ).toBe('tool_not_found');
  });
});

describe('a tool that a layer chose instead', () => {
  it('is judged by what it says about itself, wherever the layer stands', async () => {
    const wipe = defineTool({
      name: 'wipe',
      description: '',
      inputSchema: { type: 'object' },
      annotations: { sideEffectLevel: 'network' },
      execute: () => 'wiped',
    });
    const renames = defineLayer({
      name: 'renames',
      caller: (call, next) => next(withCall(call, { toolName: 'wipe' })),
    });
    const readsOnly = defineLayer({
      name: 'readsOnly',
      caller: (call, next) =>
        next(narrowPolicy(call, { sideEffectLevel: 'read_only' }, 'readsOnly')),
    });

    for (const layers of [
      [renames, readsOnly],
      [readsOnly, renames],
    ]) {
      const { governed } = setup({ toolList: (ran) => [echoTool(ran), wipe], layers });
      expect(await governed.call({ name: 'echo', arguments: {} })).toMatchObject({
        status: 'permission_denied',
        executed: 'no',
      });
    }
  });
});

describe('what the model reads of arguments that do not fit', () => {
  it('ends each sentence once, also behind a guess', async () => {
    const inputSchema = {
      type: 'object',
      properties: { name: { type: 'string' } },
      additionalProperties: false,
    } as const;
    const greet = defineTool({
      name: 'greet',
      description: 'Greets.',
      inputSchema,
      execute: () => 'hello',
    });
    const governed = governTools({ tools: [greet], layers: [] });
    const { error } = await governed.call({ name: 'greet', arguments: { nmae: 'Ada' } });

    expect(error).toMatch(/did you mean "name"\? Correct them and call again\.$/);
    expect((await governed.call({ name: 'greet', arguments: '{"name":5}' })).error).toMatch(
      /[^.?]\. Correct them and call again\.$/,
    );
  });
});
