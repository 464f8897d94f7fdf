/** What the dispatcher does for layers and gates that decide about a call. */

import { type ToolCall, withCall } from '../core/call.ts';
import type { CallServices } from '../core/services.ts';
import { wholeDefinitionHash } from '../tools/whole-definition-hash.ts';
import { describeProblems, validateJson } from '../tools/schema/validator.ts';
import type { Tool, ToolContext } from '../tools/tool.ts';
import { invalidArgsText } from './admission.ts';
import { stripHidden } from './hidden-arguments.ts';
import type { ResolvedLimits } from './limits.ts';
import { comeBack, recordOf } from './record.ts';
import { readArguments } from './request.ts';
import type { ShownTools } from './shown-tools.ts';

export interface ServiceParts {
  readonly shown: ShownTools;
  readonly limits: ResolvedLimits;
  readonly standing: CallServices['standing'];
  /** The context in which a tool is asked what it is about to do. */
  readonly contextFor: (call: ToolCall) => ToolContext;
}

export function createServices({ shown, limits, standing, contextFor }: ServiceParts): CallServices {
  const toolOf = (name: string): Tool | null => shown.get(name) ?? null;
  return Object.freeze<CallServices>({
    definitionHashOf: (toolName) => {
      const tool = toolOf(toolName);
      return tool === null ? null : wholeDefinitionHash(tool);
    },
    admit(call, given, areFinal) {
      const tool = toolOf(call.toolName);
      const { args: sent, problem } = readArguments(given, limits);
      if (problem !== null) return invalidArgsText(call, problem);
      const { args } = tool === null ? { args: sent } : stripHidden(tool, sent);
      const problems = areFinal && tool !== null ? validateJson(tool.ownSchema, args) : [];
      return problems.length === 0 ? withCall(call, { toolArgs: args }) : invalidArgsText(call, describeProblems(problems));
    },
    async proposalsOf(call) {
      const propose = toolOf(call.toolName)?.proposedRequests;
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
