/** One call to one tool of a server: sent once, and answered or accounted for. */

import type {
  CallToolRequestParams,
  ProgressCallback,
  RequestOptions,
  Tool as SentTool,
} from '@modelcontextprotocol/client';
import { isObject, snapshotObject } from '../../core/json.ts';
import { followAbort, waitWithin } from '../../core/signal.ts';
import {
  definitionChanged,
  toolFailure,
  type ToolContext,
  type ToolOutput,
} from '../../tools/tool.ts';
import { callFailure, isConnectionFailure } from './call-failure.ts';
import type { Connection } from './connection.ts';
import type { Link } from './link.ts';
import { AS_SENT } from './list-tools.ts';
import { readAnswer } from './read-answer.ts';
import { describeOnSpan, traceMeta } from './trace-context.ts';
import type { McpTarget } from './target.ts';

/** How long a call may take is for the layers around it to say. What a timer can hold: a longer one would ring at once. */
const NO_TIMEOUT = 2 ** 31 - 1;

export interface CallParts {
  readonly target: McpTarget;
  readonly link: Link;
  /** As the server calls it. */
  readonly tool: string;
  /** The input schema that the server gave last, if it has the tool. */
  readonly schema: () => unknown;
  /** Reads a list that is said to have changed; `null` where none is. */
  readonly caughtUp: () => Promise<void> | null;
  /** Why the tool must not be called. Asked when there is a connection. */
  readonly objection: () => string | null;
}

export async function callTool(
  { target, link, tool, schema, objection, caughtUp }: CallParts,
  args: Readonly<Record<string, unknown>>,
  context: ToolContext,
): Promise<ToolOutput> {
  const { signal } = context;
  const params = paramsFor(tool, args);
  const connection = await readyConnection(link, caughtUp, signal);
  // From here to the sending nothing is waited for.
  const against = objection();
  if (against !== null) throw definitionChanged(against);
  if (signal.aborted)
    throw toolFailure('The call was taken back before it was sent.', {
      executed: 'no',
      category: 'cancelled',
    });
  describeOnSpan(target, connection.client.getNegotiatedProtocolVersion());
  const answer = await connection
    .run(() => sendOnce(connection, params, context, schema()))
    .catch((thrown: unknown) => {
      if (isConnectionFailure(thrown) && !signal.aborted) connection.retire();
      throw callFailure(target.name, thrown);
    });
  link.noteAnswer();
  return readAnswer(target.name, answer);
}

/** A connection, with the newest list that its server has told of. Both may take time, in which the other one is lost. */
async function readyConnection(
  link: Link,
  caughtUp: CallParts['caughtUp'],
  signal: AbortSignal,
): Promise<Connection> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const connection = await link.use(signal);
    const reading = caughtUp();
    if (reading === null) return connection;
    await waitWithin(signal, () => reading).catch(unlisted);
  }
  return unlisted();
}

const MAX_TRIES = 8;

/** The server said that its tools changed, and what they are now cannot be told. */
function unlisted(): never {
  throw toolFailure(
    'The server says that its tools have changed, and the new list could not be read. Nothing was sent.',
    {
      ...{ executed: 'no', category: 'network', errorClass: 'retryable' },
    },
  );
}

function paramsFor(name: string, args: Readonly<Record<string, unknown>>): CallToolRequestParams {
  try {
    return { name, arguments: { ...snapshotObject(args) }, _meta: { ...traceMeta() } };
  } catch {
    throw toolFailure('The arguments cannot be sent: they are not JSON.', {
      executed: 'no',
      category: 'not_json',
      errorClass: 'fatal',
    });
  }
}

async function sendOnce(
  connection: Connection,
  params: CallToolRequestParams,
  context: ToolContext,
  schema: unknown,
): Promise<unknown> {
  // Its own, so that whatever the caller gave as a reason stays here.
  const cancel = new AbortController();
  const stop = followAbort(context.signal, () => cancel.abort('the caller does not wait any more'));
  const onprogress: ProgressCallback = ({ progress, total, message }) =>
    context.report({
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    });
  try {
    return await send(
      connection,
      params,
      { signal: cancel.signal, timeout: NO_TIMEOUT, onprogress },
      schema,
    );
  } finally {
    stop();
  }
}

/**
 * Without the SDK's check of the answer against the output schema: it throws for a tool that has run, and the dispatcher checks the same
 * and says so. The newer protocol may want arguments repeated as headers, for which the SDK has to know the input schema.
 */
function send(
  { client, era }: Connection,
  params: CallToolRequestParams,
  options: RequestOptions,
  schema: unknown,
): Promise<unknown> {
  if (era === 'legacy' || !isObject(schema))
    return client.request({ method: 'tools/call', params }, AS_SENT, options);
  // The SDK looks for marks in it and reads nothing else.
  const toolDefinition = { name: params.name, inputSchema: schema as SentTool['inputSchema'] };
  return client.callTool(params, { ...options, toolDefinition });
}
