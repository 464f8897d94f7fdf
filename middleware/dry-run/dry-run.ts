/** Answers with a preview instead of running the tool. */

import {
  annotate,
  checkOptions,
  defineLayer,
  matchesTool,
  must,
  ok,
  should,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
} from '../../src/layer.ts';
import { type DryRunOptions, OPTIONS } from './options.ts';

export type { DryRunOptions };

/**
 * Never runs the tools it is meant for: `ok`, `dry_run`, `executed: 'no'`, with a preview in words
 * (`renderedResult`) and as data (`result`). It says what would be called, not what would come of
 * it: it does not claim to fit the tool's output schema, and its status keeps `toToolMessage` from
 * sending it as an answer that does.
 */
export function dryRun(options: DryRunOptions = {}): ToolLayer {
  checkOptions('dryRun', options, OPTIONS);
  const { only, except = [], message = '(dry run)' } = options;
  const isMeant = (name: string) =>
    (only === undefined || matchesTool(only, name)) && !matchesTool(except, name);
  return defineLayer({
    name: 'dryRun',
    order: [
      must.insideOf('redaction', 'outside it, a preview shows the arguments that redaction hides'),
      should.insideOf(
        'consent',
        'outside it, a preview does not tell whether the call would be allowed',
      ),
    ],
    caller: (call, next) => (isMeant(call.toolName) ? preview(call, message) : next(call)),
    tooLate: ({ toolName }) => (isMeant(toolName) ? { wouldHaveBeen: 'dry_run' } : null),
  });
}

function preview(call: ToolCall, message: string): ToolResult {
  const text = `${message} — ${call.toolName}(${JSON.stringify(call.toolArgs)})`;
  const result = ok(
    call,
    { dryRun: true, args: call.toolArgs },
    { status: 'dry_run', content: [{ type: 'text', text }] },
  );
  return annotate(result, { kind: 'think' }, { status: 'preview' });
}
