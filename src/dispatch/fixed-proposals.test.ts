import { describe, expect, it } from 'vitest';
import { defineLayer, type ToolLayer } from '../core/contract/layer.ts';
import { gateCall } from '../core/onion/conditions.ts';
import { narrowPolicy } from '../policy/ambient-policy.ts';
import { permissionGate, permissionReportOf } from '../permissions/preflight.ts';
import { defineTool } from '../tools/define-tool.ts';
import { proposeInvoke } from '../tools/fixed-proposal.ts';
import { governTools } from './govern-tools.ts';

/** A tool of a server, and what a permission check found about its calls. */
function served(server: string, layers: readonly ToolLayer[] = []) {
  const ran: unknown[] = [];
  const reports: unknown[] = [];
  const tool = defineTool({
    name: 'act',
    description: 'Acts.',
    inputSchema: { type: 'object' },
    proposedRequests: proposeInvoke(server, 'act'),
    execute: (args) => void ran.push(args),
  });
  const watch = defineLayer({
    name: 'watch',
    async caller(call, next) {
      const result = await next(call);
      reports.push(permissionReportOf(call)?.requests ?? null);
      return result;
    },
  });
  return { governed: governTools({ tools: [tool], layers: [watch, ...layers] }), ran, reports };
}

const denying = defineLayer({
  name: 'denying',
  caller: (call, next) =>
    next(
      gateCall(
        call,
        permissionGate({
          owner: 'denying',
          checkers: [({ kind }) => ({ decision: kind === 'mcp.invoke' ? 'deny' : 'allow' })],
          fallback: 'deny',
          shadow: false,
        }),
      ),
    ),
});

describe('a tool of a server', () => {
  it('is entered without a check where nothing is laid down for the call', async () => {
    const { governed, ran, reports } = served('everything');

    expect((await governed.call({ name: 'act', arguments: {} })).status).toBe('ok');
    expect(ran).toHaveLength(1);
    expect(reports).toEqual([null]);
  });

  it('is held to what is laid down for the call', async () => {
    const { governed, ran } = served('everything', [denying]);

    expect((await governed.call({ name: 'act', arguments: {} })).status).toBe('permission_denied');
    expect(ran).toEqual([]);
  });

  it('is checked under a policy, which relies on what it proposes', async () => {
    const narrow = defineLayer({
      name: 'narrow',
      caller: (call, next) =>
        next(narrowPolicy(call, { workspaceRoots: ['/somewhere'] }, 'narrow')),
    });
    const { governed, ran, reports } = served('everything', [narrow]);

    expect((await governed.call({ name: 'act', arguments: {} })).status).toBe('ok');
    expect(ran).toHaveLength(1);
    expect(reports).toEqual([['tool.call', 'mcp.invoke']]);
  });

  it('is checked, and so refused, where its name cannot be read', async () => {
    const { governed, ran } = served('every\0thing');

    expect((await governed.call({ name: 'act', arguments: {} })).status).toBe('permission_denied');
    expect(ran).toEqual([]);
  });
});
