import { describe, expect, it } from 'vitest';
import { makeRequest } from '../make-request.fixture.ts';
import { type McpServerPolicyOptions, mcpServerPolicy } from './mcp-server-policy.ts';
import type { PermissionAnswer } from '../permission.ts';

/** The code of the answer; `tool` makes it an invocation. */
async function codeOf(
  options: McpServerPolicyOptions,
  server: unknown,
  tool?: unknown,
  kind = tool === undefined ? 'mcp.connect' : 'mcp.invoke',
) {
  const request = { ...makeRequest(), kind, server, ...(tool === undefined ? {} : { tool }) };
  // Hostile fields are not of the type; ready-made policies answer with the object form.
  const { decision, code } = (await mcpServerPolicy(options).evaluate(
    request as never,
  )) as PermissionAnswer;
  return `${decision}: ${code}`;
}

describe('mcpServerPolicy', () => {
  const options: McpServerPolicyOptions = {
    allow: ['github', 'docs-*'],
    ask: ['billing'],
    deny: ['docs-evil'],
    tools: { github: { allow: ['get_*'], ask: ['create_*'], deny: ['get_secret'] } },
  };

  it.each([
    ['github', undefined, 'allow: server_allowed'],
    ['docs-a', 'anything', 'allow: server_allowed'],
    ['billing', undefined, 'require_approval: server_asked'],
    ['docs-evil', undefined, 'deny: server_denied'],
    ['DOCS-EVIL', undefined, 'deny: server_denied'],
    ['docs-ｅvil', undefined, 'deny: server_denied'],
    ['GitHub', undefined, 'deny: server_unknown'],
    ['github2', undefined, 'deny: server_unknown'],
    ['constructor', undefined, 'deny: server_unknown'],
    ['github', 'get_issue', 'allow: server_allowed'],
    ['github', 'create_issue', 'require_approval: tool_asked'],
    ['github', 'get_secret', 'deny: tool_denied'],
    ['github', 'GET_SECRET', 'deny: tool_denied'],
    ['github', 'delete_repo', 'deny: tool_unknown'],
    ['evil', 'get_issue', 'deny: server_unknown'],
    ['', undefined, 'deny: server_invalid'],
    [' github', undefined, 'deny: server_invalid'],
    ['git\u200bhub', undefined, 'deny: server_invalid'],
    ['github\n', undefined, 'deny: server_invalid'],
    ['\ud800', undefined, 'deny: server_invalid'],
    ['docs-'.padEnd(300, 'x'), undefined, 'deny: server_invalid'],
    [7, undefined, 'deny: server_invalid'],
    ['github', 'get_\u0000', 'deny: tool_invalid'],
    ['github', 7, 'deny: tool_invalid'],
  ])('says of %j and %j: %s', async (server, tool, verdict) => {
    expect(await codeOf(options, server, tool)).toBe(verdict);
  });

  it('has no opinion on other kinds, and refuses a kind nobody knows', async () => {
    expect(await mcpServerPolicy({}).evaluate(makeRequest())).toEqual({ decision: 'no_opinion' });
    expect(await codeOf({ allow: ['*'] }, 'github', undefined, 'mcp.sample')).toBe(
      'deny: mcp_kind',
    );
  });

  it('needs the name of the tool where only some are allowed', async () => {
    expect(await codeOf(options, 'github', undefined, 'mcp.invoke')).toBe('deny: tool_unknown');
    expect(await codeOf({ allow: ['*'] }, 'github', undefined, 'mcp.invoke')).toBe(
      'allow: server_allowed',
    );
  });

  it('takes the strictest of all lists that mean a server, and allows nothing with empty ones', async () => {
    const tools = { '*': { allow: ['*'], deny: ['delete_*'] }, github: { allow: ['*'] } };

    expect(await codeOf({ allow: ['*'], tools }, 'github', 'delete_x')).toBe('deny: tool_denied');
    expect(await codeOf({ allow: ['*'], tools: { github: {} } }, 'github', 'get')).toBe(
      'deny: tool_unknown',
    );
    expect(await codeOf({ allow: ['*'], tools: { github: {} } }, 'GITHUB', 'get')).toBe(
      'deny: tool_unknown',
    );
    expect(await codeOf({}, 'github')).toBe('deny: server_unknown');
    expect(await codeOf({ unknown: 'ask' }, 'github')).toBe('require_approval: server_unknown');
  });

  it('has a digest that stands for its rules', () => {
    const made = [
      {},
      { allow: ['a'] },
      { deny: ['a'] },
      { tools: { a: {} } },
      { unknown: 'ask' as const },
    ].map((each) => mcpServerPolicy(each).digest);

    expect(new Set(made).size).toBe(5);
  });

  it.each([
    [{ allow: 'github' }, 'allow'],
    [{ deny: [''] }, 'deny'],
    [{ tools: { a: ['x'] } }, 'tools'],
    [{ tools: { a: { alow: [] } } }, 'alow'],
    [{ unknown: 'allow' }, 'unknown'],
    [{ servers: [] }, 'servers'],
  ])('is not made of %j', (wrong, option) => {
    const details = expect.objectContaining({ option }) as unknown;

    expect(() => mcpServerPolicy(wrong as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION', details }),
    );
  });
});
