/**
 * A scope as somebody would write it in an hour: the name is looked up in the list, and that is
 * all. An empty list is taken for no list, nothing below is held to the scope, and what a tool says
 * of its effects is not looked at.
 */

import { annotate, defineLayer, refuse, type ToolLayer } from '../../../src/layer.ts';
import { createSubject } from '../../scenarios/create-subject.ts';

interface Options {
  readonly stage?: string;
  readonly allowedTools?: readonly string[];
  readonly onViolation?: 'reject' | 'raise';
}

function naiveScopedExecutor({
  stage = 'scoped',
  allowedTools = [],
  onViolation = 'reject',
}: Options): ToolLayer {
  const scope = allowedTools.length > 0 ? { stage, allowedTools } : { stage };
  return defineLayer({
    name: 'scopedExecutor',
    async caller(call, next) {
      if (allowedTools.length > 0 && !allowedTools.includes(call.toolName)) {
        const text = `${call.toolName} is not allowed in ${stage}`;
        if (onViolation === 'raise') throw new Error(text);
        return annotate(
          refuse(call, 'scope_violation', text),
          { scope },
          { status: 'rejected', stage },
        );
      }
      return annotate(await next(call), { scope }, { stage });
    },
  });
}

export default createSubject({
  name: 'naive scoped-executor',
  factories: { scopedExecutor: naiveScopedExecutor },
});

/** The scenarios it must fail. */
export const fails: readonly string[] = [
  'scoped-executor.allows-no-capability-with-none-listed',
  'scoped-executor.allows-nothing-with-an-empty-list',
  'scoped-executor.answers-what-is-past-its-name-check-with-raise-too',
  'scoped-executor.hides-what-it-would-refuse',
  'scoped-executor.holds-arguments-to-constraints',
  'scoped-executor.holds-calls-two-levels-down',
  'scoped-executor.holds-for-nobody-beside-it',
  'scoped-executor.holds-nested-calls-that-have-no-scope-of-their-own',
  'scoped-executor.holds-nested-calls-to-their-effects',
  'scoped-executor.holds-tools-to-capabilities',
  'scoped-executor.holds-tools-to-folders',
  'scoped-executor.holds-tools-to-the-strength-of-their-effects',
  'scoped-executor.only-tightens',
  'scoped-executor.raises-where-told',
  'scoped-executor.refuses-a-glob',
  'scoped-executor.refuses-a-level-nobody-knows',
  'scoped-executor.refuses-another-way-to-violate',
  'scoped-executor.takes-silence-for-the-strongest-effects',
];
