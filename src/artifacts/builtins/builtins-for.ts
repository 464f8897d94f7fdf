/** The built-ins of one call: what its script finds beside the language. */

import { checkOptions, type Expectation, expected } from '../../core/contract/options.ts';
import type { HostTree } from '../sandbox/host-function.ts';
import type { BuiltinGrants, BuiltinUse } from './builtin-use.ts';
import { delegateBuiltin, metaBuiltins, taskBuiltins } from './small-builtins.ts';
import { definer } from './define-builtin.ts';
import { execBuiltins } from './exec.ts';
import { fileBuiltins } from './files.ts';
import { httpBuiltins } from './http.ts';
import {
  cacheBuiltins,
  decisionBuiltins,
  envBuiltins,
  logBuiltins,
  timeBuiltins,
} from './small-builtins.ts';

const text: Expectation = expected.string;
const EXPECTED: Readonly<Record<keyof BuiltinGrants, Expectation>> = Object.freeze({
  workspace: text,
  folder: text,
  protect: expected.listOf(text),
  allowedDomains: expected.listOf(text),
  allowedPorts: expected.listOf(expected.integer(1)),
  env: expected.listOf(text),
  shell: expected.boolean,
  meta: expected.boolean,
  allowPrivateNetwork: { text: 'false: there is no such grant', test: (value) => value === false },
  maxOutputBytes: expected.integer(1),
  allowLoopback: expected.listOf(text),
  lookup: expected.function,
  environment: expected.object,
});

/**
 * Every name that a tool's or a hook's script finds. All are always there: one that was not granted
 * says so when it is called.
 */
export const BUILTIN_NAMES = Object.freeze([
  ...(['exec', 'fs', 'http', 'task', 'cache', 'log', 'time', 'env', 'meta'] as const),
  ...(['delegate', 'block', 'allow', 'modify'] as const),
]);

/** Throws `ERR_INVALID_OPTION` for grants that cannot be meant. */
export function builtinsFor(
  grants: BuiltinGrants,
  use: BuiltinUse,
): Readonly<Record<(typeof BUILTIN_NAMES)[number], HostTree>> {
  checkOptions('builtins', grants, EXPECTED);
  const define = definer(use);
  return Object.freeze({
    exec: execBuiltins(grants, use, define),
    fs: fileBuiltins(grants, define),
    http: httpBuiltins(grants, use, define),
    task: taskBuiltins(use, define),
    cache: cacheBuiltins(use, define),
    log: logBuiltins(use, define),
    time: timeBuiltins(use, define),
    env: envBuiltins(grants, define),
    meta: metaBuiltins(grants, use, define),
    delegate: delegateBuiltin(use, define),
    ...decisionBuiltins(define),
  });
}
