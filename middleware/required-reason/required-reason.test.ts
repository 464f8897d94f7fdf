import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { echoExecutor, makeCall, type PartialCall } from '../../conformance/index.ts';
import {
  composeToolCallers,
  defineLayer,
  defineTool,
  exportTools,
  fromProviderArgs,
  governTools,
  type Tool,
  type ToolLayer,
} from '../../src/index.ts';
import { accountOf, approveCall } from '../../src/layer.ts';
import { type RequiredReasonOptions, requiredReason } from './required-reason.ts';

async function run(
  options: RequiredReasonOptions | undefined,
  toolArgs: object,
  rest: PartialCall = {},
  outside: readonly ToolLayer[] = [],
) {
  const executor = echoExecutor();
  const result = await composeToolCallers([...outside, requiredReason(options)])(
    makeCall({ ...rest, toolArgs }),
    executor,
  );
  return { result, entered: executor.calls.map((call) => call.toolArgs) };
}

const closed = {
  type: 'object',
  properties: { text: { type: 'string' } },
  required: ['text'],
  additionalProperties: false,
} as const;
const owning = { type: 'object', properties: { reason: { type: 'string' } } } as const;
const counting = { type: 'object', properties: { reason: { type: 'integer' } } } as const;

/** A governed tool that answers with what it was entered with. */
function govern(
  options: RequiredReasonOptions,
  tool: Partial<Tool> = {},
  layers: readonly ToolLayer[] = [],
) {
  const entered: object[] = [];
  const echo = defineTool({
    name: 'echo',
    description: 'Answers.',
    inputSchema: closed,
    ...(tool as object),
    execute: (args: object) => entered.push(args),
  });
  return {
    governed: governTools({ tools: [echo], layers: [...layers, requiredReason(options)] }),
    entered,
  };
}

