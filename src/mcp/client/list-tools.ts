/** The list of a server's tools, as it was sent. */

import type { StandardSchemaV1 } from '@modelcontextprotocol/client';
import { isObject } from '../../core/json/json.ts';
import type { Connection } from './connection.ts';
import type { ReportProblem } from './problem.ts';
import type { Clock } from '../../core/time/clock.ts';
import { describeThrown } from '../../core/contract/errors.ts';
import { METHODS } from '../wire.ts';

/** More pages than any list of so many tools needs; a server may page for ever. */
const MAX_PAGES = 64;

/**
 * Takes what came as it came: one entry that is wrong must not cost all the others, and no member
 * is dropped.
 */
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
      { method: METHODS.listTools, params: cursor === undefined ? {} : { cursor } },
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

/** A server may say it a thousand times a second. */
const REST_MS = 250;

/** A server that says it every time its list is read does not want it read. */
const MAX_READINGS = 8;

export interface Refresher {
  readonly ask: () => void;
  /**
   * For a call that is about to be sent: `null` where the list is as new as the server has said it
   * is. Otherwise reads it now, without the rest, and rejects where that does not come to an end.
   */
  caughtUp(): Promise<void> | null;
  /** Leaves no timer behind. */
  stop(): void;
}

export function createRefresher(
  clock: Clock,
  refresh: () => Promise<unknown>,
  report: ReportProblem,
): Refresher {
  /** The list was said to have changed after the last reading of it began. */
  let isBehind = false;
  let reading: Promise<void> | null = null;
  let isResting = false;
  let isStopped = false;
  let takeBack = () => {};
  const rested = (): void => {
    isResting = false;
    if (isBehind) read();
  };
  const read = (): void => {
    isBehind = false;
    reading = refresh()
      .then(() => {})
      .catch((thrown: unknown) => {
        isBehind = true;
        report('list_failed', `the new list of tools could not be read: ${describeThrown(thrown)}`);
      })
      .finally(() => {
        reading = null;
        if (isStopped) return;
        takeBack();
        isResting = true;
        takeBack = clock.after(REST_MS, rested);
      });
  };
  const catchUp = async (): Promise<void> => {
    for (let readings = 0; isBehind || reading !== null; readings += 1) {
      if (readings === MAX_READINGS || isStopped)
        throw new Error('the list of tools could not be read');
      if (reading === null) read();
      await reading;
    }
  };
  return {
    ask() {
      if (isStopped) return;
      isBehind = true;
      if (reading === null && !isResting) read();
    },
    caughtUp: () => (isBehind || reading !== null ? catchUp() : null),
    stop() {
      isStopped = true;
      takeBack();
    },
  };
}
