import { describe, expect, it } from 'vitest';
import { createRandom } from '../../conformance/benches/fuzz/random.ts';
import { testClock } from '../../conformance/test-kit.ts';
import { consent, definitionPin, idempotency, permissions } from '../../middleware/index.ts';
import {
  type ApprovalPrompt,
  createRegistry,
  defineLayer,
  defineTool,
  type GovernedTools,
  type GovernOptions,
  governTools,
  type JsonObject,
  type Registry,
  type Tool,
  type ToolLayer,
  type ToolResult,
  toolFailure,
  withCall,
} from '../index.ts';
import { answerApproval, memoryApprovals, memoryGrants, memoryPins } from '../policy/index.ts';
import { leavesOf, randomDefinition, withOtherLeaf } from './random-tools.fixture.ts';
import { recordingLogger } from './testing.fixture.ts';
import { howMany } from '../../conformance/how-many.fixture.ts';

/**
 * Changes by each route: few in every run of the suite, a thousand where ALLIUM_DEFINITION_CHANGES
 * says so.
 */
const CHANGES = howMany(8, 1_000);
const NOT_ENTERED = ['definition_changed', 'tool_not_found'];
const TURN = { turn: { sessionId: 's' } };
const CALL = { name: 'work', arguments: {}, id: 'call-1' };

/** One host whose tool changes at a moment that the route chooses. */
interface Host {
  readonly options: (layers: readonly ToolLayer[], more?: Partial<GovernOptions>) => GovernOptions;
  /** Puts the other definition in the place of the first. */
  readonly change: (governed: GovernedTools) => void;
  readonly first: Tool;
  /** What was entered: `first` or `other`. */
  readonly entered: string[];
}

type Route = (host: Host) => Promise<ToolResult>;

const prompting = (
  change: () => void,
  decision: 'allow_once' | 'allow_always' = 'allow_once',
): ApprovalPrompt =>
  async function asked() {
    change();
    return { decision, decidedBy: 'ada' };
  };

/** Asks a person, who answers after the definition has changed. */
const asked =
  (layers: readonly ToolLayer[], more: Partial<GovernOptions> = {}): Route =>
  ({ options, change }) => {
    const governed = governTools(
      options(layers, { prompts: [prompting(() => change(governed))], ...more }),
    );
    return governed.call(CALL, TURN);
  };

/** A layer that waits while the definition changes, with or without anybody who is asked. */
const during =
  (outer: readonly ToolLayer[] = [], inner: readonly ToolLayer[] = []): Route =>
  ({ options, change }) => {
    const slow = defineLayer({
      name: 'slow',
      async caller(call, next) {
        change(governed);
        return next(call);
      },
    });
    const governed = governTools(options([...outer, slow, ...inner]));
    return governed.call(CALL, TURN);
  };

/**
 * A dispatcher asks, a person answers in the queue, and another dispatcher with these layers takes
 * the call up after the change.
 */
const queued =
  (later: readonly ToolLayer[]): Route =>
  async ({ options, change }) => {
    const approvals = memoryApprovals();
    const clock = testClock();
    const { interruption } = await governTools(
      options([consent({ default: 'ask' })], { approvals, clock }),
    ).call(CALL, TURN);
    const id = interruption?.id ?? '';
    await answerApproval(approvals, id, { decision: 'allow_once', decidedBy: 'ada' }, { clock });
    const governed = governTools(options(later, { approvals, clock }));
    change(governed);
    return governed.resume(id);
  };

const byPermission = () => permissions({ checkers: [() => 'require_approval'] });
const autoApproved = () => consent({ rules: [{ tool: 'work', decision: 'allow' }] });
const pinned = () => definitionPin({ store: memoryPins(), onQuarantine: () => {} });

