import { describe, expect, it } from 'vitest';
import { echoExecutor, makeCall } from '../../conformance/index.ts';
import { composeToolCallers, toToolMessage } from '../../src/index.ts';
import { type DryRunOptions, dryRun } from './dry-run.ts';

async function run(options: DryRunOptions | undefined, toolName = 'echo', toolArgs: object = { text: 'a' }) {
  const executor = echoExecutor();
  const result = await composeToolCallers([dryRun(options)])(makeCall({ toolName, toolArgs }), executor);
  return { result, ran: executor.calls.length };
}

describe('dryRun', () => {
  it('lets a tool through that is not meant', async () => {
    const { result, ran } = await run({ only: ['write_*'] });

    expect(result).toMatchObject({ status: 'ok', executed: 'yes', result: { text: 'a' } });
    expect(ran).toBe(1);
  });

  it('answers with a preview and never runs the tool', async () => {
    const { result, ran } = await run(undefined);

    expect(result).toMatchObject({
      ok: true,
      status: 'dry_run',
      executed: 'no',
      error: null,
      result: { dryRun: true, args: { text: 'a' } },
    });
    expect(result.renderedResult).toBe('(dry run) — echo({"text":"a"})');
    expect(ran).toBe(0);
  });

  it('says so on its audit line', async () => {
    const { result } = await run(undefined);

    expect(result.audit).toMatchObject({ kind: 'think', layers: [{ name: 'dryRun', status: 'preview' }] });
  });

  it.each([
    [{ only: ['echo'] }, 'echo', 0],
    [{ only: ['e*'] }, 'echo', 0],
    [{ only: [] }, 'echo', 1],
    [{ except: ['echo'] }, 'echo', 1],
    [{ except: ['other'] }, 'echo', 0],
    [{ only: ['e*'], except: ['echo'] }, 'echo', 1],
    [{ only: ['constructor'] }, 'toString', 1],
  ])('with %j runs %s %i times', async (options, name, times) => {
    expect((await run(options, name)).ran).toBe(times);
  });

  it('begins with the message it was given', async () => {
    expect((await run({ message: 'Would call' })).result.renderedResult).toMatch(/^Would call — echo/);
  });

  it('gives strict MCP clients nothing to check against an output schema', async () => {
    expect(toToolMessage((await run(undefined)).result, 'mcp')).not.toHaveProperty('structuredContent');
  });

  it('refuses a misspelt option and says which was meant', () => {
    expect(() => dryRun({ onyl: ['a'] } as never)).toThrow('dryRun has no option "onyl"; did you mean "only"?');
  });
});
