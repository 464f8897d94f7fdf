import { describe, expect, it } from 'vitest';
import { testClock } from '../../../conformance/index.ts';
import { consent, permissions } from '../../../middleware/index.ts';
import {
  defineTool,
  governTools,
  toolFailure,
  toToolMessage,
  type ToolLayer,
} from '../../index.ts';
import { type ApprovalStore, memoryApprovals } from '../../policy/index.ts';

const DAY_MS = 86_400_000;

function shop(
  layers: readonly ToolLayer[],
  approvals: ApprovalStore = memoryApprovals(),
  clock = testClock(),
) {
  const paid: unknown[] = [];
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: { type: 'object' },
    execute: (args) => ({ paid: paid.push(args) }),
  });
  const events: unknown[] = [];
  const governed = governTools({ tools: [pay], layers: [...layers], approvals, clock });
  for (const name of ['tool_call', 'tool_call_update', 'tool_call_audit'] as const)
    governed.on(name, (event) => void events.push(event));
  const ask = () => governed.call({ name: 'pay', arguments: { to: 'bob' } });
  return { governed, ask, paid, clock, approvals, events };
}

const ASKING = [
  ['consent', consent({ default: 'ask' })],
  ['permissions', permissions({ checkers: [() => 'require_approval'] })],
] as const;

/** What would let whoever reads it approve the call. */
const KEYS = [
  /allium (?:approvals|call|pins|grants)/,
  /\bapprove\b/i,
  /--(?:code|dir|resume)/,
  /\.allium/,
  /approval_[0-9a-f]{8}/,
  /scrypt/,
];

describe.each(ASKING)('a call that %s keeps waiting', (_gate, layer) => {
  it('tells the model that it waits for a person and what to do meanwhile, nothing that approves it, and not that anybody was told', async () => {
    const { ask, events } = shop([layer]);
    const result = await ask();
    const { interruption: _forTheHost, audit: _record, ...shown } = result;
    const messages = (['openai', 'anthropic', 'gemini', 'mcp'] as const).map((provider) =>
      toToolMessage(result, provider),
    );
    const read = JSON.stringify([shown, ...messages, events]);

    expect(result.error).toMatch(
      /^pay needs an approval by a person, and waits for it; it has not run\. Meanwhile /,
    );
    expect(result.renderedResult).toContain(result.error ?? '');
    expect(read).not.toMatch(/was (?:asked|told)/);
    for (const pattern of KEYS) expect(read).not.toMatch(pattern);
  });

  it('is open for a day, and then over', async () => {
    const { governed, ask, paid, clock, approvals } = shop([layer]);
    const { interruption } = await ask();
    const id = interruption?.id ?? '';
    const opened = Date.parse((await approvals.get(id))?.requestedAt ?? '');

    expect(Date.parse(interruption?.expiresAt ?? '') - opened).toBe(DAY_MS);
    expect((await approvals.get(id))?.expiresAt).toBe(interruption?.expiresAt);
    await clock.advance(DAY_MS);
    expect(await governed.resume(id, { decision: 'allow_once' })).toMatchObject({
      status: 'consent_expired',
      executed: 'no',
    });
    expect(paid).toEqual([]);
  });

  it('runs for an answer in the last moment of the day', async () => {
    const { governed, ask, paid, clock } = shop([layer]);
    const { interruption } = await ask();
    await clock.advance(DAY_MS - 1);

    expect(await governed.resume(interruption?.id ?? '', { decision: 'allow_once' })).toMatchObject(
      { status: 'ok' },
    );
    expect(paid).toHaveLength(1);
  });

  it('is not used up by a host that has no such tool', async () => {
    const { ask, approvals, paid, governed } = shop([layer]);
    const id = (await ask()).interruption?.id ?? '';
    const before = await approvals.get(id);
    const other = governTools({ tools: [], layers: [layer], approvals, clock: testClock() });

    expect(await other.resume(id, { decision: 'allow_once' })).toMatchObject({
      status: 'tool_not_found',
      executed: 'no',
    });
    expect(await approvals.get(id)).toEqual(before);
    expect(await governed.resume(id, { decision: 'allow_once' })).toMatchObject({ status: 'ok' });
    expect(paid).toHaveLength(1);
  });
});

describe('expiresMs', () => {
  it.each([
    ['consent', consent({ default: 'ask', expiresMs: 'never' })],
    ['permissions', permissions({ checkers: [() => 'require_approval'], expiresMs: 'never' })],
  ])('of %s may be never', async (_gate, layer) => {
    const { governed, ask, clock } = shop([layer]);
    const { interruption } = await ask();
    await clock.advance(400 * DAY_MS);

    expect(interruption).not.toHaveProperty('expiresAt');
    expect(await governed.resume(interruption?.id ?? '', { decision: 'allow_once' })).toMatchObject(
      { status: 'ok' },
    );
  });

  it('of never does not lengthen what another set of permissions says nothing about', async () => {
    const checkers = [() => 'require_approval' as const];
    const { ask } = shop([
      permissions({ checkers, expiresMs: 'never' }),
      permissions({ checkers }),
    ]);

    expect((await ask()).interruption?.expiresAt).toBeDefined();
  });

  it.each(['always', 'Never', 0, null, {}])('is not %j', (expiresMs) => {
    const made = () => consent({ default: 'ask', expiresMs: expiresMs as never }); // What a file may hold.

    expect(made).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error);
  });
});

describe('a call that waits for somebody to sign in', () => {
  it('is open for a day, too', async () => {
    const approvals = memoryApprovals();
    const login = defineTool({
      name: 'login',
      description: 'Logs in.',
      inputSchema: { type: 'object' },
      execute: () => {
        throw toolFailure('sign in first', { signIn: { url: 'https://example.com' } });
      },
    });
    const { interruption } = await governTools({
      tools: [login],
      layers: [],
      approvals,
      clock: testClock(),
    }).call({
      name: 'login',
      arguments: {},
    });
    const kept = await approvals.get(interruption?.id ?? '');

    expect(Date.parse(kept?.expiresAt ?? '') - Date.parse(kept?.requestedAt ?? '')).toBe(DAY_MS);
  });
});
