import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { redaction } from '../../../middleware/index.ts';
import { auditLog } from '../../../middleware/audit-log/audit-log.ts';
import { telemetry } from '../../../middleware/telemetry/telemetry.ts';
import { defineTool } from '../../tools/define-tool.ts';
import type { Logger } from '../../tools/tool.ts';
import { governTools, type GovernOptions } from '../govern-tools.ts';

const canary = () => `${['gh', 'p'].join('')}_${randomBytes(18).toString('hex')}`;
const inputSchema = { type: 'object', properties: {} } as const;
const tool = defineTool({
  name: 'tell',
  description: 'Tells.',
  inputSchema,
  execute: () => 'told',
});

/** A stack that keeps everything that leaves it. */
function keeping(options: Partial<GovernOptions> = {}) {
  const kept: unknown[] = [];
  const keep = (value: unknown) => void kept.push(value);
  const layers = [auditLog(async (receipt) => keep(receipt)), telemetry(keep), redaction()];
  const governed = governTools({ tools: [tool], layers, ...options });
  governed.on('*', keep);
  return { governed, kept };
}

describe('what a model made up', () => {
  it('shows no secret where it called a tool by one that does not exist', async () => {
    const secret = canary();
    const { governed, kept } = keeping();
    const result = await governed.call({ name: secret, arguments: {} });
    await governed.close();

    expect(result.status).toBe('tool_not_found');
    expect(JSON.stringify([result, kept])).not.toContain(secret);
    expect(result.toolName).toBe('[redacted:github]');
  });

  it('shows no secret where an id is one, keeps two such calls apart, and gives the same id the same name', async () => {
    const [first, second] = [canary(), canary()];
    const { governed, kept } = keeping();
    const results = [];
    for (const id of [first, second, first])
      results.push(await governed.call({ name: 'tell', arguments: {}, id }));
    await governed.close();
    const ids = results.map(({ toolCallId }) => toolCallId);

    expect(results.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok']);
    for (const secret of [first, second])
      expect(JSON.stringify([results, kept])).not.toContain(secret);
    expect(new Set(ids).size).toBe(2);
    expect(ids[2]).toBe(ids[0]);
  });

  it('shows no secret in the error that a strict host gets', async () => {
    const secret = canary();
    const { governed, kept } = keeping({ onUnknownTool: 'throw' });
    const thrown = await governed
      .call({ name: secret, arguments: {} })
      .catch((error: unknown) => error);
    await governed.close();

    expect(`${String(thrown)} ${JSON.stringify(kept)}`).not.toContain(secret);
  });

  it('leaves ordinary ids and the names of tools alone, and everything without a layer that scrubs', async () => {
    const { governed } = keeping();
    const secret = canary();
    const plain = governTools({ tools: [tool], layers: [] });

    expect(await governed.call({ name: 'tell', arguments: {}, id: 'call_a1' })).toMatchObject({
      toolCallId: 'call_a1',
      toolName: 'tell',
    });
    expect((await plain.call({ name: 'tell', arguments: {}, id: secret })).toolCallId).toBe(secret);
  });
});

describe('the logger that a tool gets', () => {
  it('scrubs messages, fields, names of fields, errors and what they carry', async () => {
    const secret = canary();
    const lines: unknown[] = [];
    const log = (fields: object, message: string) => void lines.push([fields, message]);
    const logger: Logger = { debug: log, info: log, warn: log, error: log };
    const talks = defineTool({
      ...{ name: 'talks', description: 'Talks.', inputSchema },
      execute(_args, context) {
        const error = Object.assign(new Error(`no ${secret}`, { cause: new Error(secret) }), {
          headers: { auth: secret },
        });
        context.logger.info(
          { [secret]: 1, deep: [{ secret }], error, map: new Map([[secret, secret]]) },
          `said ${secret}`,
        );
        const ring: Record<string, unknown> = { secret };
        ring['self'] = ring;
        context.logger.warn(ring, 'a ring');
        return 'ok';
      },
    });
    const governed = governTools({ tools: [talks], layers: [redaction()], logger });
    const result = await governed.call({ name: 'talks', arguments: {} });
    const shown = JSON.stringify(lines);

    expect(result.status).toBe('ok');
    expect(lines).toHaveLength(2);
    expect(shown).not.toContain(secret);
    expect(shown).toContain('said [redacted:github]');
  });
});
