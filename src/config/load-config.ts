/** `loadConfig`: a file becomes a stack around tools. */

import { dirname, extname, relative, resolve } from 'node:path';
import type {
  DispatchLimits,
  GovernedTools,
  GovernOptions,
  Registry,
  Tool,
  ToolLayer,
  Turn,
} from '../index.ts';
import { isObject } from '../core/json/json.ts';
import { checkOptions, expected } from '../layer.ts';
import { inStateFolder, stateFolder } from '../system/state-folder.ts';
import { artifactProject } from './artifact-project.ts';
import {
  assemble,
  type NotifySettings,
  type Parts,
  type ProxySettings,
  type Settings,
} from './assemble.ts';
import { describeStack, type StackDescription } from './describe-stack.ts';
import { drawStack } from './draw-stack.ts';
import { findConfig } from './find-config.ts';
import { govern, warnOfUnfiredHooks } from './govern.ts';
import { type Environment, interpolate } from './interpolate.ts';
import { loadModule } from './load-module.ts';
import { loadReferences } from './load-references.ts';
import { loadTools } from './load-tools.ts';
import { invalidConfig, pathText, type Problem, type Report } from './problem.ts';
import { readSource, type Source } from './read-source.ts';
import { checkData } from './schema/check-data.ts';

/** How a file is read. */
export interface LoadOptions {
  /** Variables for `${NAME}`. @default those of the process */
  readonly env?: Environment;
  /** What the path is relative to. @default the working directory */
  readonly cwd?: string;
  /**
   * Where the state folder is if the file does not say, relative to the file. @default `.allium` in
   * the working directory
   */
  readonly stateDir?: string;
}

/** A file that was read: everything is built, nothing runs yet. */
export interface LoadedConfig {
  readonly file: string;
  /** Outermost first. */
  readonly layers: readonly ToolLayer[];
  readonly tools: Registry;
  /** What calls belong to where a host says nothing else. */
  readonly session: Partial<Turn>;
  /** The state folder. */
  readonly stateDir: string;
  readonly limits: DispatchLimits;
  /** What the file says for `allium proxy`. */
  readonly proxy: ProxySettings;
  /** How the commands that ask people tell them of a call that waits. Absent: nobody is told. */
  readonly notify?: NotifySettings;
  /** Makes a dispatcher. All dispatchers of a file share its layers: closing one closes them. */
  govern(overrides?: Partial<GovernOptions>): GovernedTools;
  /** Draws the stack for people. */
  explain(tool?: string, upstream?: readonly Tool[]): string;
  /**
   * What `explain` draws, as data. `upstream` are tools that a proxy with this stack would serve.
   */
  describe(tool?: string, upstream?: readonly Tool[]): StackDescription;
  /** Closes the dispatchers that were made, the layers, and the servers whose tools they are. */
  close(): Promise<void>;
}

/**
 * Reads a file, or the one in a folder, and builds what it says. Throws one `ERR_INVALID_CONFIG`
 * with a line for everything that is wrong, and no line holds a value that came from a variable. It
 * runs the modules that the file names: a file is as trusted as code.
 */
export async function loadConfig(
  fileOrFolder = '.',
  options: LoadOptions = {},
): Promise<LoadedConfig> {
  checkOptions('loadConfig', options, {
    env: expected.object,
    cwd: expected.string,
    stateDir: expected.string,
  });
  const { env = process.env, cwd = process.cwd() } = options;
  const project = await artifactProject(resolve(cwd, fileOrFolder));
  const file = project === null ? findConfig(fileOrFolder, cwd) : project.file;
  // A project without a file is named by its folder.
  const named = project === null ? file : dirname(file);
  const shown = relative(cwd, named).startsWith('..') ? named : relative(cwd, named) || '.';
  const source = project === null ? await sourceOf(file, shown) : project.source;
  const problems: Problem[] = [];
  const report: Report = (path, message, at = 'value') => void problems.push({ path, message, at });

  const { data, conceal } = interpolate(source.data, env, report);
  const settings = settingsOf(data, report);
  const parts = await build(
    withState(settings, options.stateDir),
    dirname(file),
    report,
    () => problems.length === 0,
  );
  if (problems.length > 0) {
    await settle([...parts.built.map(({ layer }) => layer), ...parts.servers]);
    throw invalidConfig(linesOf(problems, source, shown, conceal), { path: file });
  }
  await warnOfUnfiredHooks(settings.layers);
  return finished(parts, { file, shown, isFolder: project !== null, conceal });
}

