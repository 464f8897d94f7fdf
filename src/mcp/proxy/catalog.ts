/** The tools of a server: what the stack is told of them, and what the client is shown. */

import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { describeThrown, oneLine } from '../../core/contract/errors.ts';
import { hintsOf } from '../../core/contract/annotations.ts';
import { hashCanonical } from '../../core/json/hash-canonical.ts';
import { isObject } from '../../core/json/json.ts';
import type { ToolSpec } from '../../core/contract/layer.ts';
import type { GovernedTools } from '../../dispatch/govern-tools.ts';
import { createRegistry } from '../../tools/registry.ts';
import type { Tool } from '../../tools/tool.ts';
import { readHints, readTool } from '../read-tool.ts';

export interface CatalogOptions {
  /**
   * A tool whose schema cannot be used is hidden, or is shown and its arguments go unchecked.
   * @default 'hide'
   */
  readonly onBadSchema?: 'hide' | 'pass';
  /**
   * Whether annotations that call a tool harmless (read-only, idempotent) are believed. Those that
   * call it harmful always are. @default false
   */
  readonly trustAnnotations?: boolean;
}

/** What a catalog is told besides. */
export interface CatalogParts extends CatalogOptions {
  /** The host's name for the server of a tool, for receipts and rules; `null` where it has none. */
  readonly serverOf?: (toolName: string) => string | null;
}

export interface Catalog {
  /**
   * Takes one page of the server's list. The first page begins a new list, and with the last one
   * what is in none of them is gone.
   */
  take(page: readonly JsonValue[], place: PagePlace): void;
  /** A page as the client is to see it. */
  shown(page: readonly JsonValue[]): readonly JsonObject[];
  /** A tool as the client sees it. */
  get(name: string): ToolSpec | undefined;
  /** What was listed may be out of date. */
  expire(): void;
  readonly isCurrent: boolean;
  /**
   * How often `expire` was called: a list that was asked for before the last time may be the old
   * one.
   */
  readonly expiries: number;
}

export interface PagePlace {
  readonly isFirst: boolean;
  readonly isLast: boolean;
  /** `expiries` when this page was asked for. */
  readonly asOf: number;
}

interface Known {
  /** As it was listed, to see whether it has changed. */
  readonly text: string;
  readonly tool: Tool;
}

/** More tools than any model is shown, and few enough to hold. */
const MAX_TOOLS = 10_000;

export function createCatalog(
  governed: Pick<GovernedTools, 'tools' | 'update'>,
  options: CatalogParts,
  report: (problem: string) => void,
): Catalog {
  let known: ReadonlyMap<string, Known> = new Map();
  let listing = new Map<string, Known>();
  let specs: ReadonlyMap<string, ToolSpec> | null = null;
  let isCurrent = false;
  let expiries = 0;
  /** `expiries` when the first page of `listing` was asked for. */
  let begunAt = 0;
  const specOf = (name: string): ToolSpec | undefined => {
    specs ??= new Map(governed.tools.map((spec) => [spec.name, spec]));
    return specs.get(name);
  };
  const add = (raw: JsonValue): void => {
    const found = readListed(raw, known, options, report);
    if (found === null) return;
    const { name } = found.tool;
    if (listing.has(name)) report(`the server lists "${name}" twice; the second one is not shown`);
    else if (listing.size < MAX_TOOLS) listing.set(name, found);
  };

  return {
    take(page, { isFirst, isLast, asOf }) {
      if (isFirst) {
        listing = new Map();
        begunAt = asOf;
      }
      for (const raw of page) add(raw);
      // Until the last page is there, tools of the list before may still be called.
      known = isLast ? listing : new Map([...known, ...listing]);
      const tools = [...known.values()].map(({ tool }) => tool);
      giveStack(tools, governed, report);
      specs = null;
      // The server may have said that its list changed while this one was on its way.
      isCurrent = isLast && begunAt === expiries;
    },
    shown: (page) => shownPage(page, known, specOf),
    get: specOf,
    expire() {
      isCurrent = false;
      expiries += 1;
    },
    get isCurrent() {
      return isCurrent;
    },
    get expiries() {
      return expiries;
    },
  };
}

/** The tool of a listed entry: the `known` tool where the entry's JSON has not changed. */
function readListed(
  raw: JsonValue,
  known: ReadonlyMap<string, Known>,
  options: CatalogParts,
  report: (problem: string) => void,
): Known | null {
  if (!isObject(raw) || typeof raw.name !== 'string') {
    report('a tool without a name is not shown');
    return null;
  }
  const text = JSON.stringify(raw);
  const before = known.get(raw.name);
  if (before?.text === text) return before;
  const tool = toolFrom(raw.name, raw, options, report);
  return tool === null ? null : { text, tool };
}

/**
 * Gives the tools to the stack. Tools that `governed.update` throws for are left out and reported,
 * so that the others are still shown.
 */
