/**
 * The assertions that the native interpreter's test data is written with, for our interpreter:
 * `assert` and `freeze`.
 */

import { RE2JS } from 're2js';
import {
  builtin,
  callValue,
  compileStarlark,
  namespace,
  newThread,
  runProgram,
  StarlarkError,
  type Value,
} from '../../../src/starlark/index.ts';
import { freeze } from '../../../src/starlark/convert.ts';
import { decode } from './outcome.ts';

/** In the language itself, so that each assertion also goes through its operators. */
const SOURCE = `
def eq(x, y):
    if not (x == y):
        complain("got %r, want %r" % (x, y))

def ne(x, y):
    if not (x != y):
        complain("both are %r" % (x,))

def true(holds, message = "it does not hold"):
    if not holds:
        complain(message)

def lt(x, y):
    if not (x < y):
        complain("%r is not below %r" % (x, y))

def contains(container, item):
    if item not in container:
        complain("%r is not in %r" % (item, container))

def fails(function, pattern):
    message = error_of(function)
    if message == None:
        complain("no error that matches %r" % (pattern,))
    elif not is_match(pattern, message):
        complain("the error %r does not match %r" % (message, pattern))
`;

const MEMBERS = ['eq', 'ne', 'true', 'lt', 'contains', 'fails'];

/**
 * What to predeclare. Assertions that do not hold are told to `complain`; the program goes on, as
 * it does natively.
 */
export function assertModule(complain: (text: string) => void): ReadonlyMap<string, Value> {
  const helpers = new Map<string, Value>([
    ['complain', builtin('complain', (_thread, [text]) => tell(complain, text))],
    ['is_match', builtin('is_match', (_thread, [pattern, text]) => matches(pattern, text))],
    [
      'error_of',
      builtin('error_of', (thread, [function_ = null]) =>
        errorOf(() => callValue(thread, function_, [], null)),
      ),
    ],
  ]);
  const program = compileStarlark(SOURCE, { file: 'assert', predeclared: [...helpers.keys()] });
  const globals = runProgram(program, { predeclared: helpers, thread: newThread() });
  const members = MEMBERS.map((name) => [name, globals.get(name) ?? null] as const);
  const fail = builtin('fail', (_thread, [text]) => tell(complain, text));
  return new Map<string, Value>([
    ['assert', namespace('assert', { ...Object.fromEntries(members), fail })],
    ['freeze', builtin('freeze', (_thread, [value = null]) => (freeze([value]), value))],
  ]);
}

function tell(complain: (text: string) => void, text: Value | undefined): null {
  complain(typeof text === 'string' ? decode(text) : 'something that is no text');
  return null;
}

const matches = (pattern: Value | undefined, text: Value | undefined): boolean =>
  typeof pattern === 'string' &&
  typeof text === 'string' &&
  RE2JS.compile(decode(pattern)).matcher(decode(text)).find();

function errorOf(run: () => Value): Value {
  try {
    run();
    return null;
  } catch (error) {
    if (!(error instanceof StarlarkError)) throw error;
    return Buffer.from(error.message, 'utf8').toString('latin1');
  }
}
