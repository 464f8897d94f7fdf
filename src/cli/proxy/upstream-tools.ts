/**
 * The tools of a server, read once: the server is started or greeted, asked for its list, and left.
 */

import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { type OwnAbort, createAbort } from '../../core/time/abort.ts';
import { isObject } from '../../core/json/json.ts';
import type { Tool } from '../../index.ts';
import { type CatalogParts, toolFrom } from '../../mcp/proxy/catalog.ts';
import type { Link } from '../../mcp/proxy/link.ts';
import { createOutgoing, type Outgoing } from '../../mcp/outgoing.ts';
import {
  CODES,
  errorMessage,
  isRequestId,
  kindOf,
  notificationMessage,
  objectAt,
  type WireMessage,
} from '../../mcp/wire.ts';

export interface ReadingParts extends CatalogParts {
  /** Ends the reading: it then answers what it has, which is nothing. */
  readonly signal: AbortSignal;
  /** How long the server may take, all in all. */
  readonly timeoutMs: number;
  /**
   * What is given to servers behind the link to answer without one of them, on top of `timeoutMs`.
   */
  readonly graceMs: number;
  /** Told why there are no tools, or not all of them. */
  readonly report: (problem: string) => void;
}

/** More pages than any list has. */
const MAX_PAGES = 200;

const GREETING = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'allium-explain', version: '1' },
};

/**
 * `null` where the server could not be asked; the reason was reported. In any case the link is
 * closed when this resolves.
 */
export async function readUpstream(
  link: Link,
  parts: ReadingParts,
): Promise<readonly Tool[] | null> {
  const abort = createAbort();
  const timer = setTimeout(() => abort.abort('late'), parts.timeoutMs + parts.graceMs);
  const leave = () => abort.abort('left');
  parts.signal.addEventListener('abort', leave, { once: true });
  if (parts.signal.aborted) leave();
  const server = createOutgoing((message) => void link.send({ message }));
  try {
    await link.start({
      onFrame({ message }) {
        if (!server.settle(message)) answerTo(message, link);
      },
      onGarbage: (problem) => parts.report(problem),
      onClose: (why) => server.fail(why),
    });
    return toolsFrom(await listOf(server, link, abort), link, parts);
  } catch (thrown) {
    parts.report(reasonFor(thrown, abort, link, parts));
    return null;
  } finally {
    clearTimeout(timer);
    parts.signal.removeEventListener('abort', leave);
    await link.close();
  }
}

function reasonFor(
  thrown: unknown,
  abort: OwnAbort,
  { name }: Link,
  { timeoutMs }: ReadingParts,
): string {
  const who = name === undefined ? 'the server' : `the server "${name}"`;
  if (abort.isAborted())
    return abort.reason() === 'late'
      ? `${who} did not answer within ${timeoutMs / 1000} s`
      : `${who} was not asked to the end`;
  return `${who} cannot be asked for its tools: ${thrown instanceof Error ? thrown.message : 'it failed'}`;
}

/**
 * A server may ask its client, too. While tools are only read, every such request is answered with
 * an error.
 */
function answerTo(message: WireMessage, link: Link): void {
  if (kindOf(message) !== 'request' || !isRequestId(message.id)) return;
  link.send({ message: errorMessage(message.id, CODES.noMethod, 'Method not found') });
}

async function listOf(
  server: Outgoing,
  link: Link,
  abort: OwnAbort,
): Promise<readonly JsonValue[]> {
  demandResult(await server.request('initialize', GREETING, { abort }));
  link.send({ message: notificationMessage('notifications/initialized', {}) });
  const found: JsonValue[] = [];
  let cursor: JsonValue | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const result = demandResult(
      await server.request('tools/list', cursor === undefined ? {} : { cursor }, { abort }),
    );
    if (Array.isArray(result.tools)) found.push(...(result.tools as readonly JsonValue[]));
    cursor = result.nextCursor;
    if (typeof cursor !== 'string' || cursor === '') break;
  }
  return found;
}

/** What the server says is wrong is its own text, and not repeated. */
function demandResult(message: WireMessage): JsonObject {
  if (isObject(message.result)) return message.result;
  const { code } = objectAt(message, 'error');
  throw new Error(
    typeof code === 'number'
      ? `it answered with the error ${code}`
      : 'it answered with something that is no result',
  );
}

/**
 * As the proxy takes them: what it would not show is reported and left out, of two with one name
 * the first stays.
 */
function toolsFrom(list: readonly JsonValue[], link: Link, parts: ReadingParts): readonly Tool[] {
  const tools = new Map<string, Tool>();
  for (const raw of list) {
    if (!isObject(raw) || typeof raw.name !== 'string') continue;
    const named = {
      ...parts,
      serverOf: (tool: string) => link.serverOf?.(tool) ?? link.name ?? null,
    };
    const tool = tools.has(raw.name) ? null : toolFrom(raw.name, raw, named, parts.report);
    if (tool !== null) tools.set(tool.name, tool);
  }
  return [...tools.values()];
}
