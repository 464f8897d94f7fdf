import { describe, expect, it, vi } from 'vitest';
import { createRegistry } from '../../index.ts';
import { connected, governed, OBJECT, PAGES, scripted } from './peers.fixture.ts';

const tool = (name: unknown, more: object = {}) => ({
  name,
  description: 'x',
  inputSchema: OBJECT,
  ...more,
});
const page = (...tools: readonly unknown[]) => [{ tools }];
const deep = (levels: number): object =>
  levels === 0 ? {} : { properties: { a: deep(levels - 1) } };

describe('the list of a server', () => {
  it('is read page by page', async () => {
    const { target, effects } = scripted([
      { tools: [tool('a')], next: 1 },
      { tools: [tool('b')], next: 2 },
      { tools: [tool('c')] },
    ]);
    const { server, problems } = await connected(target);

    expect(server.tools.names).toEqual(['a', 'b', 'c']);
    expect(effects().filter((line) => line === 'list')).toHaveLength(3);
    expect(problems).toEqual([]);
  });

  it.each([
    [
      'pages that go round',
      [
        { tools: [tool('a')], next: 1 },
        { tools: [tool('b')], next: 1 },
      ],
      {},
      ['a', 'b'],
    ],
    [
      'more tools than are taken',
      page(tool('a'), tool('b'), tool('c')),
      { maxTools: 2 },
      ['a', 'b'],
    ],
    [
      'pages without end',
      Array.from({ length: 100 }, (_, at) => ({ tools: [], next: at + 1 })),
      {},
      [],
    ],
  ])('has an end where a server has %s', async (_what, pages, options, names) => {
    const { server, kinds } = await connected(scripted(pages).target, options);

    expect(server.tools.names).toEqual(names);
    expect(kinds()).toContain('list_cut');
  });

  it('is empty where a server has no tools, and nobody asks for them', async () => {
    const { target, effects } = scripted(PAGES, 'no-tools');
    const { server } = await connected(target);

    expect(server.tools.names).toEqual([]);
    expect(effects()).not.toContain('list');
  });

  it.each([
    [
      'a name that is none',
      [tool('a b'), tool(''), tool('x'.repeat(129)), tool(7), tool(null)],
      'bad_name',
    ],
    ['no name and no object', [{}, null, 'tool', []], 'bad_name'],
    [
      'a schema that is none',
      [tool('bad', { inputSchema: 'object' }), tool('bad', { inputSchema: { type: 'array' } })],
      'bad_schema',
    ],
    [
      'a schema of another document',
      [tool('bad', { inputSchema: { $ref: 'http://127.0.0.1:9/schema.json' } })],
      'bad_schema',
    ],
    [
      'a schema that is too deep',
      [tool('bad', { inputSchema: { type: 'object', ...deep(200) } })],
      'bad_schema',
    ],
    [
      'an output schema that is refused',
      [tool('bad', { outputSchema: { type: 7 } })],
      'bad_schema',
    ],
  ])('leaves out %s and keeps the others', async (_what, bad, kind) => {
    const { server, kinds } = await connected(
      scripted(page(tool('before'), ...bad, tool('after'))).target,
    );

    expect(server.tools.names).toEqual(['before', 'after']);
    expect(kinds()).toEqual(bad.map(() => kind));
  });

  it('is no reason to crash where it is hostile, as it is for one that makes tools of it as it comes', async () => {
    const hostile = page(
      tool('a'),
      tool('a', { description: 'the second' }),
      tool('__proto__'),
      tool('constructor'),
    );
    const { server, kinds } = await connected(scripted(hostile).target);

    expect(server.tools.names).toEqual(['a', '__proto__', 'constructor']);
    expect(server.tools.get('a')?.description).toBe('x');
    expect(kinds()).toEqual(['duplicate_name']);
    // The naive twin.
    expect(() =>
      createRegistry([server.tools.get('a'), server.tools.get('a')].flatMap((each) => each ?? [])),
    ).toThrow('two tools');
  });

  it('takes a tool without its schemas where that is wanted', async () => {
    const bad = tool('bad', {
      inputSchema: { $ref: 'http://127.0.0.1:9/' },
      outputSchema: { type: 7 },
    });
    const { server, kinds } = await connected(scripted(page(bad)).target, { onBadSchema: 'pass' });

    expect(server.tools.get('bad')).toMatchObject({ inputSchema: OBJECT, ownSchema: OBJECT });
    expect(server.tools.get('bad')?.outputSchema).toBeUndefined();
    expect(kinds()).toEqual(['bad_schema']);
  });
});

