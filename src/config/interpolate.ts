/** `${NAME}` and `${NAME:-default}` in the strings of a file. */

import { GO_ON, mapData } from './plain-data.ts';
import type { Report } from './problem.ts';

/** The variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

const REFERENCE = /\$\$\{|\$\{([^}]*)(\}?)/g;
const VARIABLE = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([\s\S]*))?$/;

/** What came of it, and a cleaner that takes the values of variables out of a text again. */
interface Interpolated {
  readonly data: unknown;
  readonly conceal: (text: string) => string;
}

/** Fills in variables. Keys are left alone: a variable must not decide what an entry is about. */
export function interpolate(data: unknown, env: Environment, report: Report): Interpolated {
  const taken = new Map<string, string>();
  const filled = mapData(data, [], (value, path) => {
    if (typeof value !== 'string') return GO_ON;
    return value.includes('${')
      ? fill(value, env, taken, (message) => report(path, message))
      : value;
  });
  return { data: filled, conceal: concealing(taken) };
}

function fill(
  text: string,
  env: Environment,
  taken: Map<string, string>,
  report: (message: string) => void,
): string {
  return text.replace(REFERENCE, (whole, inner: string | undefined, end: string | undefined) => {
    if (whole === '$${') return '${';
    const [, name, otherwise] = VARIABLE.exec(inner ?? '') ?? [];
    if (name === undefined || end === '') {
      report(
        '"${" begins a variable, such as ${NAME} or ${NAME:-default}; write "$${" for the two characters',
      );
      return whole;
    }
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (otherwise !== undefined && (value === undefined || value === '')) return otherwise;
    if (value === undefined) report(`the variable ${name} is not set`);
    else if (value !== '') taken.set(value, name);
    return value ?? whole;
  });
}

/**
 * Shorter than this, a value is looked for only where it stands alone: inside of longer words it
 * tells nothing.
 */
const SHORT = 6;

/** Longest first: a value may be part of another. */
function concealing(taken: ReadonlyMap<string, string>): (text: string) => string {
  const values = [...taken.keys()].sort((a, b) => b.length - a.length);
  if (values.length === 0) return (text) => text;
  const escaped = (value: string) => value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const patterns = values.map((value) =>
    value.length < SHORT ? `(?<!\\w)${escaped(value)}(?!\\w)` : escaped(value),
  );
  const pattern = new RegExp(patterns.join('|'), 'g');
  return (text) => text.replace(pattern, (value) => `\${${taken.get(value) ?? ''}}`);
}
