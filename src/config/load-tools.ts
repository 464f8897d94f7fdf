/** The tools that a file names. */

import { createRegistry, isAlliumError, matchesTool, type Registry, type Tool } from '../index.ts';
import { closest } from '../core/closest.ts';
import { describeThrown } from '../core/errors.ts';
import { isObject } from '../core/json.ts';
import { exportOf, loadModule, type ModuleExports, splitReference } from './load-module.ts';
import type { DataPath, Report } from './problem.ts';
import { checkData } from './schema/check-data.ts';
import { TOOL_SOURCES } from './schema/config-schema.ts';

/** Loads what can be loaded and reports the rest. */
export async function loadTools(entries: readonly unknown[], folder: string, path: DataPath, report: Report): Promise<Registry> {
  let all = createRegistry();
  for (const [index, entry] of entries.entries()) {
    const place = [...path, index];
    try {
      all = all.merge(createRegistry(await toolsOf(entry, folder, place, report)));
    } catch (thrown) {
      const isOwn = isAlliumError(thrown);
      report(isOwn && thrown.code === 'ERR_INVALID_CONFIG' ? [...place, 'module'] : place, isOwn ? thrown.message : describeThrown(thrown));
    }
  }
  return all;
}

async function toolsOf(entry: unknown, folder: string, path: DataPath, report: Report): Promise<Iterable<Tool>> {
  const ready = toolsIn(entry);
  if (ready !== null) return ready;
  const source = isObject(entry) ? Object.keys(TOOL_SOURCES).find((name) => Object.hasOwn(entry, name)) : undefined;
  if (!isObject(entry) || source === undefined) {
    const [first] = isObject(entry) ? Object.keys(entry) : [];
    const guess = first === undefined ? undefined : closest(first, Object.keys(TOOL_SOURCES));
    const hint = guess === undefined ? '' : `; did you mean "${guess}"?`;
    report(path, `tools come from one of ${Object.keys(TOOL_SOURCES).join(', ')}${hint}`);
    return [];
  }
  if (!checkData(source, 'a source of tools', entry, path, report)) return [];
  if (source !== 'module') {
    report([...path, source], `this version has no loader for ${source === 'mcp' ? 'MCP servers' : 'artifacts'} yet`, 'key');
    return [];
  }
  // The schema has just said which members there are, and of which kind.
  const { module, prefix, only, except } = entry as { module: string; prefix?: string; only?: string[]; except?: string[] };
  const taken = createRegistry(exportedTools(await loadModule(splitReference(module).module, folder), module)).filter(
    ({ name }) => (only === undefined || matchesTool(only, name)) && (except === undefined || !matchesTool(except, name)),
  );
  if (taken.names.length === 0) report([...path, 'module'], `${module} has no tools that "only" and "except" leave`);
  return prefix === undefined ? taken : taken.prefix(prefix);
}

/** One export where the reference names one, otherwise all that are tools. Other exports are nobody's business. */
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
  return isObject(value) && Array.isArray(value.names) && Symbol.iterator in value ? (value as unknown as Registry) : null;
}

/** What `createRegistry` then checks in full. */
const isTool = (value: unknown): value is Tool => isObject(value) && typeof value.name === 'string' && 'inputSchema' in value;
