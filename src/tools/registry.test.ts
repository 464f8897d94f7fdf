import { describe, expect, it } from 'vitest';
import { defineTool } from './define-tool.ts';
import { injectParameter } from './parameters/inject-parameter.ts';
import { createRegistry } from './registry.ts';
import { isCompiled } from './schema/validator.ts';

const tool = (name: string) =>
  defineTool({
    name,
    description: `does ${name}`,
    inputSchema: { type: 'object', properties: { a: { type: 'string' } } },
    execute: () => name,
  });
const code = (expected: string) => expect.objectContaining({ code: expected }) as Error;

describe('createRegistry', () => {
  it('keeps the order tools came in', () => {
    expect(createRegistry([tool('b'), tool('a'), tool('c')]).names).toEqual(['b', 'a', 'c']);
  });

  it('is immutable: every change gives a new one', () => {
    const registry = createRegistry([tool('a')]);
    const more = registry.with(tool('b'));

    expect([registry.names, more.names]).toEqual([['a'], ['a', 'b']]);
    expect(Object.isFrozen(registry)).toBe(true);
    expect(Object.isFrozen(registry.names)).toBe(true);
  });

  it('refuses a name that is taken, by every road', () => {
    const registry = createRegistry([tool('a'), tool('b')]);

    expect(() => createRegistry([tool('a'), tool('a')])).toThrow(code('ERR_DUPLICATE_TOOL'));
    expect(() => registry.with(tool('a'))).toThrow(code('ERR_DUPLICATE_TOOL'));
    expect(() => registry.merge(createRegistry([tool('b')]))).toThrow(code('ERR_DUPLICATE_TOOL'));
    expect(() => registry.rename('a', 'b')).toThrow(code('ERR_DUPLICATE_TOOL'));
  });

  it('finds tools by their own names only', () => {
    const registry = createRegistry([tool('constructor')]);

    expect(registry.get('constructor')?.name).toBe('constructor');
    expect([
      registry.get('toString'),
      registry.get('__proto__'),
      registry.get('hasOwnProperty'),
    ]).toEqual([undefined, undefined, undefined]);
  });

  it('takes portable names, or whatever MCP allows', () => {
    expect(() => createRegistry([tool('a.b')])).toThrow(code('ERR_INVALID_TOOL'));
    expect(() => createRegistry([tool('9lives')])).toThrow(code('ERR_INVALID_TOOL'));
    expect(createRegistry([tool('a.b'), tool('9lives')], { names: 'mcp' }).names).toEqual([
      'a.b',
      '9lives',
    ]);
    expect(() => createRegistry([], { names: 'any' as never })).toThrow(code('ERR_INVALID_OPTION'));
  });

  it('filters, prefixes and renames', () => {
    const registry = createRegistry([tool('read'), tool('write')]);

    expect(registry.filter(({ name }) => name !== 'write').names).toEqual(['read']);
    expect(registry.prefix('gh').names).toEqual(['gh_read', 'gh_write']);
    expect(registry.rename('read', 'look').names).toEqual(['look', 'write']);
    expect(() => registry.rename('nobody', 'x')).toThrow(code('ERR_UNKNOWN_TOOL'));
  });

  it('transforms what is shown and leaves what the tool takes', () => {
    const registry = createRegistry([tool('read')]).transform((spec) =>
      injectParameter(spec, 'why', { type: 'string' }),
    );

    expect(registry.get('read')?.inputSchema).toMatchObject({
      properties: { a: {}, why: {} },
      required: ['why'],
    });
    expect(registry.get('read')?.ownSchema).toEqual(tool('read').ownSchema);
    expect(registry.get('read')?.execute?.({}, {} as never)).toBe('read');
  });

  it('drops a tool whose transform answers null', () => {
    expect(
      createRegistry([tool('a'), tool('b')]).transform((spec) => (spec.name === 'a' ? null : spec))
        .names,
    ).toEqual(['b']);
  });

  it.each([
    ['nothing', undefined],
    ['a string', 'tool'],
    ['a list', []],
    ['a tool without a schema', { name: 'a', description: '', annotations: {} }],
    ['another name', { ...tool('b') }],
  ])('refuses a transform that answers with %s', (_name, answer) => {
    expect(() => createRegistry([tool('a')]).transform(() => answer as never)).toThrow(
      code('ERR_INVALID_TRANSFORM'),
    );
  });

  it('aliases names for a provider and back', () => {
    const alias = createRegistry([tool('fs.read'), tool('plain')], { names: 'mcp' }).alias(
      'openai',
    );

    expect(alias.fromProvider(alias.toProvider('fs.read'))).toBe('fs.read');
    expect(alias.toProvider('plain')).toBe('plain');
  });

  it('lists as capabilities, and invokes only through what governs it', async () => {
    const registry = createRegistry([tool('a')]);
    const asked: unknown[] = [];
    const capabilities = registry.asCapabilities(
      async (request) => void asked.push(request) as never,
    );

    expect(capabilities.list().map(({ name }) => name)).toEqual(['a']);
    await capabilities.invoke('a', { x: 1 });
    expect(asked).toEqual([{ name: 'a', arguments: { x: 1 } }]);
    await expect(registry.asCapabilities().invoke('a', {})).rejects.toThrow(
      code('ERR_NO_EXECUTOR'),
    );
  });

  it('compiles no schema when tools are registered', () => {
    const registered = tool('lazy');
    createRegistry([registered]).transform((spec) =>
      injectParameter(spec, 'why', { type: 'string' }),
    );

    expect(isCompiled(registered.inputSchema)).toBe(false);
  });

  it('checks a definition that came as a plain object', () => {
    const plain = {
      name: 'plain',
      description: '',
      inputSchema: { type: 'object' },
      execute: () => 1,
    };

    expect(createRegistry([plain as never]).get('plain')?.annotations.destructive).toBe(true);
    expect(() => createRegistry([{ name: 'x' } as never])).toThrow(code('ERR_INVALID_OPTION'));
  });
});
