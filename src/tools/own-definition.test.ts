import { describe, expect, it } from 'vitest';
import { makeCall } from '../../conformance/index.ts';
import {
  defineLayer,
  defineTool,
  createRegistry,
  governTools,
  type Tool,
  type ToolSpec,
  withCall,
} from '../index.ts';
import { definitionOf, ownDefinition } from '../layer.ts';

const schema = { type: 'object', properties: { path: { type: 'string' } } } as const;
const output = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const;
const tool = (changes: object = {}) =>
  defineTool({
    name: 'read',
    description: 'Reads.',
    inputSchema: schema,
    outputSchema: output,
    execute: () => ({ n: 1 }),
    ...changes,
  });
const own = { name: 'read', description: 'Reads.', inputSchema: schema, outputSchema: output };
const rewritten = (spec: ToolSpec): ToolSpec => ({
  ...spec,
  description: 'Shown.',
  annotations: { title: 'x' },
  inputSchema: { type: 'object' },
});

describe('ownDefinition', () => {
  it('is what the tool was defined as, whatever transforms show', () => {
    const registry = createRegistry([tool()]).transform(rewritten).transform(rewritten);
    const [shown] = [...registry];

    expect(shown).toMatchObject({ description: 'Shown.' });
    expect(ownDefinition(shown as Tool)).toMatchObject(own);
  });

  it('has the name that the tool has in its registry', () => {
    const renamed = createRegistry([tool()])
      .transform(rewritten)
      .prefix('gh')
      .rename('gh_read', 'look');

    expect(ownDefinition(renamed.get('look') as Tool)).toMatchObject({ ...own, name: 'look' });
  });

  it('takes a copy that somebody made for a tool of its own', () => {
    const copy = { ...tool(), description: 'Copied.' };

    expect(ownDefinition(copy).description).toBe('Copied.');
    expect(ownDefinition(createRegistry([copy]).get('read') as Tool).description).toBe('Copied.');
  });

  it('cannot be claimed by what came as JSON', () => {
    const sent = JSON.parse(
      JSON.stringify({ ...tool(), own: { description: 'Claimed.' }, description: 'Sent.' }),
    ) as Tool;

    expect(
      ownDefinition(createRegistry([{ ...sent, execute: () => null }]).get('read') as Tool)
        .description,
    ).toBe('Sent.');
  });

  it('is of no use to change afterwards', () => {
    const annotations = { safety: { allowedRoots: ['/a'] } };
    const made = tool({ annotations });
    annotations.safety.allowedRoots.push('/b');

    expect(ownDefinition(made).annotations.safety?.allowedRoots).toEqual(['/a']);
  });

  it('keeps holding an answer to its form that a layer no longer shows', async () => {
    const hides = defineLayer({
      name: 'hides',
      caller: (call, next) => next(call),
      schemaTransform: ({ name, description, inputSchema, annotations }) => ({
        name,
        description,
        inputSchema,
        annotations,
      }),
    });
    const governed = governTools({
      tools: [tool({ execute: () => ({ n: 'x' }) })],
      layers: [hides],
    });

    expect(governed.tools[0]).not.toHaveProperty('outputSchema');
    expect(await governed.call({ name: 'read', arguments: {} })).toMatchObject({
      status: 'output_schema_violation',
    });
  });

  it('lets a layer show another form of answer, if it is a schema', () => {
    const shows = (outputSchema: object) =>
      createRegistry([tool()]).transform((spec) => ({
        ...spec,
        outputSchema: outputSchema as ToolSpec['inputSchema'],
      }));

    expect([...shows({ type: 'array' })][0]?.outputSchema).toEqual({ type: 'array' });
    expect(() => shows({ $ref: 'https://example.com/x' })).toThrow(
      expect.objectContaining({ code: 'ERR_SCHEMA_UNSUPPORTED' }) as Error,
    );
  });
});

describe('definitionOf', () => {
  it('is what the tool of a call was defined as, where layers describe it anew', async () => {
    const seen: (ToolSpec | null)[] = [];
    const sees = defineLayer({
      name: 'sees',
      caller: (call, next) => {
        seen.push(definitionOf(call), definitionOf(withCall(call, { toolName: 'other' })));
        return next(call);
      },
      schemaTransform: rewritten,
    });
    await governTools({ tools: [tool()], layers: [sees] }).call({ name: 'read', arguments: {} });

    expect(seen).toEqual([expect.objectContaining(own), null]);
  });

  it('is what the call says where nobody listed tools', () => {
    expect(definitionOf(makeCall())).toMatchObject({
      name: 'echo',
      description: 'Answers with its arguments.',
      inputSchema: {},
    });
    expect(definitionOf(makeCall({ schema }))).toMatchObject({ inputSchema: schema });
  });
});
