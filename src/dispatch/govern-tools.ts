/** `governTools`: tools, layers and an executor become one dispatcher. */

import { type Turn, type CreateId, randomId } from '../core/contract/call.ts';
import type { ApprovalAnswer, ApprovalPrompt } from '../approvals/question.ts';
import { type Clock, systemClock } from '../core/time/clock.ts';
import { composeToolCallers } from '../core/onion/compose.ts';
import { AlliumError, oneLine } from '../core/contract/errors.ts';
import { explainStack } from '../core/onion/explain.ts';
import type { ToolCaller, ToolLayer, ToolSpec } from '../core/contract/layer.ts';
import { isObject } from '../core/json/json.ts';
import { checkOptions, expected } from '../core/contract/options.ts';
import type { ToolResult } from '../core/contract/result.ts';
import { localExecutor } from '../executors/local.ts';
import {
  providerNativeExecutor,
  runsNothing,
} from '../executors/provider-native/provider-native-executor.ts';
import type { ApprovalStore } from '../approvals/store/approval.ts';
import { memoryApprovals } from '../approvals/store/approval-stores.ts';
import type { GrantStore } from '../approvals/grants/grant.ts';
import { nameAdvice } from '../tools/names.ts';
import type { Registry } from '../tools/registry.ts';
import { demandCodeGeneration } from '../tools/schema/engine.ts';
import type { Logger, Tool, ToolExecutor, ToolRequest } from '../tools/tool.ts';
import type { RequestFor, ResultFor } from '../tools/typed-tool.ts';
import { type BatchOptions, runBatch } from './run/batch.ts';
import { createDispatcher, type Dispatcher, type DispatcherParts } from './dispatcher.ts';
import { createEventHub, type EventHub } from './events/events.ts';
import { demandSources, type Secret } from './intake/arguments.ts';
import { type DispatchLimits, resolveLimits } from './intake/limits.ts';
import { defaultLogger } from './logger.ts';
import type { CallOptions } from './intake/open-call.ts';
import { fileOutputs, type OutputFiles } from './run/output-files.ts';
import { showTools, createTurnMemory } from './intake/shown-tools.ts';
import { standingFrom } from './resume/standing.ts';

export interface GovernOptions<T extends Tool = Tool> {
  readonly tools: Registry | Iterable<T>;
  /** Outermost first. */
  readonly layers: readonly (ToolLayer | ToolCaller)[];
  /**
   * Runs the tools that have no `execute` of their own; several, where they are of different kinds.
   * Closed with the dispatcher.
   */
  readonly executor?: ToolExecutor | readonly ToolExecutor[];
  readonly limits?: DispatchLimits;
  /** @default 'repair' */
  readonly onUnknownTool?: 'repair' | 'throw';
  /** @default 'repair' */
  readonly onInvalidArgs?: 'repair' | 'throw';
  /**
   * Channels on which a person can be asked; the first answer wins. @default none, so that asking
   * ends as `approval_required`
   */
  readonly prompts?: readonly ApprovalPrompt[];
  /**
   * Keeps the calls that wait for a decision. @default in memory: what waits is gone with the
   * process
   */
  readonly approvals?: ApprovalStore;
  /**
   * Standing approvals. Without them no question offers an answer for always, unless a layer keeps
   * answers itself. @default none
   */
  readonly grants?: GrantStore;
  /** What grants of the scope `workspace` hold for. @default the working directory */
  readonly workspace?: string;
  /** Given to tools that ask for it, as hidden argument or in their context. */
  readonly state?: unknown;
  readonly stores?: Readonly<Record<string, unknown>>;
  readonly secrets?: Readonly<Record<string, Secret>>;
  /** Where large results go. @default files in the state folder */
  readonly outputFiles?: OutputFiles;
  /** @default pino on standard error, warnings and worse */
  readonly logger?: Logger;
  readonly clock?: Clock;
  readonly createId?: CreateId;
}

export interface AdvertiseOptions {
  readonly turn: Partial<Turn>;
  /** Names, or a choice by tool. Without it every tool is shown. */
  readonly select?: readonly string[] | ((tool: ToolSpec) => boolean);
}

