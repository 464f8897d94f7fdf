/** The way up: nothing of a result is handed out before all of it was looked at. */

import { inspect } from 'node:util';
import { annotate, causeOf, fail, isRendered, ok, withResult } from '../core/onion/results.ts';
import type { JsonObject, JsonValue } from '../core/json/json-value.ts';
import { canonicalJson } from '../core/json/canonical.ts';
import type { ContentBlock } from '../core/contract/content.ts';
import type { ToolResult } from '../core/contract/result.ts';
import { ABORTED, askRedactor, type RedactionAnswer, type Redactor } from './ask-redactor.ts';
import type { CleanedCall } from './clean-call.ts';
import { type Literals, removedBetween } from './literals.ts';
import type { Rules } from './rules.ts';
import { putBack, type ResultSurfaces, surfacesOf } from './surfaces.ts';
import { isClean } from './survey.ts';
import { type Found, NOTHING_FOUND, sweep } from './sweep.ts';
import { textCleaner, wait, type Work } from './scan.ts';

export interface CleanedResult extends Omit<Found, 'literals'> {
  readonly result: ToolResult;
}

/** Throws where it cannot be said what must be hidden. */
export function* cleanResult(
  answered: ToolResult,
  sent: CleanedCall,
  rules: Rules,
  redactor: Redactor | undefined,
): Work<CleanedResult | typeof ABORTED> {
  const taken = surfacesOf(answered, sent.paths, sent.args, rules.canCover);
  // What was hidden in the arguments has to be looked for, too.
  const first: Swept =
    sent.literals.size === 0 && isClean(taken.surfaces, rules)
      ? {
          result: answered,
          fields: NOTHING_FOUND.fields,
          counts: NOTHING_FOUND.counts,
          blocked: false,
          literals: NOTHING_FOUND.literals,
        }
      : yield* swept(answered, taken, sent, rules, sent.literals);
  const last =
    redactor === undefined || first.blocked
      ? first
      : yield* askedAbout(first, sent, rules, redactor);
  if (last === ABORTED) return ABORTED;
  const cleaned = last.result.ok ? last : withCleanCause(last, sent, rules, last.literals);
  if (cleaned.blocked || cleaned.result.audit?.handoff === undefined) return cleaned;
  return { ...cleaned, result: yield* cleanHandoff(cleaned.result, sent, rules, last.literals) };
}

interface Swept extends CleanedResult {
  readonly literals: Literals;
}

function* askedAbout(
  first: Swept,
  sent: CleanedCall,
  rules: Rules,
  redactor: Redactor,
): Work<Swept | typeof ABORTED> {
  const { result } = first;
  const text = result.ok && isRendered(result) ? null : result.renderedResult;
  const input = {
    phase: 'out',
    toolName: sent.call.toolName,
    args: result.arguments,
    result: result.result,
    text,
  } as const;
  const answer = yield* wait(askRedactor(redactor, input, sent.call.signal));
  if (answer === ABORTED) return ABORTED;
  const custom = answerOf(result, answer, sent);
  const taken = surfacesOf(custom.result, sent.paths, sent.args, rules.canCover);
  const known = new Map([...first.literals, ...custom.removed]);
  const second = yield* swept(custom.result, taken, sent, rules, known);
  const fields = [...first.fields, ...custom.fields, ...second.fields];
  return { ...second, fields, counts: { ...first.counts, ...second.counts } };
}

/** What was written anew from cleaned values is looked at like everything else. */
function* swept(
  before: ToolResult,
  taken: ResultSurfaces,
  sent: CleanedCall,
  rules: Rules,
  known: Literals,
): Work<Swept> {
  const first = yield* sweep(taken.surfaces, rules, known);
  const result = putBack(before, taken, first);
  const { counts, blocked, literals } = first;
  if (result === before || blocked)
    return {
      result,
      fields: blocked ? fieldsOf(before, first.paths) : [],
      counts,
      blocked,
      literals,
    };
  const again = surfacesOf(result, sent.paths, sent.args, rules.canCover);
  const last = yield* sweep(again.surfaces, rules, literals, first.written);
  return {
    result: putBack(result, again, last),
    fields: fieldsOf(before, first.paths),
    counts,
    blocked: last.blocked,
    literals: last.literals,
  };
}

const SURFACES = ['', 'content', 'renderedResult', 'error', 'arguments', 'interruption.shown', ''];

/**
 * Paths as the record has them: those of the value as they are, others with the name of their
 * surface.
 */
function fieldsOf(before: ToolResult, paths: readonly (readonly string[])[]): readonly string[] {
  const isRepeated =
    isRendered(before) &&
    paths.some((own, index) => own.length > 0 && !TEXTS.has(SURFACES[index] ?? ''));
  const named = paths.flatMap((own, index) => {
    const surface = SURFACES[index] ?? '';
    if (isRepeated && TEXTS.has(surface)) return [];
    return own.map((path) =>
      surface === '' || path === ''
        ? path + surface
        : `${surface}${path.startsWith('[') ? '' : '.'}${path}`,
    );
  });
  return [...new Set(named.map((path) => (path === '' ? 'result' : path)))];
}

/** Written out from the value: no places of their own. */
const TEXTS: ReadonlySet<string> = new Set(['content', 'renderedResult']);