const ROUTES: Readonly<Record<string, Route>> = {
  'a prompt of consent': asked([consent({ default: 'ask' })]),
  'a rule that asks': asked([consent({ rules: [{ tool: 'w*', decision: 'ask' }] })]),
  'a prompt of permissions': asked([byPermission()]),
  'consent and permissions': asked([consent({ default: 'ask' }), byPermission()]),
  'a pin around a prompt': asked([pinned(), consent({ default: 'ask' })]),
  'a pin inside a prompt': asked([consent({ default: 'ask' }), pinned()]),
  'a rule that allows': during([autoApproved()]),
  'annotations that allow': during([consent({})]),
  'nothing that allows': during(),
  'a place in the queue': async ({ options, change, first }) => {
    let open = (): void => {};
    const opened = new Promise<void>((resolve) => void (open = resolve));
    const blocker = defineTool({
      name: 'block',
      description: 'Waits.',
      inputSchema: { type: 'object' },
      execute: () => opened,
    });
    const governed = governTools({
      ...options([]),
      tools: [first, blocker],
      limits: { maxConcurrent: 1 },
    });
    const blocking = governed.call({ name: 'block', arguments: {} }, TURN);
    const queued = governed.call(CALL, TURN);
    change(governed);
    open();
    await blocking;
    return queued;
  },
  'a decider that takes its time': ({ options, change }) => {
    const decide = async () => {
      change(governed);
      return 'approved' as const;
    };
    const governed = governTools(options([consent(decide)]));
    return governed.call(CALL, TURN);
  },
  'an answer for always': ({ options, change }) => {
    const prompts = [prompting(() => change(governed), 'allow_always')];
    const governed = governTools(
      options([consent({ default: 'ask' })], { prompts, grants: memoryGrants() }),
    );
    return governed.call(CALL, TURN);
  },
  'a resumption in the same process': async ({ options, change }) => {
    const governed = governTools(options([consent({ default: 'ask' })]));
    const { interruption } = await governed.call(CALL, TURN);
    change(governed);
    return governed.resume(interruption?.id ?? '', { decision: 'allow_once', decidedBy: 'ada' });
  },
  'a resumption by another dispatcher, of what was answered in the queue': queued([
    consent({ default: 'ask' }),
  ]),
  'a resumption where nobody would be asked any more': queued([]),
  'a change while a call is resumed': async ({ options, change }) => {
    const slow = defineLayer({
      name: 'slow',
      async caller(call, next) {
        if (call.turn.resumes !== undefined) change(governed);
        return next(call);
      },
    });
    const governed = governTools(options([consent({ default: 'ask' }), slow]));
    const { interruption } = await governed.call(CALL, TURN);
    return governed.resume(interruption?.id ?? '', { decision: 'allow_once', decidedBy: 'ada' });
  },
  'a second try': ({ options, change }) => {
    const twice = defineLayer({
      name: 'twice',
      async caller(call, next) {
        await next(withCall(call, { toolArgs: { fail: true } }));
        change(governed);
        return next(call);
      },
    });
    const governed = governTools(options([twice]));
    return governed.call(CALL, TURN);
  },
  'a wait for the first of two calls': async ({ options, change }) => {
    const slow = defineLayer({
      name: 'slow',
      async caller(call, next) {
        if (call.callId !== 'call-0') return next(call);
        change(governed);
        throw new Error('the first one fails');
      },
    });
    const governed = governTools(options([idempotency({ key: () => 'k', mode: 'effect' }), slow]));
    const both = [
      governed.call({ ...CALL, id: 'call-0' }, TURN),
      governed.call(CALL, TURN),
    ] as const;
    await both[0];
    return both[1];
  },
  'a call that a tool makes': async ({ options, change, first }) => {
    const results: ToolResult[] = [];
    const outer = defineTool({
      name: 'outer',
      description: 'Calls another one.',
      inputSchema: { type: 'object' },
      execute: async (_args, context) => void results.push(await context.call(CALL)),
    });
    const layers = [consent({ rules: [{ tool: 'outer', decision: 'allow' }], default: 'ask' })];
    const prompts = [prompting(() => change(governed))];
    const governed: GovernedTools = governTools({
      ...options(layers, { prompts }),
      tools: [first, outer],
    });
    await governed.call({ name: 'outer', arguments: {} }, TURN);
    const [result] = results;
    if (result === undefined) throw new Error('the outer tool did not run');
    return result;
  },
  'a layer that chooses another tool': ({ options, change, first }) => {
    const reroutes = defineLayer({
      name: 'reroutes',
      caller: (call, next) => next(withCall(call, { toolName: 'work' })),
    });
    const other = defineTool({
      name: 'other',
      description: 'Another.',
      inputSchema: { type: 'object' },
      execute: () => 1,
    });
    const prompts = [prompting(() => change(governed))];
    const governed: GovernedTools = governTools({
      ...options([reroutes, pinned(), consent({ default: 'ask' })], { prompts }),
      tools: [first, other],
    });
    return governed.call({ ...CALL, name: 'other' }, TURN);
  },
};

