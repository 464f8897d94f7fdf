/**
 * Ask each checker about the call and let the first yes count. What is naive: it asks before the
 * layers below have changed the arguments, a later no is not heard, what throws is taken for no
 * opinion, and what the tool is about to do is nobody's business.
 */

import {
  defineLayer,
  type PermissionChecker,
  refuse,
  type ToolCall,
  type ToolLayer,
} from '../../../src/layer.ts';
import type { PermissionRequest } from '../../../src/policy/index.ts';
import { createSubject } from '../../scenarios/create-subject.ts';

interface Options {
  readonly checkers: readonly PermissionChecker[];
}

export function naivePermissions({ checkers }: Options): ToolLayer {
  return defineLayer({
    name: 'permissions',
    async caller(call, next) {
      for (const checker of checkers) {
        const decision = await decisionOf(checker, call);
        if (decision === 'allow') return next(call);
        if (decision === 'deny')
          return refuse(call, 'permission_denied', `${call.toolName} is not allowed.`);
        if (decision === 'require_approval')
          return refuse(call, 'approval_required', `${call.toolName} needs an approval.`);
      }
      return next(call);
    },
  });
}

async function decisionOf(checker: PermissionChecker, call: ToolCall): Promise<string> {
  const { toolName, callId } = call;
  const request: PermissionRequest = { kind: 'tool.call', toolName, callId, call };
  try {
    const said = await (typeof checker === 'function'
      ? checker(request)
      : checker.evaluate(request));
    return typeof said === 'string' ? said : said.decision;
  } catch {
    return 'no_opinion';
  }
}

export default createSubject({
  name: 'naive permissions',
  factories: { permissions: naivePermissions },
});

export const fails: readonly string[] = [
  'permissions.a-checker-that-fails-denies',
  'permissions.a-no-refuses-with-the-reason',
  'permissions.a-person-sees-the-requests',
  'permissions.a-shadow-refuses-nothing',
  'permissions.denies-with-what-would-pass',
  'permissions.deny-before-ask-before-allow',
  'permissions.each-layer-has-its-own-fallback',
  'permissions.edits-pass-everything-again',
  'permissions.expires',
  'permissions.falls-back',
  'permissions.falls-back-to-deny',
  'permissions.hides-what-is-never-allowed',
  'permissions.holds-nested-calls',
  'permissions.holds-paths-to-folders',
  'permissions.hostile-proposals-deny',
  'permissions.lets-through-what-is-allowed',
  'permissions.refuses-to-check-with-nothing',
  'permissions.refuses-to-fall-back-to-nothing',
  'permissions.sees-what-the-tool-would-get',
  'permissions.takes-a-result-from-a-person',
  'permissions.the-strictest-layer-counts',
  'permissions.waits-for-a-sign-in',
  'permissions.waits-where-nobody-can-be-asked',
];
