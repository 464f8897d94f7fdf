/** What a call is about to do has to be allowed: by checkers, or by a person they send for. */

import {
  annotate,
  type ApprovalRecord,
  checkOptions,
  defineLayer,
  denyAlways,
  type EntryPatch,
  gateCall,
  permissionGate,
  type PermissionReport,
  permissionReportOf,
  type PermissionSet,
  should,
  type ToolLayer,
  type ToolResult,
  withResult,
} from '../../src/layer.ts';
import { OPTIONS, type PermissionsOptions } from './options.ts';

export type { PermissionsOptions };

/**
 * Lays checkers down for every call below. They are asked once, right before the tool, about the
 * arguments it would get: about the call itself (`tool.call`, where no opinion means go on) and
 * about each request the tool proposes. It sees what a tool says it is about to do, not what it
 * does: for that there are jails and sandboxes.
 */
export function permissions(options: PermissionsOptions): ToolLayer {
  checkOptions('permissions', options, OPTIONS);
  const { checkers, fallback = 'deny', shadow = false, hide = false, expiresMs } = options;
  const set: PermissionSet = {
    owner: 'permissions',
    checkers: Object.freeze([...checkers]),
    fallback: fallback === 'ask' ? 'require_approval' : fallback,
    shadow: shadow !== false,
    expiresMs,
  };
  const gate = permissionGate(set);
  const unheeded = permissionGate({ ...set, shadow: true });
  return defineLayer({
    name: 'permissions',
    order: [
      should.insideOf(
        'auditLog',
        'outside it, receipts do not say who allowed a call, and over what',
      ),
    ],
    ...(hide && shadow === false
      ? {
          schemaTransform: (tool) =>
            checkers.some((checker) => denyAlways(checker, tool.name)) ? null : tool,
        }
      : {}),
    async caller(call, next) {
      const result = await next(gateCall(call, gate));
      const report = permissionReportOf(call);
      if (report === undefined) return result;
      if (typeof shadow === 'function' && report.shadow !== undefined) tell(shadow, report);
      return recorded(result, report);
    },
    async tooLate(call) {
      // In shadow mode nothing would have been refused.
      if (shadow !== false) return { wouldHaveBeen: 'ok' };
      await unheeded(gateCall(call, unheeded));
      return { wouldHaveBeen: endingOf(permissionReportOf(call)) };
    },
  });
}

/** What the call would have come to, by a report of checkers in shadow mode. */
function endingOf(report: PermissionReport | undefined): string {
  const verdicts = [report?.decision, ...(report?.shadow ?? []).map(({ decision }) => decision)];
  if (verdicts.includes('deny')) return 'permission_denied';
  return verdicts.includes('require_approval') ? 'approval_required' : 'ok';
}

function tell(listener: (report: PermissionReport) => void, report: PermissionReport): void {
  try {
    listener(report);
  } catch {
    // Who only watches changes nothing, also by failing.
  }
}

/**
 * Who decided, over what, and who approved. Kinds and codes only: a path or a command may be
 * secret.
 */
function recorded(result: ToolResult, report: PermissionReport): ToolResult {
  const { approval, shadow, ...rest } = report;
  const line: EntryPatch = {
    ...{ status: approval?.decision ?? report.decision },
    ...(report.code === undefined ? {} : { code: report.code }),
    ...ruleOf(report),
    ...(shadow === undefined ? {} : { shadow: shadow.map(({ decision }) => decision) }),
  };
  const patch = {
    permissions: {
      ...rest,
      ...(shadow === undefined ? {} : { shadow }),
      ...(approval === undefined ? {} : { approval }),
    },
  };
  return annotate(
    approval === undefined ? result : withResult(result, { approval: approvalOf(approval) }),
    patch,
    line,
  );
}

/**
 * The checker that decided and its code, which `rulesPolicy` fills with the name of a rule. Where
 * no checker had an opinion there is no rule.
 */
function ruleOf({ by, code }: PermissionReport): EntryPatch {
  const parts = [by, code].filter((part) => typeof part === 'string');
  return parts.length === 0 ? {} : { rule: ['permissions', ...parts].join(' ') };
}

function approvalOf({
  receiptUri: _receiptUri,
  ...approval
}: NonNullable<PermissionReport['approval']>): ApprovalRecord {
  return approval;
}
