/**
 * What whoever made a call gave it: the tool as it was defined, services, and channels to people.
 */

import type { ApprovalPrompt } from '../contract/approval.ts';
import type { ToolCall } from '../contract/call.ts';
import type { DefinedTool } from '../contract/layer.ts';
import type { CallServices } from '../contract/services.ts';
import { stateOf } from './own-call.ts';

export const servicesOf = (call: ToolCall): CallServices | null => stateOf(call).services;

/** The channels the host registered, for a layer that has to ask. */
export const promptsOf = (call: ToolCall): readonly ApprovalPrompt[] => stateOf(call).prompts;

/**
 * The tool of a call as it was defined, before any layer of the stack described it anew;
 * `call.description` and `call.annotations` are what the model was shown. `metadata` is the tool's
 * own. Where no tools were listed, it is what the call says. For a call that a layer gave another
 * tool's name it is that other tool's, or `null` where there is no such tool.
 */
export function definitionOf(call: ToolCall): DefinedTool | null {
  const { definition } = stateOf(call);
  if (definition?.name === call.toolName) return definition;
  if (definition !== null) return servicesOf(call)?.toolOf(call, call.toolName)?.definition ?? null;
  const { toolName: name, description, schema, annotations } = call;
  return Object.freeze({ name, description, inputSchema: schema ?? NO_SCHEMA, annotations });
}

const NO_SCHEMA = Object.freeze({});
