/**
 * What the dispatcher does for layers and gates that decide about a call, and for tools that run.
 */

import type { Refusal } from '../core/onion/pass.ts';
import type { CallServices } from '../approvals/consultation.ts';
import type { CallTool } from '../core/contract/layer.ts';
import { withCall } from '../core/onion/own-call.ts';
import { type ToolCall } from '../core/contract/call.ts';
import { ownDefinition, wholeDefinitionHash } from '../tools/own-definition.ts';
import { describeProblems, validateJson } from '../tools/schema/validator.ts';
import type { Logger, Tool, ToolContext } from '../tools/tool.ts';
import type { ToolLayer, ToolOf } from '../core/contract/layer.ts';
import { conditionsOf } from '../core/onion/conditions.ts';
import type { AbortSource } from '../core/time/abort.ts';
import type { RunToolOptions } from './run/run-tool.ts';
import { bindContext } from './run/under-way.ts';
import type { Entries } from './stack.ts';
import { scrubbingLogger } from './intake/clean-request.ts';
import { invalidArgsText } from './intake/admission.ts';
import { type HiddenSources, stripHidden, readArguments } from './intake/arguments.ts';
import type { ResolvedLimits } from './intake/limits.ts';
import { comeBack, recordOf } from './record.ts';

export interface ServiceParts {
  readonly toolOf: Entries['toolOf'];
  readonly limits: ResolvedLimits;
  readonly standing: CallServices['standing'];
  /** The context in which a tool is asked what it is about to do. */
  readonly contextFor: (call: ToolCall) => ToolContext;
}

export function createServices({
  toolOf,
  limits,
  standing,
  contextFor,
}: ServiceParts): CallServices {
  return Object.freeze<CallServices>({
    admit(call, given, areFinal) {
      const tool = toolOf(call, call.toolName);
      const { args: sent, problem } = readArguments(given, limits);
      if (problem !== null) return invalidArgsText(call, problem);
      const { args } = tool === null ? { args: sent } : stripHidden(tool, sent);
      const problems = areFinal && tool !== null ? validateJson(tool.ownSchema, args) : [];
      return problems.length === 0
        ? withCall(call, { toolArgs: args })
        : invalidArgsText(call, describeProblems(problems));
    },
    async proposalsOf(call) {
      const propose = toolOf(call, call.toolName)?.proposedRequests;
      return propose === undefined ? [] : propose(call.toolArgs, contextFor(call));
    },
    standing,
    stepAside(call) {
      const record = recordOf(call);
      record.isAside = true;
      for (const seat of record.seats) seat.stepOut();
    },
    comeBack,
  });
}

/** The tool of a name as layers see it. */
export const callToolOf =
  (toolOf: Entries['toolOf']): ToolOf =>
  (call, name) => {
    const tool = toolOf(call, name);
    return tool === null ? null : asCallTool(tool);
  };

/** Tools are frozen, and asked about several times a call. */
const callTools = new WeakMap<Tool, CallTool>();

function asCallTool(tool: Tool): CallTool {
  const known = callTools.get(tool);
  if (known !== undefined) return known;
  const { annotations, description, ownSchema: schema, executor: declaredExecutor } = tool;
  const made: CallTool = Object.freeze({
    definition: ownDefinition(tool),
    described: Object.freeze({ annotations, description, schema, declaredExecutor }),
    hash: () => wholeDefinitionHash(tool),
  });
  callTools.set(tool, made);
  return made;
}

export interface ContextParts {
  readonly sources: HiddenSources;
  readonly logger: Logger;
  readonly layers: readonly ToolLayer[];
}

/** What tools get beside their arguments: a context that can call others the same way. */
export function contextsFor(
  { sources: { state, stores }, logger: host, layers }: ContextParts,
  { toolOf, objectTo }: Entries,
  callFrom: (call: ToolCall, abort: AbortSource) => ToolContext['call'],
): RunToolOptions['contextFor'] {
  const logger = scrubbingLogger(host, layers);
  const objectionTo = (call: ToolCall): Refusal | null => {
    const tool = toolOf(call, call.toolName);
    return tool === null ? null : objectTo(call, tool);
  };
  return (call, abort, report) => {
    const { callId, turn } = call;
    const { policy: permissions } = conditionsOf(call);
    const context = {
      callId,
      turn,
      report,
      state,
      stores,
      permissions,
      logger,
      call: callFrom(call, abort),
    };
    return bindContext(context, { call, abort, objectionTo });
  };
}
