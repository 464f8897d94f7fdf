/** Every client at every server, by every route, under every behaviour. */

import { BEHAVIOURS } from './behaviours.ts';
import type { Behaviour } from './behaviour.ts';
import { DRIVERS } from './clients.ts';
import type { Connection, Driver } from './driver.ts';
import { isModernServer, SERVERS, type ServerName, servesHttp } from './peers.ts';
import type { StartProxy } from './proxy-command.ts';
import { type MatrixCase, type Route, ROUTES, type Row, runCase } from './run-case.ts';

export const FACTORS = ['client', 'server', 'behaviour', 'route', 'era'] as const;

/** All that make sense. */
export const CASES: readonly MatrixCase[] = DRIVERS.flatMap((driver) =>
  SERVERS.flatMap((server) =>
    BEHAVIOURS.flatMap((behaviour) =>
      ROUTES.filter((route) => isPossible(driver, server, behaviour, route)).map((route) => ({
        client: driver.name,
        server,
        behaviour: behaviour.name,
        route,
        era: eraOf(driver, server),
      })),
    ),
  ),
);

/** A client that can speak both falls back to what the server has. */
export function eraOf({ isModern }: Driver, server: ServerName): Connection['era'] {
  return isModern && isModernServer(server) ? 'modern' : 'legacy';
}

function isPossible(
  driver: Driver,
  server: ServerName,
  { name, only }: Behaviour,
  route: Route,
): boolean {
  if (only !== undefined && !only.includes(server)) return false;
  if (route === 'http' && !servesHttp(server)) return false;
  // A server by HTTP that keeps no sessions has nobody to ask in the older revisions.
  return !(name === 'server asks' && route === 'http' && !driver.isModern);
}

export interface MatrixOptions {
  readonly cases: readonly MatrixCase[];
  readonly startProxy: StartProxy;
  /** The built `dual-server.js`. */
  readonly dualFile: string;
  /** How many at once. @default 2 */
  readonly concurrency?: number;
  readonly onRow?: (row: Row, done: number) => void;
}

/**
 * Runs the cases. Never rejects for what it finds: look at the `findings` of the rows, which are in
 * the order of the cases.
 */
export async function runMatrix({
  cases,
  startProxy,
  dualFile,
  concurrency = 2,
  onRow,
}: MatrixOptions): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const waiting = cases.entries();
  let done = 0;
  const lane = async (): Promise<void> => {
    for (const [index, each] of waiting) {
      const row = await runCase(each, { startProxy, dualFile });
      rows[index] = row;
      onRow?.(row, (done += 1));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  return rows;
}
