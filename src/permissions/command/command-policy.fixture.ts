/** What the tests of this folder share: lists, and a way to ask about one line. */

import { makeCall } from '../../../conformance/test-kit.ts';
import type { PermissionAnswer, PermissionRequest, ProposedRequest } from '../permission.ts';
import { type CommandPolicyOptions, commandPolicy } from './command-policy.ts';

export const LISTS = {
  allow: [
    ...[
      'ls',
      'cat',
      'echo',
      'wc',
      'true',
      'cd',
      '[',
      'test',
      'printf',
      'find',
      'tar',
      'sed',
      'awk',
      'sort',
    ],
    ...[
      'git status',
      'git log',
      'git diff',
      'npm test',
      './run',
      '/usr/bin/id',
      'python',
      'sudo',
      'xargs',
    ],
  ],
  ask: ['curl'],
  deny: ['rm', 'git push', 'sudo'],
} satisfies CommandPolicyOptions;

type CommandRequest = Extract<ProposedRequest, { kind: 'process.command' }>;

/** A request as the engine hands it to a checker. */
export function requestOf(proposed: ProposedRequest): PermissionRequest {
  const call = makeCall({ toolName: 'shell' });
  // The type of custom kinds wants JSON in every field; the call beside them is none.
  return { ...proposed, toolName: 'shell', callId: call.callId, call } as PermissionRequest;
}

/** What a policy says about a line, or about any other `process.command`. */
export function judged(
  command: string | Omit<CommandRequest, 'kind'>,
  options: CommandPolicyOptions = LISTS,
): PermissionAnswer {
  const request = typeof command === 'string' ? { command } : command;
  const answer = commandPolicy(options).evaluate(
    requestOf({ kind: 'process.command', ...request }),
  );
  if (typeof answer !== 'object' || 'then' in answer)
    throw new Error('a policy of this folder answers at once, with the object form');
  return answer;
}
