/** Tools and a recorder shared by the tests of this folder. */

import { type TestClock, testClock } from '../../conformance/test-kit.ts';
import type { ToolEvent } from '../core/wire/wire.ts';
import { defineTool } from '../tools/define-tool.ts';
import type { Logger, Tool } from '../tools/tool.ts';
import { type GovernedTools, type GovernOptions, governTools } from './govern-tools.ts';
import type { OutputFiles } from './run/output-files.ts';

export interface Ran {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** A tool that answers with its arguments and notes that it ran. */
export function echoTool(ran: Ran[] = [], name = 'echo'): Tool {
  return defineTool({
    name,
    description: 'Answers with its arguments.',
    inputSchema: {
      type: 'object',
      properties: { text: { type: 'string' } },
      additionalProperties: false,
    },
    annotations: { kind: 'read', readOnly: true },
    execute(args) {
      ran.push({ name, args });
      return args;
    },
  });
}

/** A logger that keeps what it was told. */
export function recordingLogger(): Logger & { readonly lines: readonly string[] } {
  const lines: string[] = [];
  const log = (fields: object, message: string) =>
    void lines.push(`${message} ${JSON.stringify(fields)}`);
  return { debug: log, info: log, warn: log, error: log, lines };
}

/** Output files kept in memory. */
export function memoryOutputs(): OutputFiles & { readonly texts: readonly string[] } {
  const texts: string[] = [];
  return {
    texts,
    async write({ text, mediaType }) {
      texts.push(text);
      return {
        uri: `memory:${texts.length}`,
        bytes: Buffer.byteLength(text),
        sha256: '',
        mediaType,
      };
    },
  };
}

export interface Setup {
  readonly governed: GovernedTools;
  readonly events: readonly ToolEvent[];
  readonly ran: readonly Ran[];
  readonly clock: TestClock;
  readonly logger: ReturnType<typeof recordingLogger>;
}

/** A dispatcher on a standing clock with counted ids, and everything it tells. */
export function setup(
  options: Partial<GovernOptions> & { readonly toolList?: (ran: Ran[]) => readonly Tool[] } = {},
): Setup {
  const { toolList = (ran: Ran[]) => [echoTool(ran)], ...rest } = options;
  const ran: Ran[] = [];
  const events: ToolEvent[] = [];
  const clock = testClock();
  const logger = recordingLogger();
  let ids = 0;
  const governed = governTools({
    tools: toolList(ran),
    layers: [],
    clock,
    logger,
    createId: () => `id-${++ids}`,
    outputFiles: memoryOutputs(),
    ...rest,
  });
  governed.on('*', (event) => events.push(event));
  return { governed, events, ran, clock, logger };
}

/** The statuses of one call's events, in the order they came. */
export const storyOf = (events: readonly ToolEvent[]): readonly string[] =>
  events.map((event) => ('status' in event ? event.status : event.type.replace('tool_call_', '')));
