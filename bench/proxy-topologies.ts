/**
 * The ways from a client to the echo tool that are compared, each as the command that a client
 * starts.
 */

import { strict as assert } from 'node:assert';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const DIRECT = 'direct stdio';
export const BYTES = 'byte pipe';
export const EMPTY = 'allium proxy, no layers';
export const FULL = 'allium proxy, captain stack';
export const SDK = 'SDK pipe, ungoverned';
export const NAIVE = 'SDK pipe, naive stack';

export interface Topology {
  readonly name: string;
  /** Arguments of this very Node. */
  readonly args: readonly string[];
  /**
   * Throws unless every one of so many calls left what it should, once all processes have ended.
   */
  readonly prove?: (calls: number) => void;
}

/**
 * As the documentation lists it. No OpenTelemetry SDK is registered in the proxy: spans go nowhere,
 * as for everybody who has not set one up.
 */
export const CAPTAIN_STACK = `version: 1
session: { id: bench }
state: { dir: .allium }
layers:
  - auditLog: { sink: local, durability: background }
  - telemetry: otel
  - summary: { $path: toolName }
  - consent: { rules: [{ tool: '*', decision: allow }] }
  - requiredReason
  - redaction: { detectors: [secrets] }
  - handoffArtifact
  - idempotency
  - rateLimit: { maxCalls: 1000000000 }
  - dryRun: { only: [] }
  - timeout: { maxMs: 30000 }
`;

const NO_LAYERS = 'version: 1\nlayers: []\n';

const besideThis = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const ofPackage = (name: string, file: string): string =>
  fileURLToPath(new URL(file, import.meta.resolve(`${name}/package.json`)));

export const SERVER_ARGS: readonly string[] = [
  ofPackage('@modelcontextprotocol/server-everything', 'dist/index.js'),
  'stdio',
];

/** Everything that is written goes into the folder. */
export function topologiesIn(folder: string): readonly Topology[] {
  const server = [process.execPath, ...SERVER_ARGS];
  const cli = ofPackage('allium', 'dist/src/cli/main.js');
  const empty = writeConfig(join(folder, 'empty'), NO_LAYERS);
  const full = writeConfig(join(folder, 'full'), CAPTAIN_STACK);
  const naive = join(folder, 'naive.jsonl');
  return [
    { name: DIRECT, args: SERVER_ARGS },
    { name: BYTES, args: [besideThis('pipe-bytes.js'), ...server] },
    { name: EMPTY, args: [cli, 'proxy', '--config', empty, '--', ...server] },
    {
      name: FULL,
      args: [cli, 'proxy', '--config', full, '--', ...server],
      prove: (calls) =>
        proveReceipts(FULL, receiptsIn(join(folder, 'full', '.allium', 'receipts')), calls),
    },
    { name: SDK, args: [besideThis('pipe-sdk.js'), ...server] },
    {
      name: NAIVE,
      args: [besideThis('pipe-sdk.js'), `--naive=${naive}`, ...server],
      prove: (calls) => proveReceipts(NAIVE, readFileSync(naive, 'utf8'), calls),
    },
  ];
}

/** Writes a file that `--config` takes, in a folder of its own. */
export function writeConfig(folder: string, text: string): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'allium.yaml');
  writeFileSync(file, text);
  return file;
}

const receiptsIn = (folder: string): string =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.jsonl'))
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('');

/** A stack that refused calls, or left some unrecorded, would be fast for the wrong reason. */
function proveReceipts(name: string, lines: string, calls: number): void {
  const receipts = lines.split('\n').filter((line) => line.includes('"record":"receipt"'));
  assert.equal(receipts.length, calls, `${name}: one receipt for each call`);
  assert.ok(
    receipts.every((line) => line.includes('"status":"ok"')),
    `${name}: every call ended well`,
  );
}
