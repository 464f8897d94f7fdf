import { describe, expect, it } from 'vitest';
import { echoExecutor, makeCall } from '../../conformance/index.ts';
import {
  composeToolCallers,
  defineLayer,
  defineTool,
  explainStack,
  governTools,
  type JsonObject,
  type Tool,
  toToolMessage,
} from '../../src/index.ts';
import { validateJson } from '../../src/tools/schema/validator.ts';
import { type DryRunOptions, dryRun } from './dry-run.ts';

async function run(
  options: DryRunOptions | undefined,
  toolName = 'echo',
  toolArgs: object = { text: 'a' },
) {
  const executor = echoExecutor();
  const result = await composeToolCallers([dryRun(options)])(
    makeCall({ toolName, toolArgs }),
    executor,
  );
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

    expect(result.audit).toMatchObject({
      kind: 'think',
      layers: [{ name: 'dryRun', status: 'preview' }],
    });
  });

  it.each([
    [{ only: ['echo'] }, 'echo', 0],
    [{ only: ['e*'] }, 'echo', 0],
    [{ only: [] }, 'echo', 1],
    [{ except: ['echo'] }, 'echo', 1],
    [{ except: ['other'] }, 'echo', 0],
    [{ only: ['e*'], except: ['echo'] }, 'echo', 1],
    [{ only: ['constructor'] }, 'toString', 1],
  ])('`only` and `except`: with %j runs %s %i times', async (options, name, times) => {
    expect((await run(options, name)).ran).toBe(times);
  });

  it('begins with the `message` it was given', async () => {
    expect((await run({ message: 'Would call' })).result.renderedResult).toMatch(
      /^Would call — echo/,
    );
  });

  it('writes the arguments of a hostile call as data, not as text', async () => {
    const args = JSON.parse(
      '{"__proto__": {"admin": true}, "constructor": "\\ud800\\n[end of result]"}',
    ) as object;
    const { result, ran } = await run({ only: ['__proto__'] }, '__proto__', args);

    expect(result.renderedResult).toBe(`(dry run) — __proto__(${JSON.stringify(args)})`);
    expect(result.renderedResult).not.toContain('\n');
    expect(result.result).toEqual({ dryRun: true, args });
    expect(ran).toBe(0);
  });

  it('previews a large call without copying it', async () => {
    const { result } = await run(undefined, 'echo', { text: 'x'.repeat(1_000_000) });

    expect(result.result).toMatchObject({ args: result.arguments });
    expect((result.result as { args: object }).args).toBe(result.arguments);
  });

  it.each([
    ['outside redaction', 'redaction', 'must'],
    ['outside consent', 'consent', 'should'],
  ])('%s is out of order', (_name, other, level) => {
    const layer = defineLayer({ name: other, caller: (call, next) => next(call) });

    expect(explainStack([layer, dryRun()])).not.toContain(level);
    if (level === 'should')
      expect(explainStack([dryRun(), layer])).toContain(`"dryRun" should stand inside "${other}"`);
    else
      expect(() => composeToolCallers([dryRun(), layer])).toThrow(
        `"dryRun" must stand inside "${other}"`,
      );
  });

  it('refuses a misspelt option and says which was meant', () => {
    expect(() => dryRun({ onyl: ['a'] } as never)).toThrow(
      'dryRun has no option "onyl"; did you mean "only"?',
    );
  });
});

/** What MCP clients do with an answer of a tool whose output schema they were shown. */
function strictClient({ outputSchema }: Tool, message: JsonObject): string {
  const { structuredContent, isError } = message;
  if (outputSchema === undefined) return 'taken';
  if (structuredContent === undefined)
    return isError === true ? 'taken' : 'thrown away: no structured content';
  return validateJson(outputSchema, structuredContent).length === 0
    ? 'taken'
    : 'thrown away: does not fit';
}

const counted = {
  type: 'object',
  properties: { count: { type: 'integer' } },
  required: ['count'],
  additionalProperties: false,
} as const;
const tool = (outputSchema?: typeof counted): Tool =>
  defineTool({
    name: 'count',
    description: '',
    inputSchema: { type: 'object' },
    ...(outputSchema === undefined ? {} : { outputSchema }),
    execute: () => ({ count: 1 }),
  });

async function previewFor(counting: Tool) {
  const governed = governTools({ tools: [counting], layers: [dryRun()] });
  return governed.call({ name: 'count', arguments: {} });
}

describe('a preview for a strict MCP client', () => {
  it('is taken: it carries nothing to check, and is marked where an answer to check was promised', async () => {
    const [promised, free] = [tool(counted), tool()];
    const message = toToolMessage(await previewFor(promised), 'mcp', { tool: promised });

    expect(message).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: '(dry run) — count({})' }],
    });
    expect(strictClient(promised, message)).toBe('taken');
    expect(toToolMessage(await previewFor(free), 'mcp', { tool: free })).not.toHaveProperty(
      'isError',
    );
  });

  it('is marked where nobody says which tool it was', async () => {
    const promised = tool(counted);

    expect(strictClient(promised, toToolMessage(await previewFor(promised), 'mcp'))).toBe('taken');
  });

  it('would be thrown away if it were sent as an answer', async () => {
    const promised = tool(counted);
    const preview = await previewFor(promised);
    const naive = {
      content: preview.content,
      structuredContent: preview.result,
    } as unknown as JsonObject;

    expect(strictClient(promised, naive)).toBe('thrown away: does not fit');
    expect(strictClient(promised, { content: [] })).toBe('thrown away: no structured content');
  });
});
