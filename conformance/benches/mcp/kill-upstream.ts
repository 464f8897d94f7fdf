/**
 * Kills the server behind a proxy while calls are under way, and looks at what became of each of
 * them.
 */

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/core/json/json-value.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import { verifyReceipts } from '../../../src/receipts/index.ts';
import { createRandom } from '../fuzz/random.ts';
import { type Peer, preparePeer } from './peers.ts';
import {
  createPlace,
  killProcess,
  type Place,
  type ProgramCommand,
  waitUntil,
} from './processes.ts';
import type { StartProxy } from './proxy-command.ts';
import { type RawClient, startRawClient } from './raw-client.ts';
import { linesOf } from './server-plans.ts';

export interface KillOptions {
  readonly kills: number;
  readonly seed: number;
  readonly startProxy: StartProxy;
  /** The built `dual-server.js`. */
  readonly dualFile: string;
  /** How long an answer may take. @default 20 000 */
  readonly withinMs?: number;
  readonly onProgress?: (kills: number) => void;
}

export interface KillFigures {
  kills: number;
  calls: number;
  /** Answered with what the tool said. */
  done: number;
  /** Answered with an error, of which the tool had done its work for some. */
  failed: number;
  failedThatRan: number;
  /** Not answered although the connection was there when they were sent. */
  unanswered: number;
  answeredTwice: number;
  /** Effects of one call that were there more than once. */
  twice: number;
  /** Answered as done, without an effect. */
  lost: number;
  readonly problems: string[];
}

const LANES = 16;
const MAX_DELAY_MS = 120;
const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => void systemClock.after(ms, resolve));

/** Each kill has a proxy, a server and a folder of its own. Never rejects for what it finds. */
export async function runKills(options: KillOptions): Promise<KillFigures> {
  const random = createRandom(options.seed);
  const sum: KillFigures = {
    kills: 0,
    calls: 0,
    done: 0,
    failed: 0,
    failedThatRan: 0,
    unanswered: 0,
    answeredTwice: 0,
    twice: 0,
    lost: 0,
    problems: [],
  };
  while (sum.kills < options.kills) {
    await killOnce(options, random.below(MAX_DELAY_MS), sum);
    sum.kills += 1;
    options.onProgress?.(sum.kills);
  }
  return sum;
}

async function killOnce(options: KillOptions, delayMs: number, sum: KillFigures): Promise<void> {
  const place = createPlace();
  const tell = (problem: string): void => void sum.problems.push(`kill ${sum.kills}: ${problem}`);
  try {
    const peer = preparePeer('dual', place, options.dualFile);
    const client = await startRawClient(commandFor(options, place, peer));
    const answers = await callUntilKilled(client, peer, delayMs, options.withinMs ?? 20_000);
    count(answers, client, peer, sum);
    await client.leave();
    const left = await place.endProcesses();
    if (left > 0) tell(`${left} processes left behind`);
    const receipts = join(place.folder, 'state', 'receipts');
    if (existsSync(receipts))
      for (const { kind } of (await verifyReceipts(receipts)).problems) tell(`receipts: ${kind}`);
  } catch (thrown) {
    tell(thrown instanceof Error ? thrown.message : 'something was thrown');
  } finally {
    await place.close();
  }
}

function commandFor(
  { startProxy }: KillOptions,
  { folder, env }: Place,
  { command }: Peer,
): ProgramCommand {
  const configFile = join(folder, 'allium.yaml');
  writeFileSync(configFile, 'version: 1\nstate: { dir: state }\nlayers:\n  - auditLog: local\n');
  const target = startProxy({ configFile, upstream: command, listen: null, env });
  if ('url' in target) throw new Error('the server is behind a program');
  return target;
}

/** By token. `null` for a call that nobody answered. */
type Answers = ReadonlyMap<string, JsonObject | null>;

/**
 * Lanes that call one after the other, until the server is killed; what is under way then is waited
 * for.
 */
async function callUntilKilled(
  client: RawClient,
  peer: Peer,
  delayMs: number,
  withinMs: number,
): Promise<Answers> {
  const answers = new Map<string, JsonObject | null>();
  let isOver = false;
  const lane = async (name: number): Promise<void> => {
    for (let nth = 0; !isOver; nth += 1) {
      const token = `lane${name}-${nth}`;
      const params = { name: 'write_note', arguments: { text: token } };
      const answer = await client.request(token, 'tools/call', params, withinMs).catch(() => null);
      answers.set(token, answer !== null && 'id' in answer ? answer : null);
    }
  };
  const lanes = Array.from({ length: LANES }, (_, name) => lane(name));
  await waitUntil('the first effect', () => linesOf(peer.notes).length > 0);
  await pause(delayMs);
  isOver = true;
  linesOf(peer.pids).map(Number).forEach(killProcess);
  await Promise.all(lanes);
  return answers;
}

function count(answers: Answers, client: RawClient, { notes }: Peer, sum: KillFigures): void {
  const effects = new Map<string, number>();
  for (const token of linesOf(notes)) effects.set(token, (effects.get(token) ?? 0) + 1);
  for (const [token, answer] of answers) {
    const ran = effects.get(token) ?? 0;
    sum.calls += 1;
    if (ran > 1) sum.twice += 1;
    if (client.answersTo(token) > 1) sum.answeredTwice += 1;
    if (answer === null) sum.unanswered += 1;
    else if (isDone(answer)) {
      sum.done += 1;
      if (ran === 0) sum.lost += 1;
    } else {
      sum.failed += 1;
      if (ran > 0) sum.failedThatRan += 1;
    }
  }
}

const isDone = ({ result }: JsonObject): boolean => {
  const { isError } = (result ?? { isError: true }) as { readonly isError?: unknown };
  return isError !== true;
};