describe('requiredReason', () => {
  it('lets a call with a reason through, without the reason', async () => {
    const { result, entered } = await run(undefined, { text: 'a', reason: '  to see it \n' });

    expect(result).toMatchObject({ status: 'ok', executed: 'yes' });
    expect(result.audit).toMatchObject({
      reason: 'to see it',
      summary: 'to see it',
      layers: [{ name: 'requiredReason', status: 'ok' }],
    });
    expect(result.audit).not.toHaveProperty('reasonMissing');
    expect(entered).toEqual([{ text: 'a' }]);
  });

  it.each([
    ['nothing', {}],
    ['a blank', { reason: ' \t\n' }],
    ['characters nobody sees', { reason: '\u200b\u2060\u00ad' }],
    ['a number', { reason: 5 }],
    ['null', { reason: null }],
    ['a list', { reason: ['because'] }],
  ])('turns away a call whose reason is %s, and says what to add', async (_name, args) => {
    const { result, entered } = await run(undefined, { text: 'a', ...args });

    expect(result).toMatchObject({
      status: 'schema_violation',
      errorCategory: 'schema_violation',
      errorClass: 'repairable',
      executed: 'no',
    });
    expect(result.error).toBe(
      'echo was not called: it takes a "reason" that says in one line why you call it. Add it and call again.',
    );
    expect(result.audit).toMatchObject({
      reasonMissing: true,
      layers: [{ name: 'requiredReason', status: 'rejected' }],
    });
    expect(entered).toEqual([]);
  });

  it('records the reason of a call that came to nothing', async () => {
    const broken = composeToolCallers([requiredReason()]);
    const result = await broken(makeCall({ toolArgs: { reason: 'because' } }), () =>
      Promise.reject(new Error('no')),
    );

    expect(result).toMatchObject({
      status: 'executor_error',
      audit: { reason: 'because', summary: 'because' },
    });
  });

  it('field names the parameter', async () => {
    const { result, entered } = await run(
      { field: 'why' },
      { why: 'so', reason: 'a member of the tool' },
    );

    expect(result.audit).toMatchObject({ reason: 'so', summary: 'so' });
    expect(entered).toEqual([{ reason: 'a member of the tool' }]);
    expect((await run({ field: 'why' }, { reason: 'so' })).result.error).toContain('"why"');
    expect((await run({ field: 'toString' }, {})).result.status).toBe('schema_violation');
  });

  it('description is what the model is told', () => {
    const { governed } = govern({ description: 'Say why.' });

    expect(governed.tools[0]?.inputSchema.properties).toHaveProperty('reason', {
      type: 'string',
      description: 'Say why.',
    });
    expect(JSON.stringify(govern({}).governed.tools[0])).toContain(
      'Brief one-line reason for invoking this tool',
    );
  });

  it('strip: false leaves the field where it is', async () => {
    const { result, entered } = await run({ strip: false }, { text: 'a', reason: 'because' });

    expect(result.audit?.reason).toBe('because');
    expect(entered).toEqual([{ text: 'a', reason: 'because' }]);
  });

  it('auditKey says where else the reason stands', async () => {
    const { result } = await run({ auditKey: 'why' }, { reason: 'because' });

    expect(result.audit).toMatchObject({ why: 'because', reason: 'because' });
    expect(result.audit).not.toHaveProperty('summary');
  });

  it('minLength counts without the space around it', async () => {
    expect((await run({ minLength: 5 }, { reason: '12345' })).result.status).toBe('ok');
    expect((await run({ minLength: 5 }, { reason: ' 1234 ' })).result).toMatchObject({
      status: 'schema_violation',
      executed: 'no',
    });
    expect((await run({ minLength: 5 }, { reason: '1234' })).result.error).toContain(
      'at least 5 characters long',
    );
  });

  it.each([[{}], [{ reason: ' ' }], [{ reason: 7 }]])(
    "onMissing: 'fill_blank' runs a call with %j and puts the gap on record",
    async (args) => {
      const { result, entered } = await run({ onMissing: 'fill_blank' }, { text: 'a', ...args });

      expect(result.audit).toMatchObject({
        summary: '(no reason given)',
        reason: '(no reason given)',
        reasonMissing: true,
      });
      expect(result.audit?.layers).toMatchObject([
        { name: 'requiredReason', status: 'fill_blank' },
      ]);
      expect(entered).toEqual([{ text: 'a' }]);
    },
  );

  it("onMissing: 'fill_blank' does not touch a reason that is there", async () => {
    const { result } = await run({ onMissing: 'fill_blank' }, { reason: 'because' });

    expect(result.audit).toMatchObject({ reason: 'because' });
    expect(result.audit).not.toHaveProperty('reasonMissing');
  });

  it.each([
    [{}, ['text', 'reason']],
    [{ schemaRequired: true }, ['text', 'reason']],
    [{ schemaRequired: false }, ['text']],
    [{ onMissing: 'fill_blank' as const }, ['text']],
    [{ onMissing: 'fill_blank' as const, schemaRequired: true }, ['text', 'reason']],
  ])('schemaRequired: %j shows %j as required', (options, required) => {
    expect(govern(options).governed.tools[0]?.inputSchema.required).toEqual(required);
  });
});