export interface GovernedTools {
  /** What to show the model. */
  readonly tools: readonly ToolSpec[];
  /**
   * Puts other tools in the place of those there are, as for a server whose list has changed.
   * Throws what `governTools` would throw, and changes nothing then. A call under way that has not
   * reached its tool yet is held to the tools there are when it does.
   */
  update(tools: Registry | Iterable<Tool>): void;
  /** Shows and remembers the tools of a turn; a call in that turn cannot reach any other. */
  advertise(options: AdvertiseOptions): readonly ToolSpec[];
  call(request: ToolRequest, options?: CallOptions): Promise<ToolResult>;
  /**
   * Runs a batch and answers in the order the model emitted. Never throws for a call: what is
   * raised is in its result.
   */
  batch(requests: readonly ToolRequest[], options?: BatchOptions): Promise<readonly ToolResult[]>;
  /**
   * Records a call that the model's provider ran itself, with what the tool answered, or an error
   * made with `toolFailure`. Layers that observe or clean see it; of any other one the record says
   * that it came too late. Nothing is executed or refused, and a signal does not take it back.
   */
  observe(request: ToolRequest, output: unknown, options?: CallOptions): Promise<ToolResult>;
  /**
   * Takes up a call that waits, through the whole stack, with this decision or, without one, with
   * what was decided elsewhere. Throws `ERR_UNKNOWN_APPROVAL`, `ERR_INVALID_DECISION`,
   * `ERR_APPROVAL_PENDING` and `ERR_APPROVAL_RESOLVED`; nothing runs then.
   */
  resume(
    approvalId: string,
    decision?: ApprovalAnswer,
    options?: Omit<CallOptions, 'turn'>,
  ): Promise<ToolResult>;
  on: EventHub['on'];
  explain(): string;
  /** Takes no new calls, waits for those under way, then closes layers and executor. */
  close(): Promise<void>;
}

/** Of tools that are listed in code: names and arguments of calls that are too are checked. */
export interface GovernedToolsOf<T extends Tool> extends Omit<GovernedTools, 'call'> {
  call<const Name extends string>(
    request: { readonly name: Name } & RequestFor<T, Name>,
    options?: CallOptions,
  ): Promise<ResultFor<T, Name>>;
}

const EXPECTED = {
  tools: expected.required({
    text: 'a registry or a list of tools',
    test: (value: unknown) =>
      typeof value === 'object' && value !== null && Symbol.iterator in value,
  }),
  layers: expected.required({ text: 'a list of layers', test: Array.isArray }),
  executor: {
    text: 'an executor or a list of them',
    test: (value: unknown) => [value].flat().every(isObject),
  },
  limits: expected.object,
  onUnknownTool: expected.oneOf('repair', 'throw'),
  onInvalidArgs: expected.oneOf('repair', 'throw'),
  prompts: expected.listOf(expected.function),
  approvals: expected.object,
  grants: expected.object,
  workspace: expected.string,
  state: { text: 'anything', test: () => true },
  stores: expected.object,
  secrets: expected.object,
  outputFiles: expected.object,
  logger: expected.object,
  clock: expected.object,
  createId: expected.function,
} as const;

const ADVERTISE_EXPECTED = {
  turn: expected.required(expected.object),
  select: {
    text: 'a list of names or a function',
    test: (value: unknown) =>
      typeof value === 'function' || expected.listOf(expected.string).test(value),
  },
} as const;

/**
 * Puts a stack around tools. Everything that can be misconfigured throws here, not at the first
 * call.
 */
export function governTools<T extends Tool>(options: GovernOptions<T>): GovernedToolsOf<T> {
  checkOptions('governTools', options, EXPECTED);
  demandCodeGeneration('governTools');
  const { parts, executors } = assemble(options);
  const { layers, shown, turns, hub } = parts;
  const dispatcher = createDispatcher(parts);
  let closing: Promise<void> | undefined;

  const governed: GovernedToolsOf<T> = {
    get tools() {
      return shown.specs;
    },
    update: (tools) => shown.replace(tools),
    advertise(advertised) {
      const chosen = chosenTools(shown.specs, advertised);
      const names = chosen.map((tool) => tool.name);
      turns.remember(dispatcher.turnOf(advertised.turn), names);
      return chosen;
    },
    // The types of a call are in its tool alone: what runs is the same for all.
    call: (request, callOptions) => dispatcher.call(request, callOptions) as Promise<never>,
    batch: (requests, batchOptions) => runBatch(dispatcher.call, requests, batchOptions),
    observe: (request, output, callOptions) => dispatcher.observe(request, output, callOptions),
    resume: (id, decision, resumeOptions) => dispatcher.resume(id, decision, resumeOptions),
    on: hub.on,
    explain: () => [explainStack(layers), ...nameAdvice(shown.names)].join('\n'),
    close: () => (closing ??= closeAll(dispatcher, [...layers, ...executors])),
  };
  return Object.freeze(governed);
}

