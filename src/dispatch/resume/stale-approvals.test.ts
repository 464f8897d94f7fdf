import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../conformance/benches/fuzz/random.ts';
import { testClock } from '../../../conformance/test-kit.ts';
import { consent, permissions } from '../../../middleware/index.ts';
import {
  defineLayer,
  defineTool,
  governTools,
  type JsonObject,
  refuse,
  type ToolLayer,
} from '../../index.ts';
import { askApproval } from '../../layer.ts';
import { memoryApprovals } from '../../policy/index.ts';
import { leavesOf, randomArgs, randomDefinition, withOtherLeaf } from '../random-tools.fixture.ts';
import { recordingLogger } from '../testing.fixture.ts';
import { howMany } from '../../../conformance/how-many.fixture.ts';

const CALLS = howMany(40, 1_000);
const NOTHING_RAN = ['consent_denied', 'definition_changed', 'tool_not_found'];
const PLAIN: JsonObject = { name: 'work', description: 'Works.', inputSchema: { type: 'object' } };

interface Change {
  readonly definition?: JsonObject;
  readonly changed?: JsonObject;
  readonly args?: JsonObject;
  readonly stored?: (args: JsonObject) => JsonObject;
  readonly layer?: () => ToolLayer;
}

/**
 * A call waits, what it is about changes or does not, and somebody who saw the first one says yes
 * in another process.
 */
async function approveAfter({
  definition = PLAIN,
  changed = definition,
  args = {},
  stored,
  layer = () => asking(),
}: Change) {
  const approvals = memoryApprovals();
  const ran: unknown[] = [];
  const governed = (written: JsonObject) =>
    governTools({
      // A written definition has the shape of one, and the function is what cannot be written.
      tools: [
        defineTool({
          ...(written as unknown as Parameters<typeof defineTool>[0]),
          execute: (given) => ({ ran: ran.push(given) }),
        }),
      ],
      layers: [layer()],
      approvals,
      clock: testClock(),
      logger: recordingLogger(),
    });
  const first = await governed(definition).call(
    { name: 'work', arguments: args, id: 'call-1' },
    { turn: { sessionId: 's' } },
  );
  const id = first.interruption?.id ?? '';
  const kept = await approvals.get(id);
  if (kept === null) throw new Error(`nothing waits: ${first.status} ${first.error}`);
  if (stored !== undefined)
    await approvals.replace({ ...kept, arguments: stored(args), revision: kept.revision + 1 });
  const { status, executed } = await governed(changed).resume(id, {
    decision: 'allow_once',
    decidedBy: 'ada',
  });
  return { status, executed, ran: ran.length };
}

const asking = () => consent({ default: 'ask' });
const GATES: readonly [string, number, () => ToolLayer][] = [
  ['consent', CALLS, asking],
  ['permissions', CALLS / 5, () => permissions({ checkers: [() => 'require_approval'] })],
];

/** Takes the id of a call for what was approved. */
const byCallId = () =>
  defineLayer({
    name: 'by-call-id',
    async caller(call, next) {
      if (call.turn.resumes !== undefined) return next(call);
      const asked = await askApproval(call, {
        gate: 'by-call-id',
        id: 'approval_1',
        shown: {},
        signal: call.signal,
      });
      if (!('interruption' in asked)) throw new Error('somebody answered');
      return refuse(call, 'approval_required', 'Wait.', { interruption: asked.interruption });
    },
  });

describe('an approval for a call that has changed since', () => {
  it.each(GATES)(
    'runs nothing for any other leaf of the arguments, and runs what did not change: %s',
    { timeout: 60_000 },
    async (_name, calls, layer) => {
      for (let seed = 1; seed <= calls; seed += 1) {
        const random = createRandom(seed);
        const args = randomArgs(random);
        const path = random.pick(leavesOf(args));
        const stored = (given: JsonObject) => withOtherLeaf(given, path);

        expect(await approveAfter({ args, layer }), `seed ${seed}`).toEqual({
          status: 'ok',
          executed: 'yes',
          ran: 1,
        });
        expect(await approveAfter({ args, layer, stored }), `seed ${seed}, ${path}`).toEqual({
          status: 'consent_denied',
          executed: 'no',
          ran: 0,
        });
      }
    },
  );

  it('runs nothing for any other field of the definition, and runs what did not change', {
    timeout: 60_000,
  }, async () => {
    const seen = new Set<string>();
    for (let seed = 1; seed <= CALLS; seed += 1) {
      const random = createRandom(seed);
      const definition = randomDefinition(random);
      const path = random.pick(leavesOf(definition));
      const changed = withOtherLeaf(definition, path);
      seen.add(path.split('.')[0] ?? '');
      const after = await approveAfter({ definition, changed });

      expect(NOTHING_RAN, `seed ${seed}, ${path}`).toContain(after.status);
      expect(after, `seed ${seed}, ${path}`).toMatchObject({ executed: 'no', ran: 0 });
      if (seed % 10 === 0)
        expect(await approveAfter({ definition }), `seed ${seed}`).toMatchObject({
          status: 'ok',
          ran: 1,
        });
    }
    expect([...seen].sort()).toEqual(Object.keys(randomDefinition(createRandom(1))).sort());
  });

  it.each(
    Object.keys(randomDefinition(createRandom(1))).filter(
      (field) => !['name', 'description', 'inputSchema', 'executor'].includes(field),
    ),
  )('runs nothing where the definition has lost its %s', async (field) => {
    const definition = randomDefinition(createRandom(7));
    const changed = Object.fromEntries(
      Object.entries(definition).filter(([name]) => name !== field),
    );

    expect(await approveAfter({ definition, changed })).toEqual({
      status: 'definition_changed',
      executed: 'no',
      ran: 0,
    });
    expect(await approveAfter({ definition: changed, changed: definition })).toMatchObject({
      status: 'definition_changed',
      ran: 0,
    });
  });

  it('runs nothing for a member more or less, and nothing for what only looks the same', async () => {
    const args = { path: 'a', force: false };
    const others: readonly JsonObject[] = [
      { path: 'a' },
      { ...args, more: null },
      { path: 'a', force: 'false' },
      { path: 'a', force: 0 },
      { path: 'a', force: null },
      { path: ['a'], force: false },
      { path: 'a ', force: false },
      { path: 'а', force: false },
    ];
    for (const other of others)
      expect(await approveAfter({ args, stored: () => other })).toMatchObject({
        status: 'consent_denied',
        ran: 0,
      });
    expect(await approveAfter({ args, stored: () => ({ force: false, path: 'a' }) })).toMatchObject(
      { status: 'ok', ran: 1 },
    );
  });

  it('would run with other arguments where the call’s id is all that was approved; another definition no layer lets in', async () => {
    const random = createRandom(1);
    const args = randomArgs(random);
    const stored = (given: JsonObject) => withOtherLeaf(given, random.pick(leavesOf(args)));
    const definition = randomDefinition(random);
    const changed = withOtherLeaf(definition, 'description');

    expect(await approveAfter({ args, stored, layer: byCallId })).toMatchObject({ ran: 1 });
    expect(await approveAfter({ definition, changed, layer: byCallId })).toMatchObject({
      status: 'definition_changed',
      ran: 0,
    });
  });
});