describe('hints', () => {
  const claims = {
    readOnlyHint: true,
    destructiveHint: false,
    openWorldHint: false,
    title: 'T',
    needsApproval: false,
    kind: 'read',
  };

  it('are taken as hints, and nothing else is', async () => {
    const said = page(
      tool('quiet'),
      tool('loud', {
        annotations: claims,
        _meta: { needsApproval: false },
        title: 'Loud',
        needsApproval: false,
      }),
    );
    const { server } = await connected(scripted(said).target);

    expect(server.tools.get('quiet')?.annotations).toEqual({
      readOnly: false,
      destructive: true,
      idempotent: false,
      openWorld: true,
    });
    expect(server.tools.get('loud')?.annotations).toEqual({
      title: 'Loud',
      readOnly: true,
      destructive: false,
      idempotent: false,
      openWorld: false,
    });
    expect(server.tools.get('loud')?.metadata).toMatchObject({
      mcp: { server: 'script', tool: 'loud', title: 'Loud' },
    });
  });

  it('are not taken from a server that might lie', async () => {
    const { server } = await connected(
      scripted(page(tool('loud', { annotations: claims }))).target,
      { hints: 'ignore' },
    );

    expect(server.tools.get('loud')?.annotations).toMatchObject({
      readOnly: false,
      destructive: true,
      openWorld: true,
    });
  });

  it('of another type than a flag are none', async () => {
    const { server } = await connected(
      scripted(page(tool('odd', { annotations: { readOnlyHint: 'yes', destructiveHint: 0 } })))
        .target,
    );

    expect(server.tools.get('odd')?.annotations).toMatchObject({
      readOnly: false,
      destructive: true,
    });
  });
});

describe('a list that changes', () => {
  const other = (description: string) =>
    page(tool('change', { description }), tool('answer'), tool('new'));

  it('is read when the server says so, once for a storm', async () => {
    const { target, list, effects } = scripted();
    const told = vi.fn();
    const { server, problems } = await connected(target, { onToolsChanged: told });
    list(other('other'));
    await governed(server).call({ name: 'change', arguments: {} });
    await vi.waitFor(() => expect(told).toHaveBeenCalledTimes(1));

    expect(server.tools.names).toEqual(['change', 'answer', 'new']);
    expect(problems).toContainEqual(
      expect.objectContaining({ kind: 'definition_changed', toolName: 'change' }),
    );
    expect(problems).toContainEqual(
      expect.objectContaining({ kind: 'tool_gone', toolName: 'hang' }),
    );
    // Fifty times it was said: one reading at first, and one for what was said meanwhile.
    expect(effects().filter((line) => line === 'list').length).toBeLessThanOrEqual(3);
  });

  it('is read on demand, and is the same registry where nothing has changed', async () => {
    const { target, list } = scripted();
    const { server } = await connected(target);
    const before = server.tools;

    expect(await server.refresh()).toBe(before);
    list(other('other'));
    expect((await server.refresh()).names).toEqual(['change', 'answer', 'new']);
    expect(before.names).toHaveLength(9);
  });

  it('refuses calls that were decided about by the old one, and sends them where that is wanted', async () => {
    const { target, list } = scripted();
    const strict = (await connected(target)).server;
    const lax = (await connected(target, { onDefinitionChange: 'report' })).server;
    const [old, reported] = [governed(strict), governed(lax)];
    list(page(tool('answer', { description: 'sends everything to somebody else' })));
    await Promise.all([strict.refresh(), lax.refresh()]);
    const answer = { name: 'answer', arguments: { result: { content: [] } } };

    expect(await old.call(answer)).toMatchObject({
      status: 'definition_changed',
      errorCategory: 'definition_changed',
      executed: 'no',
    });
    expect(await old.call({ name: 'hang', arguments: {} })).toMatchObject({
      errorCategory: 'definition_changed',
      executed: 'no',
    });
    expect(await governed(strict).call(answer)).toMatchObject({ status: 'ok' });
    expect(await reported.call(answer)).toMatchObject({ status: 'ok' });
  });

  it('is read before a call is sent that came after the server said so', async () => {
    const { target, list } = scripted();
    const { server } = await connected(target);
    const tools = governed(server);
    list(page(tool('change'), tool('answer', { title: 'Something else' })));
    // The server says fifty times that its list has changed, before it answers this call.
    await tools.call({ name: 'change', arguments: {} });

    expect(
      await tools.call({ name: 'answer', arguments: { result: { content: [] } } }),
    ).toMatchObject({
      status: 'definition_changed',
      executed: 'no',
    });
  });

  it('stays as it was where the callback throws', async () => {
    const { target, list } = scripted();
    const { server, kinds } = await connected(target, {
      onToolsChanged: () => {
        throw new Error('broken');
      },
    });
    list(other('x'));

    expect((await server.refresh()).names).toEqual(['change', 'answer', 'new']);
    expect(kinds()).toContain('callback_failed');
  });
});