describe('requiredReason around governed tools', () => {
  it('enters a tool that forbids further members without the field', async () => {
    const { governed, entered } = govern({});
    const result = await governed.call({
      name: 'echo',
      arguments: { text: 'a', reason: 'because' },
    });

    expect(result).toMatchObject({ status: 'ok', audit: { reason: 'because' } });
    expect(entered).toEqual([{ text: 'a' }]);
  });

  it.each([[{}], [{ schemaRequired: false }]])(
    'turns away a call without the field with %j',
    async (options) => {
      const { governed, entered } = govern(options);

      expect((await governed.call({ name: 'echo', arguments: { text: 'a' } })).status).toBe(
        'schema_violation',
      );
      expect(
        (await governed.call({ name: 'echo', arguments: { text: 'a', reason: ' ' } })).status,
      ).toBe('schema_violation');
      expect(entered).toEqual([]);
    },
  );

  it('fills the blank of a call that leaves the field out', async () => {
    const { governed, entered } = govern({ onMissing: 'fill_blank' });
    const result = await governed.call({ name: 'echo', arguments: { text: 'a' } });

    expect(result).toMatchObject({ status: 'ok', audit: { reasonMissing: true } });
    expect(entered).toEqual([{ text: 'a' }]);
  });

  it('takes a tool with a zod schema for what it is', async () => {
    const { governed, entered } = govern(
      {},
      { inputSchema: z.strictObject({ text: z.string() }) as never },
    );
    const result = await governed.call({
      name: 'echo',
      arguments: '{"text":"a","reason":"because"}',
    });

    expect(result).toMatchObject({ status: 'ok', audit: { reason: 'because' } });
    expect(entered).toEqual([{ text: 'a' }]);
  });

  it('is in what strict providers are shown, required or nullable', () => {
    const parameters = (options: RequiredReasonOptions, provider: 'openai' | 'anthropic') => {
      const [shown] = exportTools(govern(options).governed.tools, provider, {
        strict: true,
        ...(provider === 'openai' ? { shape: 'responses' } : {}),
      });
      return shown !== undefined && 'parameters' in shown ? shown.parameters : shown?.input_schema;
    };

    expect(parameters({}, 'openai')).toMatchObject({
      required: ['text', 'reason'],
      additionalProperties: false,
    });
    expect(parameters({}, 'anthropic')).toMatchObject({
      required: ['text', 'reason'],
      additionalProperties: false,
    });
    expect(parameters({ schemaRequired: false }, 'openai')).toMatchObject({
      required: ['text', 'reason'],
      properties: { reason: { type: ['string', 'null'] } },
    });
    expect(parameters({ schemaRequired: false }, 'anthropic')).toMatchObject({
      required: ['text'],
      properties: { reason: { type: 'string' } },
    });
  });

  it('takes the null that a strict provider sends for a missing one as missing', async () => {
    const { governed } = govern({ onMissing: 'fill_blank' });
    const [spec] = governed.tools;
    const args = spec === undefined ? {} : fromProviderArgs(spec, { text: 'a', reason: null });

    const name: string = 'echo';
    expect(await governed.call({ name, arguments: args })).toMatchObject({
      status: 'ok',
      audit: { reasonMissing: true },
    });
  });

  it('leaves hidden arguments hidden', async () => {
    const tool = {
      inputSchema: {
        type: 'object',
        properties: { text: { type: 'string' }, token: { type: 'string' } },
      },
      injected: [{ name: 'token', from: () => 'hidden-value' }],
    };
    const { governed, entered } = govern({}, tool);
    const result = await governed.call({
      name: 'echo',
      arguments: { text: 'a', reason: 'because', token: 'guess' },
    });

    expect(entered).toEqual([{ text: 'a', token: 'hidden-value' }]);
    expect(JSON.stringify([result, governed.tools])).not.toMatch(/hidden-value|"token"|guess/);
  });

  it('runs nothing where the field is a hidden argument of the tool: another field must be chosen', async () => {
    const tool = {
      inputSchema: { type: 'object', properties: { reason: { type: 'string' } } },
      injected: [{ name: 'reason', from: () => 'hidden-value' }],
    };
    const { governed, entered } = govern({}, tool);
    const result = await governed.call({ name: 'echo', arguments: '{"reason":"because"}' });

    expect(result.status).toBe('schema_violation');
    expect(JSON.stringify(result)).not.toContain('hidden-value');
    expect(entered).toEqual([]);
  });
});

describe('requiredReason and a tool that owns the field', () => {
  it('keeps it and records it', async () => {
    const { result, entered } = await run(undefined, { reason: ' its own ' }, { schema: owning });

    expect(result.audit).toMatchObject({ reason: 'its own', summary: 'its own' });
    expect(entered).toEqual([{ reason: ' its own ' }]);
  });

  it.each([
    [
      'in a branch',
      { anyOf: [{ properties: { reason: { type: 'string' } } }, { required: ['other'] }] },
    ],
    ['behind a reference', { $ref: '#/$defs/a', $defs: { a: owning } }],
    ['only as required', { required: ['reason'] }],
  ])('finds it declared %s', async (_name, schema) => {
    expect((await run(undefined, { reason: 'because' }, { schema })).entered).toEqual([
      { reason: 'because' },
    ]);
  });

  it('asks for it where the schema lets it be left out', async () => {
    const { governed, entered } = govern({}, { inputSchema: owning });

    expect(governed.tools[0]?.inputSchema).toEqual(owning);
    expect((await governed.call({ name: 'echo', arguments: '{}' })).status).toBe(
      'schema_violation',
    );
    expect(
      (await governed.call({ name: 'echo', arguments: '{"reason":"because"}' })).audit?.reason,
    ).toBe('because');
    expect(entered).toEqual([{ reason: 'because' }]);
  });

  it.each([[{}], [{ reason: 5 }]])(
    'does not make a field that takes no text an obstacle: %j',
    async (args) => {
      const { result, entered } = await run(undefined, args, { schema: counting });

      expect(result).toMatchObject({
        status: 'ok',
        audit: { reasonMissing: true, reason: '(no reason given)' },
      });
      expect(entered).toEqual([args]);
    },
  );
});

