/**
 * A person who answers when the test says so, and a tool that counts how often it runs at a time.
 */

import { defineTool } from '../../tools/define-tool.ts';
import type { ApprovalAnswer, ApprovalPrompt } from '../../approvals/question.ts';
import type { Tool, ToolRequest } from '../../tools/tool.ts';

export interface Desk {
  readonly prompt: ApprovalPrompt;
  /** The calls a person was asked about and has not answered, in the order of the questions. */
  readonly open: () => readonly string[];
  /** `null`: this channel reaches nobody. */
  readonly answer: (callId: string, answer: ApprovalAnswer | null) => void;
}

/** Asked about nothing but calls whose arguments say so. */
export function desk(): Desk {
  const open = new Map<string, (answer: ApprovalAnswer | null) => void>();
  return {
    prompt: ({ callId }) => new Promise((resolve) => void open.set(callId, resolve)),
    open: () => [...open.keys()],
    answer(callId, answer) {
      const resolve = open.get(callId);
      if (resolve === undefined) throw new Error(`nobody was asked about ${callId}`);
      open.delete(callId);
      resolve(answer);
    },
  };
}

export interface Workshop {
  readonly tool: Tool;
  /** The calls that have entered the tool, in that order. */
  readonly entered: readonly string[];
  readonly args: readonly unknown[];
  /** The calls that are in the tool. */
  readonly inside: () => readonly string[];
  /** The most that were in it at a time. */
  readonly most: () => number;
  readonly finish: (callId: string) => void;
}

/** A tool whose calls end when the test says so; those with `quick` end by themselves. */
export function workshop(): Workshop {
  const entered: string[] = [];
  const args: unknown[] = [];
  const inside = new Map<string, () => void>();
  let most = 0;
  const tool = defineTool({
    name: 'work',
    description: 'Works.',
    inputSchema: {
      type: 'object',
      properties: { ask: { type: 'boolean' }, quick: { type: 'boolean' }, n: { type: 'number' } },
    },
    async execute(given, { callId }) {
      entered.push(callId);
      args.push(given);
      const done = new Promise<void>((resolve) => void inside.set(callId, resolve));
      most = Math.max(most, inside.size);
      if (given.quick === true) inside.get(callId)?.();
      await done;
      inside.delete(callId);
      return { did: given.n ?? null };
    },
  });
  return {
    tool,
    entered,
    args,
    inside: () => [...inside.keys()],
    most: () => most,
    finish: (callId) => inside.get(callId)?.(),
  };
}

/** Requests of `work` with the ids `a`, `b`, `c`, … */
export const requests = (...args: readonly object[]): readonly ToolRequest[] =>
  args.map((given, index) => ({
    name: 'work',
    arguments: given,
    id: String.fromCharCode(97 + index),
  }));
