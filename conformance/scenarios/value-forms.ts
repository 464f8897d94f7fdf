/** How a scenario writes what is no data: callbacks, sinks, stores and receipt files. */

import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, type JsonObject, type JsonValue, toWire } from '../../src/index.ts';
import {
  type LocalReceiptSink,
  localReceiptSink,
  queryReceipts,
  verifyReceipts,
} from '../../src/receipts/index.ts';
import type { ValueForm, ValueForms } from '../../src/config/value-forms.ts';
import { memoryOutputs } from './memory-outputs.ts';
import { pinnedTools } from './pinned-tools.ts';
import { answerOf, createScript, type Script, type ScriptLog } from './scripts.ts';
import { tempFiles } from './temp-files.ts';

/** The forms of one scenario, and what they have seen. */
export interface ScenarioForms {
  readonly forms: ValueForms;
  readonly sinks: Readonly<Record<string, readonly JsonValue[]>>;
  /** Adds the answers that nobody asked for to the log. */
  reportUnused(): void;
  /** The receipt files, if there are any. Other files become sinks. All of them are removed. */
  readFiles(): Promise<JsonObject | null>;
}

/** Forms for one scenario. */
export function scenarioForms(clock: Clock, log: ScriptLog): ScenarioForms {
  const sinks: Record<string, JsonObject[]> = {};
  const temporary = tempFiles();
  const scripts: { readonly name: string; readonly script: Script }[] = [];
  const files = receiptFiles(clock);
  const forms = new Map<`$${string}`, ValueForm>([
    [
      '$script',
      (answers, where) => {
        // The loader lets through nothing but lists of JSON here.
        const script = createScript(where, answers as readonly JsonValue[], log);
        scripts.push({ name: where, script });
        return () => answerOf(script.next(), clock);
      },
    ],
    // What came from a scenario file is JSON.
    ['$always', (answer) => () => answerOf(answer as JsonValue, clock)],
    [
      '$sink',
      (name) => {
        const kept = (sinks[String(name)] ??= []);
        return (record: object) => void kept.push(toWire(record));
      },
    ],
    ['$files', () => files.sink()],
    ['$outputs', (name) => memoryOutputs((sinks[String(name)] ??= [])).outputFiles],
    ['$tempFile', (argument) => temporary.path(argument)],
    ['$pins', (argument) => pinnedTools(argument, clock)],
  ]);
  return {
    forms,
    sinks,
    reportUnused() {
      for (const { name, script } of scripts)
        if (script.left > 0)
          log.unused.push(`${name}: ${script.left} scripted answers were not asked for`);
    },
    async readFiles() {
      Object.assign(sinks, temporary.take());
      return files.read();
    },
  };
}

/** Real receipt files in a folder of their own. */
function receiptFiles(clock: Clock): {
  sink: () => LocalReceiptSink;
  read: () => Promise<JsonObject | null>;
} {
  let made: { readonly folder: string; readonly sink: LocalReceiptSink } | null = null;
  return {
    sink() {
      const folder = mkdtempSync(join(tmpdir(), 'allium-scenario-'));
      const { privateKey } = generateKeyPairSync('ed25519');
      const sink = localReceiptSink({
        dir: folder,
        key: { id: 'scenario', secret: 'scenario' },
        signingKey: privateKey,
        clock,
      });
      made = { folder, sink };
      return sink;
    },
    async read() {
      if (made === null) return null;
      const { folder, sink } = made;
      try {
        await sink.close();
        const { ok, count, key, problems } = await verifyReceipts(folder, {
          publicKey: sink.publicKey,
        });
        const receipts: JsonValue[] = [];
        for await (const receipt of queryReceipts(folder)) receipts.push(toWire(receipt));
        return {
          receipts,
          verified: { ok, count, key, problems: problems.map(({ kind }) => kind) },
        };
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  };
}
