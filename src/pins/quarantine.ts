/**
 * What is said about a tool that is not what was accepted: to the model without a word of the
 * tool's own, to people with all of it.
 */

import type { EntryPatch } from '../core/contract/audit-record.ts';
import type { ToolCall } from '../core/contract/call.ts';
import type { ToolSpec } from '../core/contract/layer.ts';
import type { ToolResult } from '../core/contract/result.ts';
import type { Refusal } from '../core/onion/pass.ts';
import { annotate, fail, refuse } from '../core/onion/results.ts';
import type { Finding, Verdict } from './pin-keeper.ts';

/** A tool that is not what was accepted. */
export interface QuarantineReport {
  readonly toolName: string;
  readonly source: string;
  /**
   * What is the matter: `changed`, `look_alike`, `renamed`, `new`, `unreadable`, `damaged` or
   * `unpinned`.
   */
  readonly verdict: string;
  /** What it is now; `null` where that has no canonical form, or nothing could be read. */
  readonly hash: string | null;
  /** What was accepted, of this tool or of the one it resembles; `null` for nothing. */
  readonly pinnedHash: string | null;
  /** A line for each part that differs, fit for a terminal. */
  readonly changes: readonly string[];
}

const WHY: Readonly<Partial<Record<Verdict, string>>> = {
  changed: 'the definition of this tool has changed since it was accepted',
  look_alike: 'the name of this tool can be taken for that of another one',
  renamed: 'this tool describes itself in the words of another one',
  new: 'nobody has accepted this tool yet',
  unreadable: 'the definition of this tool cannot be read',
  damaged: 'what was accepted of this tool cannot be read',
};

const whyOf = ({ verdict }: Finding, message: string | undefined): string =>
  message ?? WHY[verdict] ?? 'this tool could not be pinned';

const textFor = (toolName: string, finding: Finding, message: string | undefined): string =>
  `${whyOf(finding, message)}. ${toolName} was not called. Do not call it again: use another tool, or tell the user that somebody has to look at it and accept it.`;

const NO_HINTS = Object.freeze({
  readOnly: false,
  destructive: true,
  idempotent: false,
  openWorld: true,
});

/**
 * The name, and nothing else that the tool says. It takes any arguments, so that a call is told why
 * and not what is wrong with them.
 */
export const quarantinedSpec = (
  { name }: ToolSpec,
  finding: Finding,
  message: string | undefined,
): ToolSpec => ({
  name,
  description: `Not available: ${whyOf(finding, message)}. Do not call it.`,
  inputSchema: { type: 'object' },
  annotations: NO_HINTS,
});

export function quarantinedCall(
  call: ToolCall,
  finding: Finding,
  message: string | undefined,
): ToolResult {
  const { verdict, cause } = finding;
  const text = textFor(call.toolName, finding, message);
  const refused =
    verdict === 'unpinned'
      ? fail(call, 'tool_middleware_exception', cause, text)
      : refuse(call, 'definition_changed', text);
  return annotate(refused, {}, quarantineLine(finding));
}

/** Why a tool may not be entered that another layer put in the place of the one that was called. */
export const objectionTo = (
  finding: Finding | null,
  toolName: string,
  message: string | undefined,
): Refusal | null =>
  finding?.isRefused === true
    ? {
        status: 'definition_changed',
        message: textFor(toolName, finding, message),
        blockedBy: 'definitionPin',
      }
    : null;

/** A receipt is no place for fifty lines about one tool. */
const MAX_LINES = 20;

/** The layer's own line of the record. */
export function quarantineLine(finding: Finding): EntryPatch {
  const { verdict, source, hash, pin, changes } = finding;
  const known = { status: statusOf(finding), source, ...(hash === null ? {} : { hash }) };
  if (verdict === 'pinned') return known;
  return {
    ...known,
    verdict,
    ...(pin === null ? {} : { pinnedHash: pin.hash }),
    ...(pin === null || pin.toolName === finding.toolName ? {} : { like: pin.toolName }),
    changes: changes.slice(0, MAX_LINES),
  };
}

function statusOf({ verdict, isRefused, isFresh }: Finding): string {
  if (isRefused) return 'quarantined';
  if (isFresh === true) return 'pinned';
  return verdict === 'pinned' ? 'ok' : 'changed';
}

/** Tells once for each definition. A listener that fails does not stop the layer. */
export function quarantineReporter(
  source: string,
  onQuarantine: ((report: QuarantineReport) => unknown) | undefined,
): (finding: Finding) => void {
  const last = new Map<string, string>();
  return ({ toolName, verdict, hash, pin, changes }) => {
    const what = `${verdict} ${hash ?? ''}`;
    if (last.get(toolName) === what) return;
    last.set(toolName, what);
    const report = Object.freeze({
      toolName,
      source,
      verdict,
      hash,
      pinnedHash: pin?.hash ?? null,
      changes,
    });
    // A promise that it answers with must not end the process either.
    void (async () => (onQuarantine ?? warn)(report))().catch(() => {});
  };
}

const SHOWN_LINES = 3;

function warn({ toolName, source, verdict, changes }: QuarantineReport): void {
  const [tool, from] = [toolName, source].map((text) =>
    text.replace(/[^\w.-]/g, '?').slice(0, 128),
  );
  const what = changes.length === 0 ? '' : `: ${changes.slice(0, SHOWN_LINES).join('; ')}`;
  process.emitWarning(
    `tool ${tool} of ${from} is quarantined (${verdict})${what}; see allium pins show`,
    'AlliumDefinitionPinWarning',
  );
}
