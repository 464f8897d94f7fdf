/** The way down: arguments are looked at before anything inside sees them. */

import type { ToolAnnotations } from '../core/contract/annotations.ts';
import { AlliumError } from '../core/contract/errors.ts';
import type { Scrub } from '../core/contract/layer.ts';
import type { JsonObject } from '../core/json/json-value.ts';
import { withCall } from '../core/onion/own-call.ts';
import type { ToolCall, ToolProgress } from '../core/contract/call.ts';
import { ABORTED, askAtOnce, askRedactor, type Redactor } from './ask-redactor.ts';
import { type Literals, removedBetween } from './literals.ts';
import { parsePath, type Path } from './paths.ts';
import type { Rules } from './rules.ts';
import { isClean } from './survey.ts';
import { type Found, NOTHING_FOUND, sweep } from './sweep.ts';
import { textCleaner, wait, type Work } from './scan.ts';

/** What has been found in a call so far. */
export interface CleanedCall extends Found {
  /**
   * The call as it goes on: with cleaned arguments, or with its own where findings are only
   * reported.
   */
  readonly call: ToolCall;
  /** The arguments as they may be shown. */
  readonly args: JsonObject;
  readonly paths: readonly Path[];
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
  const own = call.annotations.safety?.redaction;
  const paths = own === undefined ? rules.paths : [...rules.paths, ...pathsFor(own, call)];
  const args = call.toolArgs;
  const first = isClean([{ value: args, paths }], rules)
    ? { args, found: NOTHING_FOUND }
    : yield* sweepArgs(call, args, paths, rules);
  const last =
    redactor === undefined || first.found.blocked
      ? first
      : yield* askedAbout(call, first, paths, rules, redactor);
  return last === ABORTED ? ABORTED : cleaned(call, last, paths, rules, redactor, incoming);
}

interface SweptArgs {
  readonly args: JsonObject;
  readonly found: Found;
}

function* sweepArgs(
  call: ToolCall,
  args: JsonObject,
  paths: readonly Path[],
  rules: Rules,
  known?: Literals,
): Work<SweptArgs> {
  const swept = yield* sweep([{ value: args, paths }], rules, known);
  const { counts, blocked, literals } = swept;
  const clean = swept.values[0] as JsonObject; // A cleaned object is an object.
  const kept = clean === args ? args : withCall(call, { toolArgs: clean }).toolArgs;
  return { args: kept, found: { fields: swept.paths[0] ?? [], counts, blocked, literals } };
}

function* askedAbout(
  call: ToolCall,
  { args, found }: SweptArgs,
  paths: readonly Path[],
  rules: Rules,
  redactor: Redactor,
): Work<SweptArgs | typeof ABORTED> {
  const input = { phase: 'in', toolName: call.toolName, args, result: null, text: null } as const;
  const answer = yield* wait(askRedactor(redactor, input, call.signal));
  if (answer === ABORTED) return ABORTED;
  // A frozen copy, whatever the redactor keeps of its answer.
  const given =
    answer.args === undefined ? args : withCall(call, { toolArgs: answer.args }).toolArgs;
  const custom = { label: 'custom', group: 'redactor' } as const;
  const removed = [...removedBetween(args, given)].map((value) => [value, custom] as const);
  const known = new Map([...found.literals, ...removed]);
  const second = yield* sweepArgs(call, given, paths, rules, known);
  const fields = [
    ...found.fields,
    ...(answer.redactedFields ?? changedFields(args, given)),
    ...second.found.fields,
  ];
  const counts = { ...found.counts, ...second.found.counts };
  return { args: second.args, found: { ...second.found, fields, counts } };
}

function cleaned(
  call: ToolCall,
  { args, found }: SweptArgs,
  paths: readonly Path[],
  rules: Rules,
  redactor: Redactor | undefined,
  incoming: Incoming,
): CleanedCall {
  const { fields, counts, blocked, literals } = found;
  let cleaner: Scrub | null = null;
  /** What a tool reports while it runs, with its text cleaned. */
  const report = ({ message, ...numbers }: ToolProgress): void => {
    if (message === undefined) return call.report(numbers);
    // Made with the first message: most calls report nothing.
    cleaner ??= textCleaner(rules, literals);
    const { toolName } = call;
    const input = { phase: 'out', toolName, args, result: null, text: cleaner(message) } as const;
    const text = redactor === undefined ? input.text : askAtOnce(redactor, input);
    call.report(text === null ? numbers : { ...numbers, message: cleaner(text) });
  };
  const isSame = incoming === 'report' || args === call.toolArgs;
  const sent = withCall(call, isSame ? { report } : { toolArgs: args, report });
  return { call: sent, args, paths, fields, counts, blocked, literals };
}

const known = new WeakMap<ToolAnnotations, readonly Path[]>();

/** The paths that a tool names itself. Throws where one cannot be read: it hides something. */
function pathsFor(own: readonly string[], { annotations, toolName }: ToolCall): readonly Path[] {
  const read = known.get(annotations) ?? own.map((text) => readPath(text, toolName));
  known.set(annotations, read);
  return read;
}

function readPath(text: unknown, toolName: string): Path {
  const path = typeof text === 'string' ? parsePath(text) : null;
  if (path === null)
    throw new AlliumError('ERR_INVALID_TOOL', 'a redaction path of the tool cannot be read', {
      toolName,
    });
  return path;
}

/** The top-level members that a redactor changed without saying so. */
const changedFields = (before: JsonObject, after: JsonObject): readonly string[] =>
  Object.keys(before).filter(
    (name) =>
      !Object.hasOwn(after, name) || JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
