/**
 * The stacks that calls go through: the host's layers with the dispatcher's own stages between
 * them.
 */

import { type RunStack, runnerOf } from '../core/onion/compose.ts';
import { observedLayer, observedStage } from '../core/onion/observed.ts';
import type { Stage } from '../core/onion/stage.ts';
import type { ToolCall, Turn } from '../core/contract/call.ts';
import type { ToolLayer } from '../core/contract/layer.ts';
import { toolCallUpdateEvent } from '../core/wire/wire.ts';
import type { Tool } from '../tools/tool.ts';
import type { EventHub } from './events/events.ts';
import { admissionStage, entryStage, limitStage } from './intake/admission.ts';
import { createCallCounter, createSemaphore, type ResolvedLimits } from './intake/limits.ts';
import type { ShownTools, TurnMemory } from './intake/shown-tools.ts';
import { recordOf, type FindTool, objectToChange, type ObjectToChange, toolFor } from './record.ts';
import { STARTED } from './run/lifecycle.ts';

/** Which tool a call enters, and whether that is still what the host has. */
export interface Entries {
  /** The tool of a name in a turn, as the host has it now. */
  readonly find: FindTool;
  readonly toolOf: (call: ToolCall, name: string) => Tool | null;
  readonly objectTo: ObjectToChange;
  /** The names a turn may use. */
  readonly namesIn: (turn: Turn) => readonly string[];
}

export function entriesOf(shown: ShownTools, turns: TurnMemory): Entries {
  const find: FindTool = (name, turn) => {
    const tool = shown.get(name);
    return tool !== undefined && turns.allows(turn, name) ? tool : null;
  };
  return {
    find,
    toolOf: (call, name) => toolFor(call, name, find),
    objectTo: objectToChange(find),
    namesIn: (turn) => shown.names.filter((name) => turns.allows(turn, name)),
  };
}

export interface StackParts {
  readonly layers: readonly ToolLayer[];
  readonly limits: ResolvedLimits;
  readonly hub: EventHub;
  readonly onUnknownTool: 'repair' | 'throw';
  readonly onInvalidArgs: 'repair' | 'throw';
}

export interface Stacks {
  /** For a call that is to run. */
  readonly governed: RunStack;
  /** For a call that ran elsewhere: the same members, and none of them can stop it. */
  readonly observed: RunStack;
  /** For a call that starts something in the background: what records, cleans and admits. */
  readonly starting: RunStack;
  /** For a call that was lost, of which no acting layer could know anything. */
  readonly watched: RunStack;
}

export function stacksOf(parts: StackParts, entries: Entries, approvals: Stage): Stacks {
  const { layers, onUnknownTool, onInvalidArgs } = parts;
  const { namesIn } = entries;
  const admission = admissionStage({ onUnknownTool, onInvalidArgs, namesIn });
  const stack = governedStack(parts, entries, [approvals, admission]);
  return {
    governed: runnerOf(stack),
    observed: runnerOf(
      stack.map((member) => ('caller' in member ? observedLayer(member) : observedStage(member))),
    ),
    starting: runnerOf(
      stack.filter((member) => ('caller' in member ? isWatching(member) : member === admission)),
    ),
    watched: runnerOf(layers.filter(isWatching)),
  };
}

/** Whether a layer records or cleans, and so is told of calls that no other layer may act on. */
const isWatching = (layer: ToolLayer): boolean =>
  layer.observes === true || layer.scrub !== undefined;

function governedStack(
  { layers, limits, hub }: StackParts,
  { toolOf, objectTo, namesIn }: Entries,
  first: readonly Stage[],
): readonly (ToolLayer | Stage)[] {
  const firstActing = layers.findIndex((layer) => layer.observes !== true);
  const leading = firstActing === -1 ? layers.length : firstActing;
  return [
    ...layers.slice(0, leading),
    ...first,
    limitStage({
      limits,
      perRun: createCallCounter(limits.maxCallsPerRun),
      perSession: createCallCounter(limits.maxCallsPerSession),
      semaphore: limits.maxConcurrent === undefined ? null : createSemaphore(limits.maxConcurrent),
      onStart: (call, seat) => {
        const record = recordOf(call);
        if (seat !== null) record.seats.push(seat);
        // An observing layer may have answered without waiting for what is inside it.
        if (!record.done) hub.emit('tool_call_update', toolCallUpdateEvent, call, STARTED);
      },
    }),
    ...layers.slice(leading),
    entryStage(toolOf, objectTo, namesIn),
  ];
}
