/** Answers with a preview instead of running the tool. */

import {
  annotate,
  checkOptions,
  defineLayer,
  expected,
  matchesTool,
  ok,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
} from '../../src/index.ts';

export interface DryRunOptions {
  /** Names or globs of the tools to preview. An empty list previews none. @default every tool */
  readonly only?: readonly string[];
  /** Names or globs of the tools to run all the same. @default none */
  readonly except?: readonly string[];
  /** How the preview begins. @default '(dry run)' */
  readonly message?: string;
}

/**
 * Never runs the tools it is meant for: `ok`, `dry_run`, `executed: 'no'`, with the arguments as the preview. The
 * preview says what would be called, not what would come of it; it does not claim to fit the tool's output schema, and
 * its status tells clients that check one to leave it alone.
 */
export function dryRun(options: DryRunOptions = {}): ToolLayer {
  checkOptions('dryRun', options, {
    only: expected.listOf(expected.string),
    except: expected.listOf(expected.string),
    message: expected.string,
  });
  const { only, except = [], message = '(dry run)' } = options;
  const isMeant = (name: string) => (only === undefined || matchesTool(only, name)) && !matchesTool(except, name);
  return defineLayer({
    name: 'dryRun',
    caller: (call, next) => (isMeant(call.toolName) ? preview(call, message) : next(call)),
  });
}

function preview(call: ToolCall, message: string): ToolResult {
  const text = `${message} — ${call.toolName}(${JSON.stringify(call.toolArgs)})`;
  const result = ok(call, { dryRun: true, args: call.toolArgs }, { status: 'dry_run', content: [{ type: 'text', text }] });
  return annotate(result, { kind: 'think' }, { status: 'preview' });
}
