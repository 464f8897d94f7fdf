/** Notices when the same call is made again and again: tells the model first, and then stops it. */

import {
  annotate,
  checkOptions,
  defineLayer,
  matchesTool,
  must,
  type OrderRule,
  refuse,
  should,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
} from '../../src/layer.ts';
import { callHistory, withNote } from '../../src/limits/index.ts';
import { OPTIONS, type RepeatGuardOptions } from './options.ts';

export type { RepeatGuardOptions };

/**
 * Counts calls of the same tool with the same arguments among the last ones of a run, whether they
 * succeed, fail or are refused. It does not look at results: a call that waits for something to
 * change is a repetition too, unless its tool is in `except`.
 */
export function repeatGuard(options: RepeatGuardOptions = {}): ToolLayer {
  checkOptions('repeatGuard', options, OPTIONS);
  const {
    stopAfter = 5,
    nudgeAfter = Math.min(3, stopAfter),
    per = 'run',
    windowCalls = 50,
    windowMs = null,
    ignore = null,
    except = [],
  } = options;
  const { message = 'the same call again' } = options;
  // What can never be reached would be a guard in name only.
  checkOptions(
    'repeatGuard',
    { nudgeAfter, windowCalls },
    {
      nudgeAfter: bound(`at most stopAfter (${stopAfter})`, (count) => count <= stopAfter),
      windowCalls: bound(`more than stopAfter (${stopAfter})`, (count) => count > stopAfter),
    },
  );
  const history = callHistory({ per, windowCalls, windowMs, ignore });

  return defineLayer({
    name: 'repeatGuard',
    order: ORDER,
    async caller(call, next) {
      if (matchesTool(except, call.toolName)) return next(call);
      const count = history.add(call);
      if (count === null) return annotate(await next(call), {}, { status: 'ok', resumed: true });
      if (count > stopAfter) return stopped(call, count, stopAfter, message);
      const result = await next(call);
      if (count < nudgeAfter) return annotate(result, {}, { status: 'ok', count });
      const line = { status: 'nudged', count, cap: stopAfter };
      return annotate(withNote(result, nudgeFor(call, count)), {}, line);
    },
  });
}

const bound = (text: string, isKept: (value: number) => boolean) => ({
  text,
  test: (value: unknown) => isKept(Number(value)),
  numeric: true,
});

const ORDER: readonly OrderRule[] = [
  must.insideOf('auditLog', 'outside it, calls that were stopped would leave no receipt'),
  should.outsideOf('consent', 'inside it, a person is asked about the same call again and again'),
  should.outsideOf(
    'idempotency',
    'inside it, repetitions that are answered from the store are not seen',
  ),
  should.outsideOf('retry', 'inside it, every attempt counts as a repetition'),
  should.outsideOf('outputLimit', 'inside it, the nudge is cut off a long result'),
];

const nudgeFor = ({ toolName }: ToolCall, count: number): string =>
  `[Note: this is call ${count} of ${toolName} with the same arguments. Do not repeat it: use what you have, change the arguments, or do something else.]`;

function stopped(call: ToolCall, count: number, cap: number, message: string): ToolResult {
  const text = `${message} (call ${count}, at most ${cap}). ${call.toolName} was not called with these arguments: use what it answered before, change the arguments, do something else, or tell the user what is in the way.`;
  return annotate(refuse(call, 'limit_exceeded', text), {}, { status: 'blocked', count, cap });
}
