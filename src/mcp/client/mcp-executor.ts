/** `mcpExecutor`: the tools of an MCP server as tools of a registry. */

import type { Writable } from 'node:stream';
import { type Clock, systemClock } from '../../core/time/clock.ts';
import { describeThrown } from '../../core/contract/errors.ts';
import { checkOptions, expected } from '../../core/contract/options.ts';
import { followAbort } from '../../core/time/abort.ts';
import { createRegistry, type Registry } from '../../tools/registry.ts';
import type { Logger, ToolContext, ToolExecutor } from '../../tools/tool.ts';
import { callTool } from './call-tool.ts';
import { type Connection, type ConnectionOptions, openConnection } from './connection.ts';
import { keepConnection, type KeptConnectionParts } from './kept-connection.ts';
import { createRefresher, listTools } from './list-tools.ts';
import { logLines } from './child-transport.ts';
import { type McpProblem, problemReporter, type ReportProblem } from './problem.ts';
import type { AskPerson } from './question.ts';
import {
  createToolBook,
  type Definition,
  readTools,
  type RunTool,
  type ToolBook,
} from './tool-book.ts';
import { checkTarget, type McpEra, type McpTarget } from './target.ts';

export interface McpOptions {
  /**
   * Which protocol is spoken. `auto` asks the server, and prefers the newer one; `legacy` is for
   * servers that a question before the handshake confuses, `modern` for those that must not be
   * spoken to in the older one.
   * @default 'auto'
   */
  readonly era?: McpEra;
  /**
   * What becomes of a tool whose schemas are refused: `hide` leaves it out, `pass` takes it with a
   * schema that admits every object.
   * @default 'hide'
   */
  readonly onBadSchema?: 'hide' | 'pass';
  /**
   * Whether `readOnlyHint` and the like are taken over. They are the server's own word: `ignore`
   * them for a server that might lie, and every tool is destructive and open to the world.
   * @default 'take'
   */
  readonly hints?: 'take' | 'ignore';
  /**
   * What becomes of a call of a tool that is not what it was when its registry was made: `refuse`
   * does not send it, `report` does.
   * @default 'refuse'
   */
  readonly onDefinitionChange?: 'refuse' | 'report';
  /** Told about every problem that is no reason to stop. */
  readonly onProblem?: (problem: McpProblem) => void;
  /** Told about a new list of tools, after the server said so or was connected to again. */
  readonly onToolsChanged?: (tools: Registry) => void;
  /**
   * Answers what a server wants to ask a person. Without it the server is told that nobody can be
   * asked.
   */
  readonly onElicit?: AskPerson;
  /**
   * Gets problems as warnings, and without `stderr` what a child process writes to standard error,
   * line by line, as `debug`.
   */
  readonly logger?: Logger;
  /** Where a child process writes its standard error. @default the logger, or nowhere */
  readonly stderr?: Writable;
  /**
   * Most tools taken from a list.
   * @default 1000
   */
  readonly maxTools?: number;
  /**
   * How long a handshake and a page of the list may take.
   * @default 30000
   */
  readonly connectTimeoutMs?: number;
  /**
   * How often a call tries to make a lost connection again.
   * @default 3
   */
  readonly maxConnects?: number;
  readonly clock?: Clock;
}

/** A server that is connected. Given to `governTools` as its executor, it is closed with it. */
export interface McpServer extends ToolExecutor {
  readonly kind: 'mcp_server';
  readonly name: string;
  /**
   * The newest list. A registry does not change: a stack that was made with an older one goes on
   * with that.
   */
  readonly tools: Registry;
  /** The version of the protocol that is spoken. */
  readonly protocolVersion: string;
  /** Reads the list again. Throws where it cannot be read. */
  refresh(): Promise<Registry>;
  /**
   * Ends the connection, and a child process with everything it has started. Calls under way end as
   * `executed: 'unknown'`.
   */
  close(): Promise<void>;
}

const EXPECTED = {
  era: expected.oneOf('auto', 'legacy', 'modern'),
  onBadSchema: expected.oneOf('hide', 'pass'),
  hints: expected.oneOf('take', 'ignore'),
  onDefinitionChange: expected.oneOf('refuse', 'report'),
  onProblem: expected.function,
  onToolsChanged: expected.function,
  onElicit: expected.function,
  logger: expected.object,
  stderr: expected.object,
  maxTools: expected.integer(0),
  connectTimeoutMs: expected.integer(1),
  maxConnects: expected.integer(1),
  clock: expected.object,
} as const;

