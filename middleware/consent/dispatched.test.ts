import { describe, expect, it } from 'vitest';
import { type ApprovalPrompt, defineTool, governTools, type ToolLayer } from '../../src/index.ts';
import { consent } from './consent.ts';

const SCHEMA = {
  type: 'object',
  properties: { amount: { type: 'integer', maximum: 100 } },
  required: ['amount'],
  additionalProperties: false,
} as const;

function bank(layer: ToolLayer, prompts: readonly ApprovalPrompt[] = []) {
  const paid: unknown[] = [];
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: SCHEMA,
    execute: (args) => void paid.push(args),
  });
  return { tools: governTools({ tools: [pay], layers: [layer], prompts }), paid };
}

describe('consent in a dispatcher', () => {
  it('asks on the channels of the host', async () => {
    const { tools, paid } = bank(consent({ rules: [] }), [
      ({ shown }) => ({ decision: 'allow_once', decidedBy: JSON.stringify(shown.args) }),
    ]);
    const result = await tools.call({ name: 'pay', arguments: { amount: 5 } });

    expect(result.audit?.consent).toMatchObject({
      decision: 'approved',
      decidedBy: '{"amount":5}',
    });
    expect(paid).toEqual([{ amount: 5 }]);
  });

  it('pauses a call that nobody can be asked about', async () => {
    const { tools, paid } = bank(consent({}));
    const heard: unknown[] = [];
    tools.on('tool_call_update', (event) => void heard.push(event.status));
    const result = await tools.call({ name: 'pay', arguments: { amount: 5 } });

    expect(result.status).toBe('approval_required');
    expect(heard).toEqual(['in_progress', 'paused']);
    expect(paid).toEqual([]);
  });

  it.each([{ amount: 5000 }, { amount: '5' }, {}, { amount: 5, to: 'mallory' }])(
    'holds edited arguments %j to the schema',
    async (args) => {
      const { tools, paid } = bank(consent({ rules: [] }), [
        () => ({ decision: 'allow_once', args }),
      ]);
      const result = await tools.call({ name: 'pay', arguments: { amount: 50 } });

      expect(result).toMatchObject({
        status: 'schema_violation',
        executed: 'no',
        audit: { consent: { edited: true } },
      });
      expect(paid).toEqual([]);
    },
  );

  it('decides about each call of a batch on its own', async () => {
    const { tools, paid } = bank(consent({ rules: [] }), [
      ({ shown }) => ({
        decision: JSON.stringify(shown).includes('2') ? 'reject_once' : 'allow_once',
      }),
    ]);
    const requests = [1, 2, 3].map((amount) => ({ name: 'pay', arguments: { amount } }));
    const results = await tools.batch(requests, { maxConcurrent: 3 });

    expect(results.map((result) => result.status)).toEqual(['ok', 'consent_denied', 'ok']);
    expect(paid).toEqual([{ amount: 1 }, { amount: 3 }]);
  });

  it('does not cover the calls that an approved tool makes', async () => {
    const asked: string[] = [];
    const inner = defineTool({
      name: 'inner',
      description: 'd',
      inputSchema: { type: 'object' },
      execute: () => 'ran',
    });
    const outer = defineTool({
      ...{ name: 'outer', description: 'd', inputSchema: { type: 'object' } },
      execute: async (_args, context) =>
        (await context.call({ name: 'inner', arguments: {} })).status,
    });
    const prompt: ApprovalPrompt = ({ toolName }) => (
      asked.push(toolName), { decision: toolName === 'outer' ? 'allow_once' : 'reject_once' }
    );
    const tools = governTools({
      tools: [inner, outer],
      layers: [consent({ rules: [] })],
      prompts: [prompt],
    });

    expect((await tools.call({ name: 'outer', arguments: {} })).result).toBe('consent_denied');
    expect(asked).toEqual(['outer', 'inner']);
  });
});
