/** The tools that a file names. */

import { resolve } from 'node:path';
import { createRegistry, isAlliumError, type Registry, type Tool } from '../index.ts';
import { closest } from '../core/contract/closest.ts';
import { describeThrown } from '../core/contract/errors.ts';
import { isObject } from '../core/json/json.ts';
import { matchesTool } from '../layer.ts';
import type { McpServer } from '../mcp/client/mcp-executor.ts';
import type { ProxyServer } from './assemble.ts';
import { exportOf, loadModule, type ModuleExports, splitReference } from './load-module.ts';
import type { DataPath, Report } from './problem.ts';
import { checkData } from './schema/check-data.ts';
import { TOOL_SOURCES } from './schema/config-schema.ts';
import { defaultLogger } from '../dispatch/logger.ts';
import type { McpTarget } from '../mcp/client/target.ts';

/** What has to be closed when nobody needs the tools any more. */
type Closable = Pick<McpServer, 'close'>;

interface LoadedTools {
  readonly tools: Registry;
  readonly servers: readonly Closable[];
  /** Entries whose projects have hooks, which only a layer runs. */
  readonly hooked: readonly DataPath[];
}

interface Place {
  readonly folder: string;
  readonly path: DataPath;
  readonly report: Report;
  /** Called before anything else can go wrong. */
  readonly opened: (server: Closable) => void;
  /** The project of this entry has hooks. */
  readonly hasHooks: () => void;
}

/** Loads what can be loaded and reports the rest. */
export async function loadTools(
  entries: readonly unknown[],
  folder: string,
  path: DataPath,
  report: Report,
): Promise<LoadedTools> {
  const servers: Closable[] = [];
  const hooked: DataPath[] = [];
  // What an MCP server calls its tools is not ours to choose; the names of others were held to more
  // before.
  let tools = createRegistry([], { names: 'mcp' });
  for (const [index, entry] of entries.entries()) {
    const place = [...path, index];
    try {
      const opened = (server: Closable) => void servers.push(server);
      const hasHooks = () => void hooked.push([...place, 'artifacts']);
      tools = tools.merge(await toolsOf(entry, { folder, path: place, report, opened, hasHooks }));
    } catch (thrown) {
      const isOwn = isAlliumError(thrown);
      report(
        isOwn && thrown.code === 'ERR_INVALID_CONFIG' ? [...place, 'module'] : place,
        isOwn ? thrown.message : describeThrown(thrown),
      );
    }
  }
  return { tools, servers, hooked };
}

interface SourceEntry {
  readonly module?: string;
  readonly mcp?: ServerEntry;
  readonly artifacts?: string;
  readonly lenient?: boolean;
  readonly prefix?: string;
  readonly only?: readonly string[];
  readonly except?: readonly string[];
}

async function toolsOf(entry: unknown, place: Place): Promise<Registry> {
  const { path, report } = place;
  const ready = toolsIn(entry);
  if (ready !== null) return createRegistry(ready);
  const source = isObject(entry)
    ? Object.keys(TOOL_SOURCES).find((name) => Object.hasOwn(entry, name))
    : undefined;
  if (!isObject(entry) || source === undefined) {
    const [first] = isObject(entry) ? Object.keys(entry) : [];
    const guess = first === undefined ? undefined : closest(first, Object.keys(TOOL_SOURCES));
    const hint = guess === undefined ? '' : `; did you mean "${guess}"?`;
    report(path, `tools come from one of ${Object.keys(TOOL_SOURCES).join(', ')}${hint}`);
    return createRegistry();
  }
  if (!checkData(source, 'a source of tools', entry, path, report)) return createRegistry();
  // The schema has just said which members there are, and of which kind.
  const { prefix, only, except, module } = entry as SourceEntry;
  const found = await foundBy(entry, place);
  if (found === null) return createRegistry();
  const taken = found.filter(
    ({ name }) =>
      (only === undefined || matchesTool(only, name)) &&
      (except === undefined || !matchesTool(except, name)),
  );
  if (taken.names.length === 0)
    report(
      [...path, source],
      `${module ?? (source === 'mcp' ? 'the server' : 'the project')} has no tools that "only" and "except" leave`,
    );
  return prefix === undefined ? taken : taken.prefix(prefix);
}

