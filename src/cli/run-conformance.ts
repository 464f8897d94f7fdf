/** What `allium conformance` does. */

import { basename, isAbsolute, resolve } from 'node:path';
import { existsSync } from 'node:fs';
import * as conformance from '../../conformance/index.ts';
import {
  builtinSubject,
  commandSubject,
  parseScenario,
  renderReport,
  type ReportFormat,
  runScenarios,
  scenarioFrom,
  type ScenarioResult,
  type Subject,
  suiteFolder,
} from '../../conformance/index.ts';
import { readRecording } from '../../middleware/index.ts';
import { loadModule } from '../config/load-module.ts';
import { AlliumError } from '../index.ts';
import { colourFor, paint } from './io/colour.ts';
import { type CliIo, UsageError } from './io/io.ts';

/** As they come from the command line. */
export interface ConformanceFlags {
  readonly subject?: string;
  readonly command?: string;
  readonly filter?: string;
  readonly from?: string;
  readonly id?: string;
  readonly title?: string;
  readonly json?: true;
  readonly junit?: true;
  readonly tap?: true;
}

/** Runs scenarios, or makes one of a recording. Answers the exit code. */
export async function runConformance(
  path: string | undefined,
  options: ConformanceFlags,
  io: CliIo,
): Promise<number> {
  if (options.from !== undefined) return printScenario(options.from, options, io);
  if (options.id !== undefined || options.title !== undefined)
    throw new UsageError('--id and --title go with --from');
  const format = formatOf(options);
  const subject = await subjectOf(options, io);
  const progress = progressOn(io);
  try {
    const report = await runScenarios(
      path === undefined ? suiteFolder() : resolve(io.cwd, path),
      subject,
      {
        ...(options.filter === undefined ? {} : { filter: options.filter }),
        onResult: progress.tell,
        signal: io.signal,
      },
    );
    progress.clear();
    if (report.total === 0 && !io.signal.aborted)
      throw new UsageError(`no scenario has "${options.filter ?? ''}" in its id or title`);
    const colour = colourFor(io.stdout, io.env);
    io.stdout.write(renderReport(report, format, (style, text) => paint(colour, style, text)));
    if (io.signal.aborted) return 130;
    return report.failed === 0 ? 0 : 1;
  } finally {
    progress.clear();
    await subject.close?.();
  }
}

function printScenario(
  file: string,
  { id, title }: ConformanceFlags,
  { cwd, stdout }: CliIo,
): number {
  const name = basename(file)
    .replace(/\..*$/, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-');
  const text = scenarioFrom(readRecording(resolve(cwd, file)), {
    id: id ?? `recorded.${name}`,
    title: title ?? `the calls recorded in ${basename(file)} come to the same again`,
  });
  // An id or a title that no scenario may have shows here, and not when somebody runs the file.
  parseScenario(text, '--from');
  stdout.write(text);
  return 0;
}

function formatOf({ json, junit, tap }: ConformanceFlags): ReportFormat {
  const chosen = Object.entries({ json, junit, tap }).flatMap(([name, isChosen]) =>
    isChosen === true ? [name as ReportFormat] : [],
  ); // They are its names.
  if (chosen.length > 1) throw new UsageError(`--${chosen.join(' and --')} cannot both be printed`);
  return chosen[0] ?? 'text';
}

async function subjectOf({ subject, command }: ConformanceFlags, { cwd }: CliIo): Promise<Subject> {
  if (subject !== undefined && command !== undefined)
    throw new UsageError('--subject and --command cannot both be judged');
  if (command !== undefined) return commandSubject(command, { cwd });
  return subject === undefined ? builtinSubject : loadSubject(subject, cwd);
}

/** A line that is written over, on a terminal only. */
function progressOn({ stderr }: CliIo): {
  tell: (result: ScenarioResult, nth: number, total: number) => void;
  clear: () => void;
} {
  if (stderr.isTTY !== true) return { tell: () => {}, clear: () => {} };
  return {
    tell: (_, nth, total) => void stderr.write(`\r${nth} of ${total}`),
    clear: () => void stderr.write('\r\u001b[K'),
  };
}

/** The default export of a module: a subject, or what `createSubject` takes. TypeScript is fine. */
async function loadSubject(path: string, cwd: string): Promise<Subject> {
  // `stack.ts` is the file that is there, and not a package of that name.
  const module = !isAbsolute(path) && existsSync(resolve(cwd, path)) ? `./${path}` : path;
  const { default: found } = await loadModule(module, cwd, { 'allium/conformance': conformance });
  if (typeof found === 'object' && found !== null) {
    // It has what a subject is used for.
    if ('open' in found && typeof found.open === 'function') return found as Subject;
    if ('name' in found && typeof found.name === 'string')
      // Looked at when it is used.
      return conformance.createSubject(found as conformance.SubjectOptions);
  }
  throw new AlliumError(
    'ERR_SUBJECT',
    `${path}: the default export must be a subject, or { name, factories?, govern? }`,
  );
}
