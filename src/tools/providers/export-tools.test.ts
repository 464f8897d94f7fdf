import { describe, expect, it } from 'vitest';
import { isAlliumError } from '../../core/contract/errors.ts';
import type { ToolSpec } from '../../core/contract/layer.ts';
import { aliasNames, type Provider } from './alias.ts';
import { type ExportOptions, exportTools } from './export-tools.ts';

const inputSchema = {
  type: 'object',
  properties: { q: { type: 'string' }, limit: { type: 'number' } },
  required: ['q'],
};
const search: ToolSpec = {
  name: 'search',
  description: 'Searches.',
  inputSchema,
  annotations: { title: 'Search', readOnly: true },
};
const PROVIDERS = ['openai', 'anthropic', 'gemini', 'mcp'] as const;

const exported = (tool: ToolSpec, provider: Provider, options?: ExportOptions) =>
  exportTools([tool], provider, options)[0];

function codeOf(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return isAlliumError(error) ? error.code : error;
  }
}

describe('exportTools', () => {
  it('writes a function of Chat Completions', () => {
    expect(exported(search, 'openai')).toEqual({
      type: 'function',
      function: { name: 'search', description: 'Searches.', parameters: inputSchema },
    });
  });

  it('writes a function of Responses, which takes a missing strict for true', () => {
    expect(exported(search, 'openai', { shape: 'responses' })).toEqual({
      type: 'function',
      name: 'search',
      description: 'Searches.',
      parameters: inputSchema,
      strict: false,
    });
  });

  it('writes a tool for Anthropic', () => {
    expect(exported(search, 'anthropic')).toEqual({
      name: 'search',
      description: 'Searches.',
      input_schema: inputSchema,
    });
  });

  it('writes a function declaration for Gemini', () => {
    expect(exported(search, 'gemini')).toEqual({
      name: 'search',
      description: 'Searches.',
      parametersJsonSchema: inputSchema,
    });
  });

  it('writes a tool for MCP, with all four hints', () => {
    expect(exported(search, 'mcp')).toEqual({
      name: 'search',
      title: 'Search',
      description: 'Searches.',
      inputSchema,
      annotations: {
        title: 'Search',
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: false,
        openWorldHint: true,
      },
    });
  });

  it('keeps the order, and gives the same bytes for the same tools', () => {
    const tools = ['c', 'a', 'b'].map((name) => ({ ...search, name }));

    expect(exportTools(tools, 'gemini').map(({ name }) => name)).toEqual(['c', 'a', 'b']);
    for (const provider of PROVIDERS) {
      expect(JSON.stringify(exportTools(structuredClone(tools), provider))).toBe(
        JSON.stringify(exportTools(tools, provider)),
      );
    }
  });

  it.each(PROVIDERS)(
    'says to %s that arguments are an object, where the schema does not',
    (provider) => {
      const text = JSON.stringify(
        exported({ ...search, inputSchema: { properties: { q: { type: 'string' } } } }, provider),
      );

      expect(text).toContain('"type":"object"');
    },
  );

  it('freezes what it gives out and leaves the tool as it was', () => {
    const mutable = structuredClone(search);
    const [tool] = exportTools([mutable], 'anthropic');

    expect(Object.isFrozen(tool?.input_schema)).toBe(true);
    expect(Object.isFrozen(mutable.inputSchema)).toBe(false);
    expect(mutable).toEqual(search);
  });
});

describe('exportTools for MCP clients', () => {
  it('shows an output schema that is declared an object', () => {
    const outputSchema = { type: 'object', properties: { n: { type: 'number' } } };

    expect(exported({ ...search, outputSchema }, 'mcp')).toMatchObject({ outputSchema });
  });

  it.each([{ type: 'string' }, { type: ['object', 'null'] }, { properties: {} }])(
    'holds back %j, for which a client refuses the whole list',
    (outputSchema) => {
      expect(exported({ ...search, outputSchema }, 'mcp')).not.toHaveProperty('outputSchema');
    },
  );

  it('writes boolean properties as objects, for the same reason', () => {
    const tool = exported(
      { ...search, inputSchema: { type: 'object', properties: { any: true, none: false } } },
      'mcp',
    );

    expect(tool).toMatchObject({ inputSchema: { properties: { any: {}, none: { not: {} } } } });
  });
});

describe('exportTools with strict', () => {
  it('marks the function and makes optional properties nullable for OpenAI', () => {
    const parameters = {
      type: 'object',
      properties: { q: { type: 'string' }, limit: { type: ['number', 'null'] } },
      required: ['q', 'limit'],
      additionalProperties: false,
    };

    expect(exported(search, 'openai', { strict: true })).toMatchObject({
      function: { parameters, strict: true },
    });
    expect(exported(search, 'openai', { strict: true, shape: 'responses' })).toMatchObject({
      parameters,
      strict: true,
    });
  });

  it('marks the tool and closes it for Anthropic', () => {
    expect(exported(search, 'anthropic', { strict: true })).toEqual({
      name: 'search',
      description: 'Searches.',
      input_schema: { ...inputSchema, additionalProperties: false },
      strict: true,
    });
  });

  it.each(['gemini', 'mcp'] as const)(
    'is refused for %s, which has no strict subset',
    (provider) => {
      expect(codeOf(() => exported(search, provider, { strict: true }))).toBe('ERR_INVALID_OPTION');
      expect(codeOf(() => exported(search, provider, { strict: false }))).toMatchObject({
        name: 'search',
      });
    },
  );

  it('names the tool and the rule it cannot keep', () => {
    const free = { ...search, name: 'free_form', inputSchema: { properties: { a: {} } } };

    expect(() => exportTools([search, free], 'openai', { strict: true })).toThrow(
      /"free_form" cannot be strict for openai: every value must have a type/,
    );
  });
});

describe('exportTools and names', () => {
  const dotted = { ...search, name: 'web.search' };

  it('refuses a name the provider would refuse, rather than sending it', () => {
    expect(codeOf(() => exported(dotted, 'openai'))).toBe('ERR_INVALID_TOOL');
    expect(exported(dotted, 'mcp')).toMatchObject({ name: 'web.search' });
  });

  it('uses the aliases it is given', () => {
    const aliases = aliasNames(['web.search'], 'anthropic');

    expect(exported(dotted, 'anthropic', { aliases })).toMatchObject({ name: 'web_search' });
  });

  it('refuses aliases made for somebody else, or for other tools', () => {
    expect(
      codeOf(() =>
        exported(dotted, 'openai', { aliases: aliasNames(['web.search'], 'anthropic') }),
      ),
    ).toBe('ERR_INVALID_OPTION');
    expect(
      codeOf(() => exported(dotted, 'openai', { aliases: aliasNames(['other'], 'openai') })),
    ).toBe('ERR_UNKNOWN_TOOL');
  });

  it('refuses unknown providers, options and shapes', () => {
    expect(codeOf(() => exported(search, 'toString' as Provider))).toBe('ERR_INVALID_OPTION');
    expect(codeOf(() => exported(search, 'openai', { Strict: true } as object))).toBe(
      'ERR_INVALID_OPTION',
    );
    expect(codeOf(() => exported(search, 'anthropic', { shape: 'responses' }))).toBe(
      'ERR_INVALID_OPTION',
    );
  });
});