/** The result as a redactor wants it, and what is gone from it. */
function answerOf(before: ToolResult, answer: RedactionAnswer, sent: CleanedCall) {
  // A frozen copy; `ok` makes one of everything that is JSON and throws
  // for the rest.
  const value = answer.result === undefined ? before.result : ok(sent.call, answer.result).result;
  const text = answer.text ?? before.renderedResult;
  const isNew = value !== before.result && JSON.stringify(value) !== JSON.stringify(before.result);
  const gone = [
    ...removedBetween(before.result, value),
    ...removedBetween(before.renderedResult, text),
  ];
  const removed = gone.map((found) => [found, { label: 'custom', group: 'redactor' }] as const);
  const revalued = isNew ? withValue(before, value) : before;
  const result = text === before.renderedResult ? revalued : withText(revalued, text);
  const rearranged =
    answer.args === undefined ? result : withResult(result, { arguments: answer.args });
  return {
    result: rearranged,
    removed,
    fields: answer.redactedFields ?? (isNew ? ['result'] : []),
  };
}

function withValue(before: ToolResult, value: JsonValue): ToolResult {
  if (before.ok && isRendered(before)) return withResult(before, { result: value });
  const written = canonicalJson(before.result);
  const rewritten = (text: string) => (isJsonOf(text, written) ? JSON.stringify(value) : text);
  const content = before.content.map((block) =>
    block.type === 'text' ? { ...block, text: rewritten(block.text) } : block,
  );
  return withResult(before, {
    result: value,
    content,
    renderedResult: rewritten(before.renderedResult),
  });
}

/** Servers write the structured value a second time as text. */
function isJsonOf(text: string, canonical: string): boolean {
  try {
    return /^\s*[[{]/.test(text) && canonicalJson(JSON.parse(text)) === canonical;
  } catch {
    return false;
  }
}

function withText(before: ToolResult, text: string): ToolResult {
  const others = before.content.filter(
    (block) => block.type !== 'text' && block.type !== 'resource',
  );
  const content: readonly ContentBlock[] = [{ type: 'text', text }, ...others];
  return withResult(before, {
    content,
    renderedResult: text,
    ...(before.ok ? {} : { error: text }),
  });
}

/**
 * The error behind a failure is for the host's own logs, which are read by others than the secret
 * was meant for.
 */
function withCleanCause(
  cleaned: CleanedResult,
  sent: CleanedCall,
  rules: Rules,
  literals: Literals,
): CleanedResult {
  const { result } = cleaned;
  const cause = causeOf(result);
  if (cause === undefined || cause === null) return cleaned;
  const clean = textCleaner(rules, literals);
  const text = inspected(cause);
  if (text !== null && clean(text) === text) return cleaned;
  const {
    status,
    error,
    errorCategory,
    errorClass,
    content,
    renderedResult,
    executor,
    approval,
    outputFiles,
    interruption,
    metadata,
  } = result;
  const harmless = new Error(error ?? 'the cause was withheld');
  const failed = fail(sent.call, status, harmless, error ?? '', {
    category: errorCategory ?? status,
    ...(errorClass === null ? {} : { errorClass }),
  });
  const rest = {
    executor,
    approval,
    outputFiles,
    arguments: result.arguments,
    result: result.result,
  };
  const optional = {
    ...(interruption === undefined ? {} : { interruption }),
    ...(metadata === undefined ? {} : { metadata }),
  };
  const texts = isRendered(result) ? {} : { content, renderedResult };
  return { ...cleaned, result: withResult(failed, { ...rest, ...optional, ...texts }) };
}

/**
 * Everything an error would show in a log, getters and custom printers left alone; `null` where it
 * cannot be printed.
 */
function inspected(cause: unknown): string | null {
  try {
    return inspect(cause, {
      depth: 6,
      customInspect: false,
      getters: false,
      maxArrayLength: 1_000,
      maxStringLength: 100_000,
    });
  } catch {
    return null;
  }
}

/**
 * The handoff in the audit record is a copy of a part of the result, made further in: it is cleaned
 * like the result itself.
 */
function* cleanHandoff(
  result: ToolResult,
  sent: CleanedCall,
  rules: Rules,
  literals: Literals,
): Work<ToolResult> {
  const handoff = result.audit?.handoff;
  if (handoff === undefined) return result;
  // Paths may be written for the record by itself, or for the result that it was a member of.
  const alone = yield* sweep([{ value: handoff, paths: sent.paths }], rules, literals);
  const [record = null] = alone.values;
  const within = yield* sweep(
    [{ value: { handoff: record }, paths: sent.paths }],
    rules,
    alone.literals,
  );
  if (alone.blocked || within.blocked) return withoutHandoff(result);
  // A cleaned object is an object.
  const { handoff: clean } = within.values[0] as { handoff: JsonObject };
  if (clean === handoff) return result;
  const { policyOverride, ...rest } = clean;
  // A policy of which something was hidden may have lost a restriction.
  const isSame = JSON.stringify(policyOverride) === JSON.stringify(handoff.policyOverride);
  return annotate(result, { handoff: isSame ? clean : rest });
}

/** Where the result is withheld, its handoff is too. */
export function withoutHandoff(result: ToolResult): ToolResult {
  const handoff = result.audit?.handoff;
  return handoff === undefined
    ? result
    : annotate(result, {
        handoff: { ...(handoff.id === undefined ? {} : { id: handoff.id }), withheld: true },
      });
}
