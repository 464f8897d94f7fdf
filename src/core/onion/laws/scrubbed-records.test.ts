import { describe, expect, it } from 'vitest';
import { annotate, refuse } from '../results.ts';
import { echoExecutor, makeCall } from '../../../../conformance/test-kit.ts';
import { composeToolCallers } from '../compose.ts';
import { type ToolLayer } from '../../contract/layer.ts';
import type { ToolResult } from '../../contract/result.ts';
import { WITHHELD } from '../audit.ts';
import { layer } from './layers.fixture.ts';

describe('law 13: every string of the audit record is scrubbed before anybody reads it', () => {
  const masking = (name: string, secret: string): ToolLayer => ({
    ...layer(name),
    scrub: (text) => text.replaceAll(secret, '***'),
  });
  const telling = (name: string): ToolLayer =>
    layer(name, async (call, next) => {
      const result = await next(call);
      const patch = {
        summary: 'hunter2',
        metadata: { deep: ['hunter2', { hunter2: 1 }] },
        'key hunter2': 1,
      };
      return annotate(result, patch, { detail: 'hunter2', 'own hunter2': 1 });
    });
  const textOf = (result: ToolResult): string => JSON.stringify(result.audit);

  it.each([
    ['outermost', (mask: ToolLayer) => [mask, telling('a'), telling('b')]],
    ['innermost', (mask: ToolLayer) => [telling('a'), telling('b'), mask]],
  ])('whoever wrote it, with the cleaner %s', async (_, stackWith) => {
    const seen: string[] = [];
    const reading = layer('reading', async (call, next) => {
      const result = await next(call);
      seen.push(textOf(result));
      return result;
    });
    const result = await composeToolCallers([reading, ...stackWith(masking('mask', 'hunter2'))])(
      makeCall(),
      echoExecutor(),
    );

    expect([...seen, textOf(result)].join()).not.toContain('hunter2');
    expect(result.audit).toMatchObject({
      summary: '***',
      metadata: { deep: ['***', { '***': 1 }] },
      'key ***': 1,
    });
    expect(result.audit?.layers.find(({ name }) => name === 'a')).toMatchObject({
      detail: '***',
      'own ***': 1,
    });
  });

  it('also what a layer threw', async () => {
    const bad = layer('bad', () => {
      throw new Error('login with hunter2 failed');
    });
    const result = await composeToolCallers([bad, masking('mask', 'hunter2')])(
      makeCall(),
      echoExecutor(),
    );

    expect(result.audit?.layers.map(({ error }) => error)).toEqual(['login with *** failed']);
  });

  it('by every cleaner of the stack', async () => {
    const stack = [masking('one', 'hunter'), telling('a'), masking('two', '2')];
    const result = await composeToolCallers(stack)(makeCall(), echoExecutor());

    expect(result.audit?.summary).toBe('******');
  });

  it('also by one that a layer brings in by itself, and then what was written before', async () => {
    const inner = composeToolCallers([masking('mask', 'hunter2')]);
    let attempt = 0;
    const joining = layer('joining', (call, next) =>
      (attempt += 1) === 1 ? next(call) : inner(call, next),
    );
    const twice = layer('twice', async (call, next) => {
      await next(call);
      await next(call);
      return next(call);
    });
    const result = await composeToolCallers([telling('outer'), twice, telling('a'), joining])(
      makeCall(),
      echoExecutor(),
    );

    expect(textOf(result)).not.toContain('hunter2');
    expect(result.audit?.layers.map(({ name }) => name)).toEqual([
      'joining',
      'a',
      'mask',
      'joining',
      'a',
      'mask',
      'joining',
      'a',
      'twice',
      'outer',
    ]);
  });

  it('before a layer of either stack reads it, where one was called by a layer', async () => {
    const seen: string[] = [];
    const reading = layer('reading', async (call, next) => {
      const result = await next(call);
      seen.push(textOf(result));
      return result;
    });
    const inner = composeToolCallers([reading, telling('inner'), masking('two', 'er2')]);
    const stack = [
      masking('one', 'hunt'),
      layer('joining', (call, next) => inner(call, next)),
      reading,
      telling('below'),
    ];
    const result = await composeToolCallers(stack)(makeCall(), echoExecutor());

    expect(seen).toHaveLength(2);
    for (const text of [...seen, textOf(result)]) expect(text).not.toMatch(/hunt|er2/);
  });

  it('also a status that a layer made up', async () => {
    const odd = layer('odd', (call) => refuse(call, 'no_hunter2', 'No.'));
    const result = await composeToolCallers([odd, masking('mask', 'hunter2')])(
      makeCall(),
      echoExecutor(),
    );

    expect(JSON.stringify(result.audit)).not.toContain('hunter2');
  });

  it('and a cleaner that throws lets nothing through, and leaves the record readable', async () => {
    const failing: ToolLayer = {
      ...layer('failing'),
      scrub: () => {
        throw new Error('cannot clean');
      },
    };
    const result = await composeToolCallers([telling('a'), failing])(makeCall(), echoExecutor());

    expect(textOf(result)).not.toContain('hunter2');
    expect(result.audit).toMatchObject({ summary: WITHHELD });
    expect(result.audit?.layers).toHaveLength(2);
    expect(result.audit?.layers).toMatchObject([
      { name: 'failing', status: 'ok' },
      { name: WITHHELD, status: WITHHELD },
    ]);
  });
});
