/**
 * What is called on each server: something with an effect, something that answers with a secret,
 * something that takes its time.
 */

import { execFileSync } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/core/json/json-value.ts';
import { SYNTHETIC_SECRET } from './dual-tools.ts';
import type { Peer, ServerName } from './peers.ts';

export interface PlannedCall {
  readonly tool: string;
  readonly args: JsonObject;
}

export interface SlowCall extends PlannedCall {
  /** Whether the server is at work; `progress` is how often it has reported. */
  hasBegun(progress: number): boolean;
  /** Whether the server heard that nobody waits any more. `null` where that leaves no trace. */
  hasStopped(): boolean | null;
  /** Lets the server come to an end. */
  release(): void;
}

export interface ServerPlan {
  /** A call that leaves `text` somewhere. */
  effect(peer: Peer, text: string): PlannedCall;
  /** The texts that were left. `null` where a server leaves nothing. */
  effects(peer: Peer): readonly string[] | null;
  secret(peer: Peer): PlannedCall;
  /** To be prepared before the server starts. */
  slow(peer: Peer): SlowCall;
}

const everything: ServerPlan = {
  effect: (_peer, text) => ({ tool: 'echo', args: { message: text } }),
  effects: () => null,
  // The bench puts a secret among its variables.
  secret: () => ({ tool: 'get-env', args: {} }),
  slow: () => ({
    tool: 'trigger-long-running-operation',
    args: { duration: 20, steps: 400 },
    hasBegun: (progress) => progress > 0,
    hasStopped: () => null,
    release: () => {},
  }),
};

const filesystem: ServerPlan = {
  effect: ({ root }, text) => ({
    tool: 'write_file',
    args: { path: join(root, 'note.txt'), content: text },
  }),
  effects: ({ root }) => linesOf(join(root, 'note.txt')),
  secret({ root }) {
    writeFileSync(join(root, 'secret.txt'), `the key is ${SYNTHETIC_SECRET}.`);
    return { tool: 'read_text_file', args: { path: join(root, 'secret.txt') } };
  },
  slow: ({ root }) => ({
    tool: 'read_text_file',
    args: { path: join(root, 'pipe') },
    ...pipeAt(join(root, 'pipe')),
  }),
};

const memory: ServerPlan = {
  effect: (_peer, text) => ({
    tool: 'create_entities',
    args: { entities: [{ name: text, entityType: 'note', observations: [] }] },
  }),
  effects: ({ memoryFile }) =>
    linesOf(memoryFile).map((line) =>
      String((JSON.parse(line) as { readonly name?: unknown }).name),
    ),
  secret({ memoryFile }) {
    writeFileSync(
      memoryFile,
      JSON.stringify({
        type: 'entity',
        name: 'key',
        entityType: 'note',
        observations: [SYNTHETIC_SECRET],
      }),
    );
    return { tool: 'read_graph', args: {} };
  },
  slow: ({ memoryFile }) => ({ tool: 'read_graph', args: {}, ...pipeAt(memoryFile) }),
};

const dual: ServerPlan = {
  effect: (_peer, text) => ({ tool: 'write_note', args: { text } }),
  effects: ({ notes }) => linesOf(notes),
  secret: () => ({ tool: 'leak', args: {} }),
  slow: ({ notes }) => ({
    tool: 'slow',
    args: { text: 'it', ms: 20_000 },
    hasBegun: () => linesOf(notes).includes('begun it'),
    hasStopped: () => linesOf(notes).includes('stopped it'),
    release: () => {},
  }),
};

export const PLANS: Readonly<Record<ServerName, ServerPlan>> = {
  everything,
  filesystem,
  memory,
  dual,
};

export const linesOf = (file: string): readonly string[] =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
    : [];

/**
 * A pipe in the place of a file: whoever reads it waits for us, and we learn when somebody reads.
 */
function pipeAt(path: string): Pick<SlowCall, 'hasBegun' | 'hasStopped' | 'release'> {
  execFileSync('mkfifo', [path]);
  let writer: number | null = null;
  return {
    hasBegun() {
      try {
        // Opens only once there is a reader, who then waits until this end is closed again.
        writer ??= openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
        return true;
      } catch {
        return false;
      }
    },
    hasStopped: () => null,
    release() {
      if (writer !== null) closeSync(writer);
      writer = null;
    },
  };
}
