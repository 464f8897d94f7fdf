/** Hostile lines from both sides at a proxy that must go on working. */

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/core/json/json-value.ts';
import { createRandom, type Random } from '../fuzz/random.ts';
import { report, type Violation } from '../fuzz/watch-process.ts';
import { mutatedFrame, VALID } from './mutate-frames.ts';
import { createPlace, type Place } from './processes.ts';
import type { StartProxy } from './proxy-command.ts';
import { type RawClient, startRawClient } from './raw-client.ts';

export interface FrameOptions {
  /** How many hostile lines from each side. */
  readonly count: number;
  readonly seed: number;
  readonly startProxy: StartProxy;
  /** The built `frame-server.js`. */
  readonly serverFile: string;
  /** The most memory that the proxy may ever have, in MiB. @default 512 */
  readonly maxMemory?: number;
  readonly onProgress?: (frames: number) => void;
}

export interface FrameFigures {
  frames: number;
  readonly byKind: Record<string, number>;
  calls: number;
  answered: number;
  /** Of the proxy, in MiB. */
  peakMemory: number;
  unhandled: number;
  readonly violations: Record<string, Violation>;
}

const FRAMES_PER_CALL = 20;
const LINES_PER_MESSAGE = 10;
/** With every call goes a ping. */
const LINES_PER_CALL = 2 * LINES_PER_MESSAGE;

/**
 * A hostile client at a good server first, then a good client at a hostile server. Never rejects
 * for what it finds.
 */
export async function runFrames(options: FrameOptions): Promise<FrameFigures> {
  const figures: FrameFigures = {
    frames: 0,
    byKind: {},
    calls: 0,
    answered: 0,
    peakMemory: 0,
    unhandled: 0,
    violations: {},
  };
  await againstProxy(options, figures, 0, async (client) => {
    const random = createRandom(options.seed);
    while (figures.frames < options.count && client.isAlive()) {
      await sendFrames(
        client,
        random,
        Math.min(FRAMES_PER_CALL, options.count - figures.frames),
        figures,
      );
      await validCall(client, figures);
      options.onProgress?.(figures.frames);
    }
  });
  await againstProxy(options, figures, LINES_PER_MESSAGE, async (client) => {
    for (let seen = 0; seen < options.count && client.isAlive(); seen += LINES_PER_CALL) {
      await validCall(client, figures);
      figures.frames += LINES_PER_CALL;
      options.onProgress?.(figures.frames);
    }
  });
  return figures;
}

type Play = (client: RawClient) => Promise<void>;

async function againstProxy(
  options: FrameOptions,
  figures: FrameFigures,
  linesPerMessage: number,
  play: Play,
): Promise<void> {
  const place = createPlace();
  const side = linesPerMessage === 0 ? 'a hostile client' : 'a hostile server';
  let client: RawClient | null = null;
  try {
    client = await startRawClient(proxyCommand(options, place, linesPerMessage), (message) => {
      if (isUntouchedList(message))
        report(figures, 'a list reached the client as the server wrote it', side);
    });
    await play(client);
    figures.peakMemory = Math.max(figures.peakMemory, client.peakMemory());
    if (!client.isAlive()) report(figures, 'the proxy ended', side);
    if (existsSync(seenFile(place))) report(figures, 'a hidden call reached the server', side);
    if (client.garbage() > 0) report(figures, 'lines went out that are no messages', side);
    if (client.peakMemory() > (options.maxMemory ?? 512))
      report(figures, 'took too much memory', side);
  } catch (thrown) {
    report(figures, violationOf(thrown), side);
  } finally {
    await client?.stop();
    await place.close();
  }
}

/** Writing to a program that has ended fails before it is seen to have ended. */
function violationOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return 'something was thrown';
  return 'code' in thrown && thrown.code === 'EPIPE' ? 'the proxy ended' : thrown.message;
}

/** A stack that changes every list, and lets every call through. */
export const CONFIG = `version: 1
state: { dir: state }
layers:
  - auditLog: local
  - requiredReason: { onMissing: fill_blank, schemaRequired: false }
  - redaction
`;

/** Whether a list came through without what that stack adds. */
export function isUntouchedList({ result }: JsonObject): boolean {
  const { tools } = (result ?? {}) as { readonly tools?: unknown };
  return Array.isArray(tools) && tools.length > 0 && !JSON.stringify(tools).includes('"reason"');
}

const seenFile = ({ folder }: Place): string => join(folder, 'seen');

function proxyCommand(
  { seed, startProxy, serverFile }: FrameOptions,
  place: Place,
  linesPerMessage: number,
) {
  const env = { ...place.env, FRAMES_SEEN: seenFile(place) };
  const configFile = join(place.folder, 'allium.yaml');
  writeFileSync(configFile, CONFIG);
  const upstream = {
    command: process.execPath,
    args: [serverFile, String(seed), String(linesPerMessage)],
    env,
  };
  const command = startProxy({ configFile, upstream, listen: null, env });
  if ('url' in command) throw new Error('frames go to a program');
  return command;
}

async function sendFrames(
  client: RawClient,
  random: Random,
  count: number,
  figures: FrameFigures,
): Promise<void> {
  for (let left = count; left > 0; left -= 1) {
    const { kind, bytes } = mutatedFrame(random);
    await client.send(bytes);
    figures.frames += 1;
    figures.byKind[kind] = (figures.byKind[kind] ?? 0) + 1;
  }
}

/**
 * A ping and a call between the hostile lines; the call is looked at again later, when a second
 * answer may have come.
 */
async function validCall(client: RawClient, figures: FrameFigures): Promise<void> {
  const [id, ping, text] = [
    `${VALID}${figures.calls}`,
    `${VALID}ping-${figures.calls}`,
    `text ${figures.calls}`,
  ];
  figures.calls += 1;
  const answer = await client.request(id, 'tools/call', { name: 'echo', arguments: { text } });
  if (textIn(answer) !== text) report(figures, 'a call was answered with something else', id);
  else figures.answered += 1;
  await client.request(ping, 'ping', {});
  if (client.answersTo(id) > 1) report(figures, 'a call was answered twice', id);
}

function textIn({ result }: JsonObject): string | undefined {
  const { content } = (result ?? {}) as {
    readonly content?: readonly { readonly text?: string }[];
  };
  return content?.[0]?.text;
}
