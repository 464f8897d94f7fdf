/** What is wrong with a server without being a reason to stop. */

import type { Logger } from '../../tools/tool.ts';
import { oneLine } from '../../core/contract/errors.ts';

/**
 * `bad_tool`, `bad_name`, `bad_schema` and `duplicate_name`: a tool was left out. `list_cut`: the
 * rest of a list was. `list_failed`: a new list could not be read, and the old one stays.
 * `definition_changed` and `tool_gone`: a tool is not what it was. `connection_lost`: with the next
 * call it is made again. `question_failed`: `onElicit` threw or answered with no answer.
 * `callback_failed`: `onToolsChanged` threw.
 */
export type McpProblemKind =
  | 'bad_tool'
  | 'bad_name'
  | 'bad_schema'
  | 'duplicate_name'
  | 'list_cut'
  | 'list_failed'
  | 'definition_changed'
  | 'tool_gone'
  | 'connection_lost'
  | 'question_failed'
  | 'callback_failed';

export interface McpProblem {
  readonly server: string;
  readonly kind: McpProblemKind;
  /** As the server calls it, on one line. */
  readonly toolName?: string;
  /** For people: one line. Holds no argument and no answer. */
  readonly message: string;
}

export type ReportProblem = (kind: McpProblemKind, message: string, toolName?: string) => void;

/** Problems go to the callback and to the logger. One that throws is nobody's business here. */
export function problemReporter(
  server: string,
  onProblem: ((problem: McpProblem) => void) | undefined,
  logger: Logger | undefined,
): ReportProblem {
  return (kind, message, toolName) => {
    const named = toolName === undefined ? {} : { toolName: oneLine(toolName).slice(0, 128) };
    const problem: McpProblem = Object.freeze({
      server,
      kind,
      ...named,
      message: oneLine(message),
    });
    try {
      onProblem?.(problem);
      logger?.warn({ server, kind, ...named }, `MCP server: ${problem.message}`);
    } catch {
      // Telling about a problem must not become one.
    }
  };
}
