/** Where two interpreters part over one program. */

import type { Failure, Outcome } from './outcome.ts';

/** One difference: what it is about, and both sides of it. */
export interface Difference {
  readonly about: string;
  readonly native: string;
  readonly here: string;
}

/**
 * Whether the native outcome says nothing about the language: its own step limit, or its own crash.
 */
export const saysNothing = ({ error }: Outcome): boolean =>
  error?.kind === 'steps' || error?.kind === 'panic' || error?.kind === 'other';

/** Every difference between the outcomes of one program. */
export function compareOutcomes(native: Outcome, here: Outcome): readonly Difference[] {
  return [
    ...differ('what is printed', JSON.stringify(native.prints), JSON.stringify(here.prints)),
    ...(native.ok === here.ok
      ? []
      : [{ about: 'whether it fails', native: summaryOf(native), here: summaryOf(here) }]),
    ...(native.ok && here.ok ? globalDifferences(native, here) : []),
    ...(native.error !== undefined && here.error !== undefined
      ? errorDifferences(native.error, here.error)
      : []),
  ];
}

const differ = (about: string, native: string, here: string): readonly Difference[] =>
  native === here ? [] : [{ about, native, here }];

const summaryOf = ({ ok, error }: Outcome): string =>
  ok || error === undefined ? 'it ends well' : errorText(error);
const errorText = ({ kind, text, line, column }: Failure): string =>
  `${kind} error at ${line}:${column}: ${text}`;

function globalDifferences(native: Outcome, here: Outcome): readonly Difference[] {
  const names = [...new Set([...Object.keys(native.globals), ...Object.keys(here.globals)])].sort();
  return names.flatMap((name) =>
    differ(
      `global ${name}`,
      native.globals[name] ?? 'is not there',
      here.globals[name] ?? 'is not there',
    ),
  );
}

function errorDifferences(native: Failure, here: Failure): readonly Difference[] {
  if (native.all !== undefined && here.all !== undefined)
    return differ('the errors of the resolver', listOf(native.all), listOf(here.all));
  const found = [
    ...differ('the kind of error', native.kind, here.kind),
    ...(isHint(native.text, here.text)
      ? []
      : differ('the text of the error', native.text, here.text)),
    ...differ(
      'the place of the error',
      `${native.line}:${native.column}`,
      `${here.line}:${here.column}`,
    ),
  ];
  return found.length > 0 ? found : differ('the traceback', traceOf(native), traceOf(here));
}

/**
 * Words of Python that Starlark has not are named here, where the native one says only that it
 * wanted something else.
 */
const isHint = (native: string, here: string): boolean =>
  /^(?:got (?:illegal token|string literal), want |not an identifier$)/.test(native) &&
  here.startsWith('this Starlark dialect does not support ');

/**
 * Both resolvers go on after the first mistake; in which order they meet them is their own matter.
 */
const listOf = (errors: NonNullable<Failure['all']>): string =>
  errors
    .map(({ text, line, column }) => `${line}:${column}: ${text}`)
    .sort()
    .join('\n');

const traceOf = ({ stack = [] }: Failure): string =>
  stack.map(({ name, line, column }) => `${name} ${line}:${column}`).join(', ');
