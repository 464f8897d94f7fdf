/** What the layer answers, and what it writes down: names, paths and counts, never values. */

import {
  annotate,
  type EntryPatch,
  refuse,
  type ToolCall,
  type ToolResult,
  withCall,
} from '../../src/layer.ts';
import { type CleanedCall, type CleanedResult, withoutHandoff } from '../../src/redaction/index.ts';

/** What was found in arguments, or in a result. */
export type Found = Pick<CleanedResult, 'fields' | 'counts'>;

/** As many paths as a record can use; the last one then says that there are more. */
const MAX_FIELDS = 50;
const MAX_NAME = 200;

/** The call as it may be shown: where findings are only reported, `sent.call` still holds them. */
export const shownCall = ({ call, args }: CleanedCall): ToolCall =>
  call.toolArgs === args ? call : withCall(call, { toolArgs: args });

export const cancelled = (call: ToolCall): ToolResult =>
  refuse(call, 'cancelled', 'The call was cancelled before it was checked.');

/** The arguments were not looked at to the end, so they do not stand on the result either. */
export function uncheckedCall(call: ToolCall): ToolResult {
  const text =
    'The call did not run: its arguments could not be checked for what must be hidden. Do not repeat it unchanged.';
  return annotate(
    refuse(withCall(call, { toolArgs: {} }), 'redacted', text),
    {},
    { status: 'redacted', because: 'failed' },
  );
}

export function uncheckedResult(sent: CleanedCall): ToolResult {
  const text = `The result of ${sent.call.toolName} is withheld: it could not be checked for what must be hidden. Do not repeat the call.`;
  return withoutHandoff(
    noted(refuse(shownCall(sent), 'redacted', text), sent, null, {
      status: 'redacted',
      because: 'failed',
    }),
  );
}

export function blockedCall(sent: CleanedCall): ToolResult {
  const where = shortened(sent.fields).join(', ');
  const text = `The call did not run: ${where === '' ? 'its arguments hold' : `${where} holds`} what must not be passed on. Leave it out.`;
  return noted(refuse(shownCall(sent), 'redacted', text), sent, null, {
    status: 'redacted',
    because: 'blocked',
    found: sent.counts,
  });
}

export function blockedResult(sent: CleanedCall, found: Found): ToolResult {
  const text = `The result of ${sent.call.toolName} is withheld: it holds what must not be shown. Do not repeat the call.`;
  const counts = { ...sent.counts, ...found.counts };
  return withoutHandoff(
    noted(refuse(shownCall(sent), 'redacted', text), sent, found, {
      status: 'redacted',
      because: 'blocked',
      found: counts,
    }),
  );
}

/** The cleaned result, with what was found on its record; `isQuiet` where nothing was. */
export function recorded(
  result: ToolResult,
  isQuiet: boolean,
  sent: CleanedCall,
  found: Found,
): ToolResult {
  const counts = { ...sent.counts, ...found.counts };
  return noted(result, sent, found, isQuiet ? {} : { found: counts });
}

/** Both lists, joined to what a redaction further in and other layers have written there. */
function noted(
  result: ToolResult,
  sent: Pick<Found, 'fields'>,
  found: Found | null,
  entry: EntryPatch,
): ToolResult {
  const before = result.audit?.metadata ?? {};
  const metadata = {
    ...before,
    redactedIn: shortened([...namesIn(before['redactedIn']), ...sent.fields]),
    redactedOut: shortened([...namesIn(before['redactedOut']), ...(found?.fields ?? [])]),
  };
  return annotate(result, { metadata }, entry);
}

const namesIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((name): name is string => typeof name === 'string') : [];

function shortened(fields: readonly string[]): readonly string[] {
  const names = [
    ...new Set(
      fields.map((name) => (name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name)),
    ),
  ];
  return names.length > MAX_FIELDS ? [...names.slice(0, MAX_FIELDS), '…'] : names;
}