/** The tool of a written definition, which notes that it was entered. */
const toolOf = (written: JsonObject, word: string, entered: string[]): Tool =>
  defineTool({
    // A written definition has the shape of one.
    ...(written as unknown as Parameters<typeof defineTool>[0]),
    outputSchema: { type: 'object' },
    execute(args) {
      if ((args as { fail?: true }).fail === true)
        throw toolFailure('Not yet.', { executed: 'no', errorClass: 'retryable' });
      entered.push(word);
      return {};
    },
  });

interface Pair {
  readonly first: JsonObject;
  readonly other: JsonObject;
}

/**
 * What comes of one route when the definition changes, with what the host puts in the place of the
 * first tool.
 */
async function follow(
  route: Route,
  { first, other }: Pair,
  replaced?: (tools: readonly Tool[]) => Registry | readonly Tool[],
) {
  const entered: string[] = [];
  const tool = toolOf(first, 'first', entered);
  const result = await route({
    options: (layers, more = {}) => ({
      ...{
        tools: [tool],
        layers,
        approvals: memoryApprovals(),
        clock: testClock(),
        logger: recordingLogger(),
      },
      ...more,
    }),
    change: (governed) => {
      const others = ['block', 'outer', 'other'].map((name) =>
        defineTool({ name, description: name, inputSchema: { type: 'object' }, execute: () => 1 }),
      );
      const tools = [toolOf(other, 'other', entered), ...others];
      governed.update(replaced?.(tools) ?? tools);
    },
    first: tool,
    entered,
  });
  return {
    status: result.status,
    executed: result.executed,
    entered: entered.filter((word) => word === 'other').length,
    result,
  };
}

function randomPair(seed: number): Pair & { readonly path: string } {
  const random = createRandom(seed);
  const first: JsonObject = {
    ...randomDefinition(random),
    annotations: { kind: 'read', readOnly: true, idempotent: true },
  };
  const path = random.pick(leavesOf(first).filter((leaf) => !leaf.startsWith('outputSchema')));
  return { first, other: withOtherLeaf(first, path), path };
}

describe.each(Object.entries(ROUTES))('a definition that changes during %s', (_name, route) => {
  it('is not entered, whatever part of it changed', { timeout: 600_000 }, async () => {
    for (let seed = 1; seed <= CHANGES; seed += 1) {
      const pair = randomPair(seed);
      const { status, executed, entered } = await follow(route, pair);

      expect({ executed, entered }, `seed ${seed}, ${pair.path}`).toEqual({
        executed: 'no',
        entered: 0,
      });
      expect(NOT_ENTERED, `seed ${seed}, ${pair.path}`).toContain(status);
    }
  });

  it('is entered where only its functions are others', async () => {
    const { first } = randomPair(1);

    expect(await follow(route, { first, other: first })).toMatchObject({
      status: 'ok',
      executed: 'yes',
    });
  });
});

