/** One case of the matrix, from an empty folder to the last process. */

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../src/core/time/clock.ts';
import { queryReceipts, type StoredReceipt, verifyReceipts } from '../../../src/receipts/index.ts';
import {
  type Aspect,
  type Behaviour,
  EDITED,
  type Expected,
  type Find,
  ORIGINAL,
  type Scene,
} from './behaviour.ts';
import { BEHAVIOURS, DECIDE_MODULE } from './behaviours.ts';
import { DRIVERS } from './clients.ts';
import type { Connection, Driver, Target } from './driver.ts';
import { SYNTHETIC_SECRET } from './dual-tools.ts';
import { type Peer, preparePeer, type ServerName, startHttpPeer } from './peers.ts';
import {
  createPlace,
  freePort,
  isListening,
  type Place,
  startProgram,
  waitUntil,
} from './processes.ts';
import { PROXY_TOKEN, proxyUrl, type StartProxy } from './proxy-command.ts';
import { PLANS } from './server-plans.ts';

/**
 * `stdio`: on both sides. `listen`: the client comes by HTTP. `http`: the server is reached by
 * HTTP.
 */
export const ROUTES = ['stdio', 'listen', 'http'] as const;
export type Route = (typeof ROUTES)[number];

/** One connection and what happens on it, by names only. */
export interface MatrixCase {
  readonly client: string;
  readonly server: ServerName;
  readonly behaviour: string;
  readonly route: Route;
  /** What the two come to speak. */
  readonly era: Connection['era'];
}

export interface Finding {
  readonly about: Aspect;
  readonly problem: string;
}

export interface Row extends MatrixCase {
  /** Nothing, if all is well. */
  readonly findings: readonly Finding[];
  readonly durationMs: number;
}

export interface RunOptions {
  readonly startProxy: StartProxy;
  readonly dualFile: string;
}

const MOST_MS = 60_000;

/** Never rejects: what goes wrong is a finding. */
export async function runCase(
  each: MatrixCase,
  { startProxy, dualFile }: RunOptions,
): Promise<Row> {
  const startedAt = performance.now();
  const place = createPlace();
  const findings: Finding[] = [];
  const find: Find = (about, problem) => void findings.push({ about, problem });
  const behaviour = named(BEHAVIOURS, each.behaviour);
  const peer = preparePeer(each.server, place, dualFile);
  const scene = behaviour.open(peer, PLANS[each.server]);
  // Whoever hangs is ended, and everybody who waits for it with it.
  const takeBack = systemClock.after(MOST_MS, () => {
    find('process', `had not ended after ${MOST_MS} ms`);
    void place.endProcesses(0);
  });
  try {
    const route = await openRoute(each, { place, peer, behaviour, startProxy });
    try {
      const era = await playScene(named(DRIVERS, each.client), route.target, peer, scene, find);
      if (era !== each.era) find('process', `they speak ${era}`);
    } finally {
      await route.stop();
    }
  } catch (thrown) {
    find(
      'process',
      thrown instanceof Error ? thrown.message.slice(0, 200) : 'something was thrown',
    );
  }
  takeBack();
  const left = await place.endProcesses();
  if (left > 0) find('process', `${left} left behind`);
  scene.afterwards?.(find);
  await checkReceipts(join(place.folder, 'state', 'receipts'), scene.receipts, find);
  await place.close();
  return { ...each, findings, durationMs: Math.round(performance.now() - startedAt) };
}

function named<T extends { readonly name: string }>(all: readonly T[], name: string): T {
  const found = all.find((each) => each.name === name);
  if (found === undefined) throw new RangeError(`there is no "${name}"`);
  return found;
}

async function playScene(
  driver: Driver,
  target: Target,
  peer: Peer,
  scene: Scene,
  find: Find,
): Promise<Connection['era']> {
  const { onElicit } = scene;
  const connection = await driver.connect(target, {
    isModern: peer.isModern,
    ...(onElicit === undefined ? {} : { onElicit }),
  });
  try {
    await scene.run(connection, find);
  } finally {
    scene.end?.();
    await connection.close();
  }
  return connection.era;
}

interface RouteOptions {
  readonly place: Place;
  readonly peer: Peer;
  readonly behaviour: Behaviour;
  readonly startProxy: StartProxy;
}

interface OpenRoute {
  readonly target: Target;
  stop(): Promise<void>;
}

async function openRoute(
  { route }: MatrixCase,
  { place, peer, behaviour, startProxy }: RouteOptions,
): Promise<OpenRoute> {
  const configFile = writeConfig(place, behaviour);
  const stops: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (const each of stops.reverse()) await each();
  };
  const http = route === 'http' ? await startHttpPeer(peer) : null;
  if (http !== null) stops.push(() => http.stop());
  const listen = route === 'listen' ? await freePort() : null;
  const upstream = http === null ? peer.command : { url: http.url };
  const target = startProxy({ configFile, upstream, listen, env: place.env });
  if (listen === null || 'url' in target) return { target, stop };
  const program = startProgram(target);
  program.child.stdout?.resume();
  stops.push(() => program.stop());
  const port = listen;
  await waitUntil('the proxy to listen', () => isListening(port)).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return { target: { url: proxyUrl(port), token: PROXY_TOKEN }, stop };
}

function writeConfig({ folder }: Place, { layers }: Behaviour): string {
  const file = join(folder, 'allium.yaml');
  writeFileSync(join(folder, 'decide.mjs'), DECIDE_MODULE);
  const stack = ['- auditLog: local', ...layers].map((line) => `  ${line}\n`).join('');
  writeFileSync(file, `version: 1\nstate: { dir: state }\nlayers:\n${stack}`);
  return file;
}

async function checkReceipts(
  dir: string,
  expected: readonly Expected[],
  find: Find,
): Promise<void> {
  if (!existsSync(dir)) return find('receipt', 'there is none');
  const receipts: StoredReceipt[] = [];
  for await (const receipt of queryReceipts(dir)) receipts.push(receipt);
  const { problems } = await verifyReceipts(dir);
  for (const { kind } of problems) find('receipt', `the chain: ${kind}`);
  compare(receipts, expected, find);
  const text = readdirSync(dir)
    .map((file) => readFileSync(join(dir, file), 'utf8'))
    .join('');
  for (const raw of [ORIGINAL, EDITED, SYNTHETIC_SECRET])
    if (text.includes(raw)) find('receipt', 'holds a raw value');
}

/** A pass over a call that ended with a question leaves a receipt of its own. */
function compare(
  receipts: readonly StoredReceipt[],
  expected: readonly Expected[],
  find: Find,
): void {
  const waited = receipts.filter(({ status }) => status === 'approval_required');
  if (waited.some(({ executed }) => executed !== 'no'))
    find('receipt', 'a call that waits has run');
  const ended = receipts
    .filter((receipt) => !waited.includes(receipt))
    .sort((a, b) => (a.emitted_at < b.emitted_at ? -1 : 1));
  const most = expected.length;
  const least = expected.filter(
    ({ isOptional }) => isOptional !== true || waited.length === 0,
  ).length;
  if (ended.length < least || ended.length > most)
    find('receipt', `${ended.length} instead of ${most}`);
  for (const [index, receipt] of ended.slice(0, most).entries()) {
    const wanted = expected[index];
    if (wanted === undefined) continue;
    const { tool_name: tool, status, executed } = receipt;
    if (tool !== wanted.tool) find('receipt', 'is about another tool');
    if (status !== wanted.status) find('receipt', `${status} instead of ${wanted.status}`);
    if (!(wanted.executed as readonly string[]).includes(executed))
      find('receipt', `executed: ${executed}`);
  }
}