const CONNECT_MS = 30_000;

/**
 * Connects to a server and reads its tools. They carry their own way to the server, so that
 * registries of several servers can be merged, renamed and filtered; a tool that was written by
 * hand with `executor: 'mcp_server'` is called under its own name. Calls have no time limit here,
 * and no call is sent twice. Throws `ERR_MCP_UNAVAILABLE` for a server that cannot be reached or
 * whose list cannot be read.
 */
export async function mcpExecutor(target: McpTarget, options: McpOptions = {}): Promise<McpServer> {
  checkTarget(target);
  checkOptions('mcpExecutor', options, EXPECTED);
  const { clock = systemClock, maxConnects = 3, onDefinitionChange = 'refuse' } = options;
  const { name } = target;
  const report = problemReporter(name, options.onProblem, options.logger);
  const book = createToolBook(report);
  const call = (tool: string, definition: Definition | null): CallTool => {
    const objection = () => {
      if (onDefinitionChange === 'report') return null;
      return definition === null ? book.objectionToName(tool) : book.objectionTo(definition);
    };
    const schema = () => book.definitionOf(tool)?.sent.inputSchema;
    return (args, context) =>
      callTool(
        { target, link, tool, schema, objection, caughtUp: () => refresher.caughtUp() },
        args,
        context,
      );
  };
  const run: RunTool = (definition, args, context) =>
    call(definition.name, definition)(args, context);
  const read = readerFor(name, options, { book, run, report });
  const refresh = async (): Promise<Registry> => read(await link.use(NEVER));
  const refresher = createRefresher(clock, refresh, report);
  const open = openerFor(target, options, { clock, report, onListChanged: refresher.ask }, read);
  const link = keepConnection({ name, clock, maxConnects, report, open });

  const { client } = await link.start();
  book.noteGiven();
  const server: McpServer = {
    kind: 'mcp_server',
    name,
    get tools() {
      return book.registry();
    },
    protocolVersion: client.getNegotiatedProtocolVersion() ?? '',
    execute: ({ tool, args, context }) => (tool.execute ?? call(tool.name, null))(args, context),
    async refresh() {
      const registry = await refresh();
      book.noteGiven();
      return registry;
    },
    async close() {
      refresher.stop();
      await link.close();
    },
  };
  return Object.freeze(server);
}

type CallTool = (args: Readonly<Record<string, unknown>>, context: ToolContext) => Promise<unknown>;
type Read = (connection: Connection) => Promise<Registry>;

/** A list that somebody asked for is waited for. */
const NEVER = new AbortController().signal;

interface Reading {
  readonly book: ToolBook;
  readonly run: RunTool;
  readonly report: ReportProblem;
}

function readerFor(server: string, options: McpOptions, { book, run, report }: Reading): Read {
  const {
    onBadSchema = 'hide',
    hints = 'take',
    maxTools = 1000,
    connectTimeoutMs: timeoutMs = CONNECT_MS,
  } = options;
  return async (connection) => {
    const list = await listTools(connection, { maxTools, timeoutMs }, report);
    const { tools, definitions } = readTools(list, { server, onBadSchema, hints, run, report });
    return book.turnTo(createRegistry(tools, { names: 'mcp' }), definitions, (registry) => {
      try {
        options.onToolsChanged?.(registry);
      } catch (thrown) {
        report('callback_failed', `onToolsChanged failed: ${describeThrown(thrown)}`);
      }
    });
  };
}

type Watching = Pick<ConnectionOptions, 'clock' | 'report' | 'onListChanged'>;

/** No call goes over a connection whose list was not read. */
function openerFor(
  target: McpTarget,
  options: McpOptions,
  watching: Watching,
  read: Read,
): KeptConnectionParts['open'] {
  const { era = 'auto', onElicit: ask = null, logger, connectTimeoutMs = CONNECT_MS } = options;
  const stderr = options.stderr ?? (logger === undefined ? null : logLines(target.name, logger));
  return async (signal) => {
    const connection = await openConnection({
      target,
      era,
      ask,
      stderr,
      connectTimeoutMs,
      signal,
      ...watching,
    });
    const stop = followAbort(signal, () => void connection.close().catch(() => {}));
    try {
      await read(connection);
      return connection;
    } catch (thrown) {
      await connection.close().catch(() => {});
      throw thrown;
    } finally {
      stop();
    }
  };
}
