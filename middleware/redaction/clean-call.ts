/** The way down: arguments are cleaned before anything inside sees them. */

import { type JsonObject, type Scrub, type ToolCall, type ToolProgress, withCall } from '../../src/index.ts';
import { ABORTED, askAtOnce, askRedactor, type Redactor } from './ask-redactor.ts';
import { type Literals, removedBetween } from './literals.ts';
import type { Path } from './paths.ts';
import { pathsFor, type Rules, textCleaner } from './rules.ts';
import { sweep, sweepClean } from './sweep.ts';

/** What has been hidden in a call so far. */
export interface CleanedCall {
  readonly call: ToolCall;
  readonly paths: readonly Path[];
  readonly fields: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
  readonly blocked: boolean;
  readonly literals: Literals;
}

/** Throws where it cannot be said what must be hidden. */
export async function cleanCall(call: ToolCall, rules: Rules, redactor: Redactor | undefined): Promise<CleanedCall | typeof ABORTED> {
  const paths = pathsFor(rules, call);
  const first = await sweepArgs(call.toolArgs, paths, rules);
  const args = first.args === call.toolArgs ? call.toolArgs : withCall(call, { toolArgs: first.args }).toolArgs;
  if (redactor === undefined || first.blocked) return cleaned(call, args, paths, first, rules, redactor);
  const answer = await askRedactor(redactor, { phase: 'in', toolName: call.toolName, args, result: null, text: null }, call.signal);
  if (answer === ABORTED) return ABORTED;
  // A copy that nobody can change any more, whatever the redactor keeps of its answer.
  const given = answer.args === undefined ? args : withCall(call, { toolArgs: answer.args }).toolArgs;
  const custom = { label: 'custom', group: 'redactor' } as const;
  const removed = [...removedBetween(args, given)].map((value) => [value, custom] as const);
  const second = await sweepArgs(given, paths, rules, new Map([...first.literals, ...removed]));
  const fields = [...first.fields, ...(answer.redactedFields ?? changedFields(args, given)), ...second.fields];
  const all = { ...second, fields, counts: { ...first.counts, ...second.counts } };
  return cleaned(call, second.args, paths, all, rules, redactor);
}

/** The same at once, for arguments in which there is nothing to hide and nobody to ask; `null` for all others. */
export function cleanCallNow(call: ToolCall, rules: Rules, redactor: Redactor | undefined): CleanedCall | null {
  if (redactor !== undefined) return null;
  const paths = pathsFor(rules, call);
  const swept = sweepClean([{ value: call.toolArgs, paths }], rules, NO_LITERALS);
  if (swept === null) return null;
  const { counts, blocked, literals } = swept;
  return cleaned(call, call.toolArgs, paths, { args: call.toolArgs, fields: [], counts, blocked, literals }, rules);
}

const NO_LITERALS: Literals = new Map();

type SweptArgs = Omit<CleanedCall, 'call' | 'paths'> & { readonly args: JsonObject };

async function sweepArgs(args: JsonObject, paths: readonly Path[], rules: Rules, known?: Literals): Promise<SweptArgs> {
  const { values, paths: fields, counts, blocked, literals } = await sweep([{ value: args, paths }], rules, known);
  return { args: values[0] as JsonObject, fields: fields[0] ?? [], counts, blocked, literals }; // A cleaned object is an object.
}

function cleaned(
  call: ToolCall,
  args: JsonObject,
  paths: readonly Path[],
  swept: SweptArgs,
  rules: Rules,
  redactor?: Redactor,
): CleanedCall {
  const { fields, counts, blocked, literals } = swept;
  let cleaner: Scrub | null = null;
  // Made with the first message: most calls report nothing.
  const clean = (text: string) => (cleaner ??= textCleaner(rules, literals))(text);
  const report = (progress: ToolProgress) => call.report(cleanedProgress(progress));
  const cleanedProgress = ({ message, ...numbers }: ToolProgress): ToolProgress => {
    if (message === undefined) return numbers;
    const input = { phase: 'out', toolName: call.toolName, args, result: null, text: clean(message) } as const;
    const text = redactor === undefined ? input.text : askAtOnce(redactor, input);
    return text === null ? numbers : { ...numbers, message: clean(text) };
  };
  return { call: withCall(call, { toolArgs: args, report }), paths, fields, counts, blocked, literals };
}

/** The top-level members that a redactor changed without saying so. */
const changedFields = (before: JsonObject, after: JsonObject): readonly string[] =>
  Object.keys(before).filter((name) => !Object.hasOwn(after, name) || JSON.stringify(before[name]) !== JSON.stringify(after[name]));
