/** The list of a server's tools, as it was sent. */

import type { StandardSchemaV1 } from '@modelcontextprotocol/client';
import { isObject } from '../../core/json.ts';
import type { Connection } from './connection.ts';
import type { ReportProblem } from './problem.ts';

/** More pages than any list of so many tools needs; a server may page for ever. */
const MAX_PAGES = 64;

/** Takes what came as it came: one entry that is wrong must not cost all the others, and no member is dropped. */
export const AS_SENT: StandardSchemaV1<unknown, unknown> = {
  '~standard': { version: 1, vendor: 'allium', validate: (value) => ({ value }) },
};

export interface ListBounds {
  readonly maxTools: number;
  readonly timeoutMs: number;
}

/** Reads every page, up to a bound that is reported. Entries can be anything. */
export async function listTools(
  { client }: Connection,
  { maxTools, timeoutMs }: ListBounds,
  report: ReportProblem,
): Promise<readonly unknown[]> {
  const tools: unknown[] = [];
  if (client.getServerCapabilities()?.tools === undefined) return tools;
  const cursors = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await client.request(
      { method: 'tools/list', params: cursor === undefined ? {} : { cursor } },
      AS_SENT,
      {
        timeout: timeoutMs,
      },
    );
    if (!isObject(page) || !Array.isArray(page.tools))
      throw new Error('the list of tools is not a list');
    for (const tool of page.tools) tools.push(tool);
    cursor =
      typeof page.nextCursor === 'string' && page.nextCursor !== '' ? page.nextCursor : undefined;
    if (
      tools.length > maxTools ||
      (cursor !== undefined && (cursors.has(cursor) || cursors.size + 1 >= MAX_PAGES))
    ) {
      report(
        'list_cut',
        `the list of tools goes on after ${maxTools} tools or ${MAX_PAGES} pages, or repeats itself; the rest was left out`,
      );
      return tools.slice(0, maxTools);
    }
    if (cursor !== undefined) cursors.add(cursor);
  } while (cursor !== undefined);
  return tools;
}
