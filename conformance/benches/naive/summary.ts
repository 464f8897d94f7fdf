/**
 * Write what the formatter says. What is naive: nobody looks at it, and a formatter that throws
 * fails the call.
 */

import {
  annotate,
  defineLayer,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
} from '../../../src/layer.ts';
import { createSubject } from '../../scenarios/create-subject.ts';

export const naiveSummary = (
  format: (call: ToolCall, result: ToolResult) => string | null,
): ToolLayer =>
  defineLayer({
    name: 'summary',
    observes: true,
    async caller(call, next) {
      const result = await next(call);
      return annotate(result, { summary: String(format(call, result)) });
    },
  });

export default createSubject({ name: 'naive summary', factories: { summary: naiveSummary } });

export const fails: readonly string[] = [
  'summary.a-formatter-that-fails-changes-nothing',
  'summary.leaves-an-inner-line-where-it-has-none',
  'summary.nothing-is-no-line',
  'summary.refuses-what-is-no-function',
  'summary.writes-one-line',
];
