/**
 * Compare a call with the one before. What is naive: a loop over two calls is never seen, arguments
 * are compared as they were written, runs are mixed up, and what is refused starts the count anew.
 */

import { defineLayer, refuse, type ToolLayer, withResult } from '../../../src/layer.ts';
import { createSubject } from '../../scenarios/create-subject.ts';

interface Options {
  readonly nudgeAfter?: number;
  readonly stopAfter?: number;
  readonly except?: readonly string[];
}

export function naiveRepeatGuard({
  nudgeAfter = 3,
  stopAfter = 5,
  except = [],
}: Options = {}): ToolLayer {
  let last = '';
  let count = 0;
  return defineLayer({
    name: 'repeatGuard',
    async caller(call, next) {
      if (except.includes(call.toolName)) return next(call);
      const own = `${call.toolName} ${JSON.stringify(call.toolArgs)}`;
      count = own === last ? count + 1 : 1;
      last = own;
      if (count > stopAfter)
        return refuse(call, 'limit_exceeded', `${own} was called too often, change the arguments`);
      const result = await next(call);
      return count < nudgeAfter
        ? result
        : withResult(result, { result: { note: `call ${count} of ${own}`, value: result.result } });
    },
  });
}

export default createSubject({
  name: 'naive repeatGuard',
  factories: { repeatGuard: naiveRepeatGuard },
});

export const fails: readonly string[] = [
  'repeat-guard.a-changing-reason-hides-nothing',
  'repeat-guard.failures-count',
  'repeat-guard.goes-on-tells-stops',
  'repeat-guard.polling-can-be-left-out',
  'repeat-guard.refuses-wrong-options',
  'repeat-guard.runs-are-compared-apart',
  'repeat-guard.says-it-in-the-words-of-the-host',
  'repeat-guard.sees-loops-over-several-calls',
  'repeat-guard.tells-nobody-the-arguments',
  'repeat-guard.the-order-of-members-makes-no-difference',
  'repeat-guard.what-is-ignored-makes-no-difference',
  'repeat-guard.what-is-long-ago-is-forgotten',
];