function giveStack(
  tools: readonly Tool[],
  governed: Pick<GovernedTools, 'update'>,
  report: (problem: string) => void,
): void {
  const update = (given: readonly Tool[]): void =>
    governed.update(createRegistry(given, { names: 'mcp' }));
  const isUsable = (tool: Tool): boolean => {
    try {
      update([tool]);
      return true;
    } catch (thrown) {
      report(`the tool "${oneLine(tool.name)}" is not shown: ${describeThrown(thrown)}`);
      return false;
    }
  };
  try {
    update(tools);
  } catch {
    const usable = tools.filter(isUsable);
    try {
      update(usable);
    } catch (thrown) {
      report(`no tool is shown: ${describeThrown(thrown)}`);
      update([]);
    }
  }
}

function shownPage(
  page: readonly JsonValue[],
  known: ReadonlyMap<string, Known>,
  specOf: (name: string) => ToolSpec | undefined,
): readonly JsonObject[] {
  const seen = new Set<string>();
  return page.flatMap((raw) => {
    const own = isObject(raw) && typeof raw.name === 'string' ? known.get(raw.name) : undefined;
    const spec = own === undefined ? undefined : specOf(own.tool.name);
    if (own === undefined || spec === undefined || seen.has(spec.name)) return [];
    // Another tool by the same name has words that no layer has seen.
    if (own.text !== JSON.stringify(raw)) return [];
    seen.add(spec.name);
    return [asShown(raw as JsonObject, own.tool, spec)]; // It was read as one.
  });
}

/**
 * Makes a `Tool` of a listed entry. `null` for a tool that is not shown; the reason was reported.
 */
export function toolFrom(
  name: string,
  raw: JsonObject,
  options: CatalogParts,
  report: (problem: string) => void,
): Tool | null {
  const { onBadSchema = 'hide', trustAnnotations = false, serverOf } = options;
  const server = serverOf?.(name) ?? null;
  // Titles, icons and hints that are not believed are no part of the tool that the stack sees. By
  // this hash they count all the same: an approval is for everything that the server said of the
  // tool.
  const metadata = {
    serverDefinition: hashOfRaw(raw),
    ...(server === null ? {} : { mcp: { server } }),
  };
  try {
    return readTool(name, raw, {
      onBadSchema,
      schemaOfNoObject: 'ignore',
      annotations: trustAnnotations ? hintsOf(readHints(raw.annotations)) : CAREFUL,
      metadata,
      onUnchecked: (thrown) =>
        report(`the arguments of "${oneLine(name)}" are not checked: ${describeThrown(thrown)}`),
    });
  } catch (thrown) {
    report(`the tool "${oneLine(name)}" is not shown: ${describeThrown(thrown)}`);
    return null;
  }
}

/** What is assumed of a tool whose server is not believed. */
const CAREFUL = { readOnly: false, destructive: true, idempotent: false, openWorld: true };

/** Text with half a surrogate pair has no canonical form; as JSON it is written with an escape. */
function hashOfRaw(raw: JsonObject): string {
  try {
    return hashCanonical(raw);
  } catch {
    return hashCanonical(JSON.stringify(raw));
  }
}

/** The entry as the server listed it, with the schemas and the description that the layers made. */
function asShown(raw: JsonObject, own: Tool, spec: ToolSpec): JsonObject {
  const { outputSchema, ...rest } = raw;
  const output = spec.outputSchema === own.outputSchema ? outputSchema : spec.outputSchema;
  const schemas = {
    inputSchema:
      spec.inputSchema === own.inputSchema
        ? (raw.inputSchema ?? { type: 'object' })
        : spec.inputSchema,
    ...(output === undefined ? {} : { outputSchema: output }),
  };
  if (spec.description === own.description) return { ...rest, ...schemas };
  // A layer has put other words in the place of the server's, so none of the server's are shown: a
  // title can talk, too.
  const { execution } = raw;
  return {
    name: own.name,
    description: spec.description,
    ...schemas,
    ...(execution === undefined ? {} : { execution }),
  };
}

export function ownCatalog(governed: Pick<GovernedTools, 'tools'>): Catalog {
  return {
    take() {},
    shown: () => governed.tools.map(asMcp),
    get: (name) => governed.tools.find((tool) => tool.name === name),
    expire() {},
    isCurrent: true,
    expiries: 0,
  };
}

/** Safety notes and whatever else a tool is annotated with are for the stack, not for clients. */
function asMcp({
  name,
  description,
  inputSchema,
  outputSchema,
  annotations,
}: ToolSpec): JsonObject {
  const { readOnly, destructive, idempotent, openWorld } = hintsOf(annotations);
  return {
    name,
    description,
    // MCP wants the root to say that it is an object.
    inputSchema: { ...inputSchema, type: 'object' },
    ...(outputSchema === undefined ? {} : { outputSchema }),
    annotations: {
      ...(annotations.title === undefined ? {} : { title: annotations.title }),
      ...{
        readOnlyHint: readOnly,
        destructiveHint: destructive,
        idempotentHint: idempotent,
        openWorldHint: openWorld,
      },
    },
  };
}
