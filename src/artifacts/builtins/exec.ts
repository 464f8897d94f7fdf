/** `exec.run`: one program, without a shell, inside the workspace. */

import { delimiter, isAbsolute, join } from 'node:path';
import { systemClock } from '../../core/time/clock.ts';
import { errnoOf, translated } from '../../jail/jail-error.ts';
import { partsOf } from '../../jail/path-parts.ts';
import { findRoot, inFolder } from '../../jail/walk.ts';
import { isHarmlessForPrograms } from '../../permissions/command/shell-variables.ts';
import type { ProposedRequest } from '../../permissions/permission.ts';
import type { HostTree } from '../sandbox/host-function.ts';
import { type BuiltinGrants, type BuiltinUse, MAX_OUTPUT_BYTES } from './builtin-use.ts';
import type { BuiltinCall, DefineBuiltin } from './define-builtin.ts';
import { type Command, type CommandOutcome, endOfCommand, startCommand } from './run-command.ts';

const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_TIMEOUT_MS = 3_600_000;

/** `exec.run(cmd, args=[], timeout_ms=30000, stdin="", env={}, cwd="")` */
export function execBuiltins(
  grants: BuiltinGrants,
  use: BuiltinUse,
  define: DefineBuiltin,
): HostTree {
  const run = define(
    'exec.run',
    ['cmd', 'args', 'timeout_ms', 'stdin', 'env', 'cwd'],
    async (given, call) => {
      if (grants.workspace === undefined)
        throw call.error('not granted: there is no workspace to run programs in');
      const [cmd, args, cwd] = [given.text('cmd'), given.texts('args'), given.text('cwd', '')];
      const extra = given.textMap('env');
      const command: Command = {
        argv: argvOf(cmd, args, grants, call),
        env: environmentOf(extra, grants, call),
        stdin: given.text('stdin', ''),
        timeoutMs: given.integer('timeout_ms', {
          min: 1,
          max: MAX_TIMEOUT_MS,
          otherwise: DEFAULT_TIMEOUT_MS,
        }),
        maxOutputBytes: grants.maxOutputBytes ?? MAX_OUTPUT_BYTES,
        signal: call.signal,
        clock: use.clock ?? systemClock,
      };
      const root = findRoot(grants.workspace);
      const parts = [...partsOf(grants.folder ?? '.'), ...(cwd === '' ? [] : partsOf(cwd))];
      await call.ask(
        requestOf(cmd, args, {
          cwd: join(root.path, ...parts),
          names: Object.keys(extra),
          shell: grants.shell === true,
        }),
      );
      // Held open while the program is started: what its path leads to by then does not matter.
      const child = await translated(
        inFolder(root, parts, async (folder) => startCommand(command, folder)),
      );
      return shown(
        await endOfCommand(child, command).catch((thrown: unknown) => failed(thrown, call)),
      );
    },
  );
  return { run };
}

const shown = ({ stdout, stderr, exitCode, timedOut }: CommandOutcome) => ({
  stdout,
  stderr,
  exit_code: exitCode,
  timed_out: timedOut,
});

function failed(thrown: unknown, call: BuiltinCall): never {
  if (call.signal.aborted) throw call.error('cancelled');
  throw call.error(`the program could not be started (${errnoOf(thrown) || 'unknown'})`);
}

/**
 * A line for a shell only where the tool was granted one, and only without `args`: then nothing has
 * to be quoted.
 */
function argvOf(
  cmd: string,
  args: readonly string[],
  { shell }: BuiltinGrants,
  call: BuiltinCall,
): Command['argv'] {
  if (cmd === '') throw call.error('"cmd" must not be empty');
  if ([cmd, ...args].some((word) => word.includes('\0')))
    throw call.error('"cmd" and "args" must be without NUL');
  return shell === true && args.length === 0 ? ['/bin/sh', '-c', cmd] : [cmd, ...args];
}

/** Of the environment only names are told: values may be secrets. */
function requestOf(
  cmd: string,
  args: readonly string[],
  {
    cwd,
    names,
    shell,
  }: { readonly cwd: string; readonly names: readonly string[]; readonly shell: boolean },
): ProposedRequest {
  const where = {
    cwd,
    ...(names.length === 0 ? {} : { env: Object.fromEntries(names.map((name) => [name, ''])) }),
  };
  return shell && args.length === 0
    ? { kind: 'process.command', command: cmd, ...where }
    : { kind: 'process.command', argv: [cmd, ...args], ...where };
}

/**
 * The search path, how output looks, and what was granted: nothing else of the host's, and nothing
 * that loads code.
 */
function environmentOf(
  extra: Readonly<Record<string, string>>,
  grants: BuiltinGrants,
  call: BuiltinCall,
): Readonly<Record<string, string>> {
  const { env: granted = [], environment = process.env } = grants;
  const isAllowed = (name: string): boolean =>
    granted.includes(name) || isHarmlessForPrograms(name);
  for (const [name, value] of Object.entries(extra)) {
    if (!isAllowed(name))
      throw call.error(
        `the variable ${JSON.stringify(name)} is not granted; granted: ${granted.join(', ') || 'none'}`,
      );
    if (value.includes('\0')) throw call.error('values of "env" must be without NUL');
  }
  const inherited = Object.entries(environment).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (isInherited(entry[0]) || granted.includes(entry[0])),
  );
  const path = (environment.PATH ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  return { ...Object.fromEntries(inherited), PATH: path.join(delimiter), ...extra };
}

const isInherited = (name: string): boolean =>
  name === 'LANG' || name === 'TZ' || name.startsWith('LC_');