/** `null` where it could not be read: that was reported. */
async function foundBy(
  { module, mcp, artifacts = '.', lenient, prefix }: SourceEntry,
  place: Place,
): Promise<Registry | null> {
  if (module !== undefined) return moduleTools(module, place.folder);
  return mcp === undefined
    ? artifactTools(artifacts, lenient === true, place)
    : serverTools(mcp, prefix, place);
}

/** Every problem of the files is one of the entry. */
async function artifactTools(
  dir: string,
  lenient: boolean,
  { folder, path, report, opened, hasHooks }: Place,
): Promise<Registry | null> {
  const { loadArtifacts } = await import('../artifacts/index.ts');
  try {
    const loaded = await loadArtifacts(resolve(folder, dir), { lenient });
    opened(loaded);
    if (loaded.hooks.length > 0) hasHooks();
    return loaded.tools;
  } catch (thrown) {
    if (!isAlliumError(thrown, 'ERR_INVALID_ARTIFACT')) throw thrown;
    // The path as the file has it.
    const text =
      thrown.details.reason === 'no_folder' ? `${dir}: there is no such folder` : thrown.message;
    for (const line of text.split('\n')) report([...path, 'artifacts'], line);
    return null;
  }
}

const moduleTools = async (module: string, folder: string): Promise<Registry> =>
  createRegistry(exportedTools(await loadModule(splitReference(module).module, folder), module));

async function serverTools(
  mcp: ServerEntry,
  prefix: string | undefined,
  { folder, opened }: Place,
): Promise<Registry> {
  const server = await openServer(mcp, folder, prefix);
  opened(server);
  return server.tools;
}

/**
 * One export where the reference names one, otherwise all that are tools. Other exports are
 * nobody's business.
 */
function exportedTools(exports: ModuleExports, reference: string): Iterable<Tool> {
  const { module, name } = splitReference(reference);
  const candidates = name === null ? Object.values(exports) : [exportOf(exports, reference)];
  // Once each: a default export often is a named one, too.
  const found = new Set(candidates.flatMap((candidate) => [...(toolsIn(candidate) ?? [])]));
  if (found.size > 0) return found;
  throw new TypeError(`${module} exports no tools${name === null ? '' : ` as "${name}"`}`);
}

/** The tools of a tool, a list or a registry, or `null` for what is none of them. */
function toolsIn(value: unknown): Iterable<Tool> | null {
  if (isTool(value)) return [value];
  if (Array.isArray(value)) return value.length > 0 && value.every(isTool) ? value : null;
  return isObject(value) && Array.isArray(value.names) && Symbol.iterator in value
    ? (value as unknown as Registry)
    : null;
}

/** What `createRegistry` then checks in full. */
const isTool = (value: unknown): value is Tool =>
  isObject(value) && typeof value.name === 'string' && 'inputSchema' in value;

/** What a file says about a server, after the schema has seen it. */
interface ServerEntry extends Omit<ProxyServer, 'prefix'> {
  readonly name?: string;
}

/**
 * Connects. What a program writes to standard error goes to ours: it says why it does not start.
 */
async function openServer(entry: ServerEntry, folder: string, prefix?: string): Promise<McpServer> {
  const { mcpExecutor } = await import('../mcp/client/mcp-executor.ts');
  const named = { ...entry, name: entry.name ?? prefix ?? 'mcp' };
  // A program runs where the file is, whoever loads it from where.
  const target = 'command' in named ? { ...named, cwd: resolve(folder, entry.cwd ?? '.') } : named;
  // Which members go together is looked at there.
  return mcpExecutor(target as McpTarget, { stderr: process.stderr, logger: defaultLogger() });
}