describe('a definition that changes', () => {
  const first: JsonObject = {
    name: 'work',
    description: 'Works.',
    inputSchema: { type: 'object' },
  };
  const prompt = ROUTES['a prompt of consent'] as Route;

  it('is refused as definition_changed, and the model is told what to do', async () => {
    const { result } = await follow(prompt, {
      first,
      other: { ...first, description: 'Deletes.' },
    });

    expect(result).toMatchObject({
      status: 'definition_changed',
      errorCategory: 'definition_changed',
      executed: 'no',
    });
    expect(result.error).toBe(
      'The definition of work changed after it was called, so it did not run. Read the new definition, and call it again if it still fits.',
    );
  });

  it('is refused where only a transform of the registry shows it in another way', async () => {
    const changes: readonly object[] = [
      { description: 'Deletes.' },
      { annotations: { readOnly: true } },
      { inputSchema: { type: 'object', title: 't' } },
    ];
    for (const change of changes) {
      const shown = (tools: readonly Tool[]) =>
        createRegistry(tools).transform((tool) => ({ ...tool, ...change }));

      expect(await follow(prompt, { first, other: first }, shown)).toMatchObject({
        status: 'definition_changed',
        entered: 0,
      });
    }
  });

  it.each(['grants', 'remember'] as const)(
    'is asked about again after an answer for always: %s',
    async (kept) => {
      const entered: string[] = [];
      let isThere = true;
      const governed = governTools({
        tools: [toolOf(first, 'first', entered)],
        layers: [consent({ default: 'ask', remember: kept === 'remember' })],
        prompts: [async () => (isThere ? { decision: 'allow_always', decidedBy: 'ada' } : null)],
        ...(kept === 'grants' ? { grants: memoryGrants() } : {}),
      });
      await governed.call(CALL, TURN);
      isThere = false;
      const again = await governed.call({ ...CALL, id: 'call-2' }, TURN);
      governed.update([toolOf({ ...first, description: 'Deletes.' }, 'other', entered)]);
      const changed = await governed.call({ ...CALL, id: 'call-3' }, TURN);

      expect([again.status, changed.status]).toEqual(['ok', 'approval_required']);
      expect(entered).toEqual(['first', 'first']);
    },
  );

  it('keeps no grant for a definition that nobody saw', async () => {
    const entered: string[] = [];
    const other = toolOf({ ...first, description: 'Deletes.' }, 'other', entered);
    let isThere = true;
    const governed: GovernedTools = governTools({
      tools: [toolOf(first, 'first', entered)],
      layers: [consent({ default: 'ask' })],
      prompts: [
        async () => {
          governed.update([other]);
          return isThere ? { decision: 'allow_always', decidedBy: 'ada' } : null;
        },
      ],
      grants: memoryGrants(),
    });
    await governed.call(CALL, TURN);
    isThere = false;

    expect(await governed.call({ ...CALL, id: 'call-2' }, TURN)).toMatchObject({
      status: 'approval_required',
      executed: 'no',
    });
    expect(entered).toEqual([]);
  });

  it('does not lend the annotations of one tool to another that a layer chose', async () => {
    const ran: string[] = [];
    const make = (name: string, readOnly: boolean) =>
      defineTool({
        name,
        description: name,
        inputSchema: { type: 'object' },
        annotations: { readOnly },
        execute: () => void ran.push(name),
      });
    const reroutes = defineLayer({
      name: 'reroutes',
      caller: (call, next) => next(withCall(call, { toolName: 'wipe' })),
    });
    const governed = governTools({
      tools: [make('look', true), make('wipe', false)],
      layers: [reroutes, consent({})],
    });

    expect(await governed.call({ name: 'look', arguments: {} })).toMatchObject({
      status: 'approval_required',
      executed: 'no',
    });
    expect(ran).toEqual([]);
  });

  it('would be entered by a host that looks for the tool by its name after the yes', async () => {
    const entered: string[] = [];
    const tools = new Map([['work', toolOf(first, 'first', entered)]]);
    const late = defineTool({
      // A written definition has the shape of one.
      ...(first as unknown as Parameters<typeof defineTool>[0]),
      execute: (args, context) =>
        tools.get('work')?.execute?.(args as Readonly<Record<string, unknown>>, context),
    });
    const governed = governTools({
      tools: [late],
      layers: [consent({ default: 'ask' })],
      prompts: [
        prompting(
          () =>
            void tools.set('work', toolOf({ ...first, description: 'Deletes.' }, 'other', entered)),
        ),
      ],
    });

    expect(await governed.call(CALL, TURN)).toMatchObject({ status: 'ok' });
    expect(entered).toEqual(['other']);
  });
});