/** Takes the options apart and fills in what was left out. */
function assemble(options: GovernOptions): {
  parts: DispatcherParts;
  executors: readonly ToolExecutor[];
} {
  const { layers } = composeToolCallers(options.layers);
  const logger = options.logger ?? defaultLogger();
  const sources = {
    state: options.state,
    stores: options.stores ?? {},
    secrets: options.secrets ?? {},
  };
  const { clock = systemClock, createId = randomId, grants, workspace = process.cwd() } = options;
  const given = [options.executor ?? []].flat();
  const native = given.some(({ kind }) => kind === 'provider_native')
    ? []
    : [providerNativeExecutor()];
  const executors: [ToolExecutor, ...ToolExecutor[]] = [localExecutor(), ...given, ...native];
  const shown = showTools(options.tools, layers, (tool) => {
    demandSources(tool, sources);
    // Tools that the provider runs are shown to the model by the provider.
    return !runsNothing(executorFor(executors, tool));
  });
  const parts: DispatcherParts = {
    ...{ layers, shown, logger, sources },
    turns: createTurnMemory(),
    hub: createEventHub(logger),
    limits: resolveLimits(options.limits),
    executorFor: (tool) => executorFor(executors, tool),
    outputFiles: options.outputFiles ?? fileOutputs(),
    onUnknownTool: options.onUnknownTool ?? 'repair',
    onInvalidArgs: options.onInvalidArgs ?? 'repair',
    ...{ clock, createId },
    prompts: Object.freeze([...(options.prompts ?? [])]),
    approvals: options.approvals ?? memoryApprovals({ clock }),
    standing: grants === undefined ? null : standingFrom(grants, workspace, clock, createId),
  };
  return { parts, executors };
}

async function closeAll(
  dispatcher: Dispatcher,
  parts: readonly { close?: () => Promise<void> }[],
): Promise<void> {
  await dispatcher.drain();
  const failures: unknown[] = [];
  // One that cannot be closed must not keep the others open.
  for (const part of parts) await part.close?.().catch((thrown: unknown) => failures.push(thrown));
  if (failures.length > 0) throw failures[0];
}

function chosenTools(specs: readonly ToolSpec[], options: AdvertiseOptions): readonly ToolSpec[] {
  checkOptions('advertise', options, ADVERTISE_EXPECTED);
  const { select } = options;
  if (select === undefined) return specs;
  if (typeof select === 'function') return specs.filter(select);
  // A misspelt name would silently show less than the host meant.
  const unknown = select.find((name) => !specs.some((tool) => tool.name === name));
  if (unknown === undefined) return specs.filter((tool) => select.includes(tool.name));
  throw new AlliumError(
    'ERR_UNKNOWN_TOOL',
    `advertise: there is no tool "${oneLine(unknown)}" to select`,
    { toolName: unknown },
  );
}

function executorFor(
  executors: readonly [ToolExecutor, ...ToolExecutor[]],
  tool: Tool,
): ToolExecutor {
  if (tool.execute !== undefined) return executors[0];
  const found = executors.slice(1).filter((executor) => executor.kind === tool.executor);
  const [only] = found;
  // Which of two would run it could change with the order of a list.
  if (only !== undefined && found.length === 1) return only;
  const why =
    only === undefined
      ? `no executor for "${tool.executor}" was given`
      : `${found.length} executors for "${tool.executor}" were given`;
  throw new AlliumError(
    'ERR_NO_EXECUTOR',
    `tool "${tool.name}" has no execute function, and ${why}`,
    { toolName: tool.name },
  );
}