async function sourceOf(file: string, shown: string): Promise<Source> {
  const extension = extname(file);
  if (/^\.[cm]?[jt]s$/.test(extension))
    return { data: await dataOf(file, shown), mistakes: [], positionOf: () => null };
  if (!['.yaml', '.yml', '.json'].includes(extension))
    throw invalidConfig([`${shown}: a file ends in .yaml, .yml, .json, .ts or .js`], {
      path: file,
    });
  const source = readSource(file, extension === '.json');
  if (source.mistakes.length === 0) return source;
  const lines = source.mistakes.map(
    ({ message, position }) =>
      `${shown}${position === null ? '' : `:${position.line}:${position.column}`}: ${message}`,
  );
  throw invalidConfig(lines, { path: file });
}

async function dataOf(file: string, shown: string): Promise<unknown> {
  const exports = await loadModule(file, dirname(file));
  if (Object.hasOwn(exports, 'default')) return exports.default;
  throw invalidConfig([`${shown}: the module has no default export`], { path: file });
}

/** The parts of the file that are what they should be; the rest is reported. */
function settingsOf(data: unknown, report: Report): Settings {
  if (!isObject(data)) {
    report([], 'the file must be an object with "version" and "layers"');
    return { layers: [], tools: [] };
  }
  checkData('top', 'the file', data, [], report);
  const { layers, tools } = data;
  // Where a part is wrong it was reported, and nothing is made of it in the end.
  return {
    ...(data as Partial<Settings>),
    layers: Array.isArray(layers) ? layers : [],
    tools: Array.isArray(tools) ? tools : [],
  };
}

const withState = (settings: Settings, dir: string | undefined): Settings =>
  dir === undefined || settings.state !== undefined ? settings : { ...settings, state: { dir } };

async function build(
  settings: Settings,
  folder: string,
  report: Report,
  isClean: () => boolean,
): Promise<Parts> {
  const references = await loadReferences(settings.layers, folder);
  const { tools, servers, hooked } = await loadTools(settings.tools, folder, ['tools'], report);
  // Hooks that nobody runs look like guards and are none.
  if (!settings.layers.some(runsHooks)) for (const path of hooked) report(path, NO_HOOKS);
  const dir =
    isObject(settings.state) && typeof settings.state.dir === 'string'
      ? resolve(folder, settings.state.dir)
      : stateFolder();
  try {
    const build = () => ({
      ...assemble(settings, { references, tools, report, isClean }),
      stateDir: stateFolder(),
    });
    return { ...inStateFolder(dir, build), workspace: folder, servers };
  } catch (thrown) {
    await settle(servers);
    throw thrown;
  }
}

const NO_HOOKS =
  'the project has hooks, and no layer runs them; add "- hooks: { dir: … }" to the layers';
const runsHooks = (entry: unknown): boolean =>
  isObject(entry) && (Object.hasOwn(entry, 'hooks') || entry.name === 'hooks');

function linesOf(
  problems: readonly Problem[],
  source: Source,
  shown: string,
  conceal: (text: string) => string,
): readonly string[] {
  return problems
    .map(({ path, message, at }) => ({
      path,
      message: conceal(message),
      position: source.positionOf(path, at),
    }))
    .sort(
      (a, b) =>
        (a.position?.line ?? 0) - (b.position?.line ?? 0) ||
        (a.position?.column ?? 0) - (b.position?.column ?? 0),
    )
    .map(({ path, message, position }) => {
      const inside = path.length === 0 ? '' : ` ${pathText(path)}:`;
      const place = position === null ? inside : `${position.line}:${position.column}:`;
      return `${shown}:${place} ${message}`;
    });
}

interface Naming {
  readonly file: string;
  readonly shown: string;
  /** There is no file: `shown` is the folder. */
  readonly isFolder: boolean;
  readonly conceal: (text: string) => string;
}

function finished(parts: Parts, { file, shown, isFolder, conceal }: Naming): LoadedConfig {
  const { built, tools, session, stateDir, servers, dispatch, proxy } = parts;
  const { limits = {} } = dispatch;
  const layers = Object.freeze(built.map(({ layer }) => layer));
  const made: GovernedTools[] = [];
  const describe: LoadedConfig['describe'] = (tool, upstream = []) =>
    describeStack(parts, shown, conceal, { tool, upstream, isFolder });
  const config: LoadedConfig = {
    file,
    layers,
    tools,
    session,
    stateDir,
    limits,
    proxy,
    describe,
    ...(parts.notify === undefined ? {} : { notify: parts.notify }),
    govern(overrides = {}) {
      const governed = govern(parts, overrides);
      made.push(governed);
      return governed;
    },
    explain: (tool, upstream) => drawStack(describe(tool, upstream)),
    async close() {
      // Calls that are under way still need the layers.
      const ended = [
        ...(await settle(made)),
        ...(await settle(layers)),
        ...(await settle(servers)),
      ];
      const failed = ended.find(({ status }) => status === 'rejected');
      if (failed?.status === 'rejected') throw failed.reason;
    },
  };
  return Object.freeze(config);
}

const settle = (parts: readonly { close?: () => Promise<void> }[]) =>
  Promise.allSettled(parts.map(async (part) => part.close?.()));
