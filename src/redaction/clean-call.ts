/** The way down: arguments are looked at before anything inside sees them. */

import type { Scrub } from '../core/contract/layer.ts';
import type { JsonObject } from '../core/json/json-value.ts';
import { withCall } from '../core/onion/own-call.ts';
import type { ToolCall, ToolProgress } from '../core/contract/call.ts';
import { ABORTED, askAtOnce, askRedactor, type Redactor } from './ask-redactor.ts';
import { type Literals, removedBetween } from './literals.ts';
import type { Path } from './walk.ts';
import { pathsFor, type Rules, textCleaner } from './rules.ts';
import { isClean, NOTHING_FOUND, sweep } from './sweep.ts';
import { wait, type Work } from './scan.ts';

/** What has been found in a call so far. */
export interface CleanedCall {
  /**
   * The call as it goes on: with cleaned arguments, or with its own where findings are only
   * reported.
   */
  readonly call: ToolCall;
  /** The arguments as they may be shown. */
  readonly args: JsonObject;
  readonly paths: readonly Path[];
  readonly fields: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
  readonly blocked: boolean;
  readonly literals: Literals;
}

/** Whether what is found in arguments is masked before the tool gets them, or only recorded. */
export type Incoming = 'mask' | 'report';

/** Throws where it cannot be said what must be hidden. */
export function* cleanCall(
  call: ToolCall,
  rules: Rules,
  redactor: Redactor | undefined,
  incoming: Incoming,
): Work<CleanedCall | typeof ABORTED> {
  const paths = pathsFor(rules, call);
  const first = isClean([{ value: call.toolArgs, paths }], rules)
    ? { args: call.toolArgs, ...NOTHING_FOUND }
    : yield* sweepArgs(call, call.toolArgs, paths, rules);
  const { args } = first;
  if (redactor === undefined || first.blocked)
    return cleaned(call, first, paths, rules, redactor, incoming);
  const asked = askRedactor(
    redactor,
    { phase: 'in', toolName: call.toolName, args, result: null, text: null },
    call.signal,
  );
  const answer = yield* wait(asked);
  if (answer === ABORTED) return ABORTED;
  // A frozen copy, whatever the redactor keeps of its answer.
  const given =
    answer.args === undefined ? args : withCall(call, { toolArgs: answer.args }).toolArgs;
  const custom = { label: 'custom', group: 'redactor' } as const;
  const removed = [...removedBetween(args, given)].map((value) => [value, custom] as const);
  const second = yield* sweepArgs(
    call,
    given,
    paths,
    rules,
    new Map([...first.literals, ...removed]),
  );
  const fields = [
    ...first.fields,
    ...(answer.redactedFields ?? changedFields(args, given)),
    ...second.fields,
  ];
  const all = { ...second, fields, counts: { ...first.counts, ...second.counts } };
  return cleaned(call, all, paths, rules, redactor, incoming);
}

type SweptArgs = Omit<CleanedCall, 'call' | 'paths'>;

function* sweepArgs(
  call: ToolCall,
  args: JsonObject,
  paths: readonly Path[],
  rules: Rules,
  known?: Literals,
): Work<SweptArgs> {
  const {
    values,
    paths: fields,
    counts,
    blocked,
    literals,
  } = yield* sweep([{ value: args, paths }], rules, known);
  const clean = values[0] as JsonObject; // A cleaned object is an object.
  const kept = clean === args ? args : withCall(call, { toolArgs: clean }).toolArgs;
  return { args: kept, fields: fields[0] ?? [], counts, blocked, literals };
}

function cleaned(
  call: ToolCall,
  swept: SweptArgs,
  paths: readonly Path[],
  rules: Rules,
  redactor: Redactor | undefined,
  incoming: Incoming,
): CleanedCall {
  const { args, fields, counts, blocked, literals } = swept;
  const toolArgs = incoming === 'report' ? call.toolArgs : args;
  const report = cleanReport(call, swept, rules, redactor);
  return {
    call: withCall(call, toolArgs === call.toolArgs ? { report } : { toolArgs, report }),
    args,
    paths,
    fields,
    counts,
    blocked,
    literals,
  };
}

/** What a tool reports while it runs, with its text cleaned. */
function cleanReport(
  call: ToolCall,
  { args, literals }: SweptArgs,
  rules: Rules,
  redactor: Redactor | undefined,
): (progress: ToolProgress) => void {
  let cleaner: Scrub | null = null;
  return ({ message, ...numbers }) => {
    if (message === undefined) return call.report(numbers);
    // Made with the first message: most calls report nothing.
    cleaner ??= textCleaner(rules, literals);
    const { toolName } = call;
    const input = { phase: 'out', toolName, args, result: null, text: cleaner(message) } as const;
    const text = redactor === undefined ? input.text : askAtOnce(redactor, input);
    call.report(text === null ? numbers : { ...numbers, message: cleaner(text) });
  };
}

/** The top-level members that a redactor changed without saying so. */
const changedFields = (before: JsonObject, after: JsonObject): readonly string[] =>
  Object.keys(before).filter(
    (name) =>
      !Object.hasOwn(after, name) || JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
