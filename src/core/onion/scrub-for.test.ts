import { describe, expect, it } from 'vitest';
import { echoExecutor, makeCall } from '../../../conformance/index.ts';
import { composeToolCallers } from './compose.ts';
import { defineLayer, type ToolLayer } from '../contract/layer.ts';
import { scrubFor } from './audit.ts';

const masks = (text: string): ToolLayer =>
  defineLayer({
    name: text,
    caller: (call, next) => next(call),
    scrub: (given) => given.replaceAll(text, '*'),
  });

async function scrubbed(
  value: unknown,
  stack: (watch: ToolLayer) => readonly ToolLayer[],
): Promise<unknown> {
  let seen: unknown = null;
  const watch = defineLayer({
    name: 'watch',
    caller: (call, next) => ((seen = scrubFor(call, value)), next(call)),
  });
  await composeToolCallers(stack(watch))(makeCall(), echoExecutor());
  return seen;
}

describe('scrubFor', () => {
  it('cleans every text with every scrub of the stack, wherever it stands', async () => {
    const value = { a: ['one', { two: 'onetwo' }], n: 1 };

    expect(await scrubbed(value, (watch) => [masks('one'), watch, masks('two')])).toEqual({
      a: ['*', { '*': '**' }],
      n: 1,
    });
  });

  it('gives a value back as it is where nothing cleans', async () => {
    const value = { a: 'one' };

    expect(await scrubbed(value, (watch) => [watch])).toBe(value);
  });

  it('withholds what cannot be cleaned', async () => {
    const fails = defineLayer({
      name: 'fails',
      caller: (call, next) => next(call),
      scrub: () => expect.unreachable(),
    });

    expect(await scrubbed('one', (watch) => [fails, watch])).toBe('[withheld: a scrub failed]');
  });
});