describe('requiredReason among other layers', () => {
  const consent = defineLayer({ name: 'consent', caller: (call, next) => next(approveCall(call)) });

  it('may take off the field after an approval, and that is recorded', async () => {
    const { result, entered } = await run(undefined, { text: 'a', reason: 'because' }, {}, [
      consent,
    ]);

    expect(result.audit?.rewrites).toEqual([{ layer: 'requiredReason', paths: ['reason'] }]);
    expect(accountOf(result)).toMatchObject({
      approvedArgs: { text: 'a', reason: 'because' },
      executedArgs: { text: 'a' },
      blockedBy: null,
    });
    expect(entered).toEqual([{ text: 'a' }]);
  });

  it('lets every cleaner of the stack see the reason', async () => {
    const cleaner = defineLayer({
      name: 'cleaner',
      scrub: (text) => text.replaceAll('sk-123', '***'),
      caller: (call, next) => next(call),
    });
    const { result } = await run({ auditKey: 'why' }, { reason: 'the key is sk-123' }, {}, [
      cleaner,
    ]);

    expect(result.audit).toMatchObject({ why: 'the key is ***', reason: 'the key is ***' });
    expect(JSON.stringify(result.audit)).not.toContain('sk-123');
  });
});

describe('requiredReason and hostile input', () => {
  it.each(['__proto__', 'constructor', 'toString'])(
    'handles a tool and a member called %s',
    async (name) => {
      const toolArgs = JSON.parse(`{"${name}":1,"reason":"because"}`) as object;
      const { result, entered } = await run(undefined, toolArgs, { toolName: name });

      expect(result.status).toBe('ok');
      expect(JSON.stringify(entered)).toBe(`[{"${name}":1}]`);
      expect(Object.getPrototypeOf(entered[0])).toBe(Object.prototype);
    },
  );

  it('does not take what every object has for a reason', async () => {
    expect((await run({ field: 'toString' }, { text: 'a' })).result.executed).toBe('no');
  });

  it('cuts a reason of a megabyte and repairs half characters', async () => {
    const { result } = await run(undefined, { reason: `\ud800${'x'.repeat(1_000_000)}` });

    expect(result.audit?.reason).toHaveLength(2_001);
    expect(result.audit?.reason?.isWellFormed()).toBe(true);
    expect(result.audit?.reason).toMatch(/x…$/);
  });

  it('says nothing of what was sent when it turns a call away', async () => {
    const { result } = await run({ minLength: 50 }, { reason: 'sk-123', text: 'sk-456' });

    expect(`${result.error ?? ''}${result.observation}${JSON.stringify(result.audit)}`).not.toMatch(
      /sk-\d/,
    );
  });
});

describe('requiredReason refuses to be built', () => {
  it.each([
    [null],
    [{ field: '' }],
    [{ field: '__proto__' }],
    [{ field: 'constructor' }],
    [{ auditKey: 'layers' }],
    [{ auditKey: 'consent' }],
    [{ auditKey: 'rewrites' }],
    [{ auditKey: '__proto__' }],
    [{ minLength: 0 }],
    [{ onMissing: 'reject_all' }],
    [{ strip: 1 }],
    [{ schemaRequired: 'no' }],
    [{ fields: 'reason' }],
  ])('with %j', (options) => {
    expect(() => requiredReason(options as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error,
    );
  });
});
