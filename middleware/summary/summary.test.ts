import { describe, expect, it } from 'vitest';
import { echoExecutor, makeCall } from '../../conformance/index.ts';
import { annotate, composeToolCallers, defineLayer, refuse } from '../../src/index.ts';
import { type SummaryFormat, summary } from './summary.ts';

const run = (format: SummaryFormat, inner: Parameters<typeof composeToolCallers>[0] = []) =>
  composeToolCallers([summary(format), ...inner])(makeCall(), echoExecutor());

describe('summary', () => {
  it('lets every call through', async () => {
    expect(await run(() => 'x')).toMatchObject({ status: 'ok', executed: 'yes' });
  });

  it('format writes one line for people', async () => {
    const result = await run((call, { status }) => `  ${call.toolName}\n ended ${status} `);

    expect(result.audit?.summary).toBe('echo ended ok');
  });

  it.each(['a b', 'a  b', 'a\tb', 'a\nb', 'a\u00a0b', 'a \r\n b'])(
    'makes a space of every stretch of blanks: %j',
    async (line) => {
      expect((await run(() => line)).audit?.summary).toBe('a b');
    },
  );

  it('tells of refusals too', async () => {
    const no = defineLayer({ name: 'no', caller: (call) => refuse(call, 'policy_blocked', 'No.') });

    expect((await run((_call, { status }) => status, [no])).audit?.summary).toBe('policy_blocked');
  });

  it('leaves the reason of the model alone', async () => {
    const reason = defineLayer({
      name: 'reason',
      caller: async (call, next) =>
        annotate(await next(call), { reason: 'because', summary: 'because' }),
    });

    expect((await run(() => 'for people', [reason])).audit).toMatchObject({
      reason: 'because',
      summary: 'for people',
    });
  });

  it.each([
    ['nothing', () => undefined],
    ['null', () => null],
    ['a blank', () => ' \n '],
    ['a number', () => 5 as never],
    ['a promise', () => Promise.resolve('late') as never],
  ])('changes nothing for a formatter that answers with %s', async (_name, format) => {
    const result = await run(format);

    expect(result.status).toBe('ok');
    expect(result.audit).not.toHaveProperty('summary');
  });

  it('changes nothing for a formatter that throws', async () => {
    const result = await run(() => {
      throw new Error('broken');
    });

    expect(result.status).toBe('ok');
    expect(result.audit?.layers).toMatchObject([{ name: 'summary', status: 'ok' }]);
  });

  it('is advised to stand outside requiredReason', () => {
    expect(summary(() => '').order).toMatchObject([
      { outsideOf: 'requiredReason', level: 'should' },
    ]);
  });

  it('refuses to be made without a formatter', () => {
    expect(() => summary(undefined as never)).toThrow(
      'summary: "format" must be a function, got undefined',
    );
  });
});
