/** The honest limit on the scenario of the captain stack, and what any record of it costs. */

import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from 'allium';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { createLimit } from './limit.ts';
import {
  answerTo,
  DESCRIPTION,
  type Governed,
  KEY,
  numbered,
  type Rules,
  rulesFor,
  SCHEMA,
  SESSION,
  type Side,
  TOOL,
  TURN,
} from './stack-scenario.ts';

export function limitStack(rules: Rules = rulesFor(answerTo)): Side {
  const root = mkdtempSync(join(tmpdir(), 'allium-bench-limit-'));
  const folder = join(root, 'receipts');
  const limit = createLimit({
    tool: {
      name: TOOL,
      description: DESCRIPTION,
      kind: 'search',
      hints: Object.freeze({
        readOnly: true,
        destructive: false,
        idempotent: false,
        openWorld: true,
      }),
      inputSchema: SCHEMA,
      execute: rules.answer,
    },
    session: SESSION,
    folder,
    key: { id: KEY.id, secret: String(KEY.secret) },
    decide: (args) => rules.decide(args as JsonObject), // The limit has looked that they are.
    summarize: (toolName, status) => `${toolName}: ${status}`,
    maxCalls: rules.maxCalls,
    timeoutMs: rules.timeoutMs,
    graceMs: rules.graceMs,
  });
  const ask: Side['ask'] = (id, args) => limit.call(id, args, TURN);
  let finished: Promise<void> | null = null;
  const finish = (): Promise<void> => (finished ??= limit.close());
  return {
    name: 'limit',
    folder,
    publicKey: limit.publicKey,
    ask,
    call: numbered(ask),
    flush: limit.flush,
    finish,
    close: async () => {
      await finish();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** The arguments checked, and they and the answer hashed as `JSON.stringify` writes them. */
export function floorStack({ answer }: Rules): Governed {
  const fits = new Ajv2020({ strict: false }).compile(SCHEMA);
  const { signal } = new AbortController();
  return {
    name: 'JSON + SHA-256 + ajv',
    folder: '',
    async call(args) {
      const isFit = fits(args);
      const asked = hash('sha256', JSON.stringify(args));
      const result = await answer(args, { signal });
      return { isFit, asked, answered: hash('sha256', JSON.stringify(result)), result };
    },
    flush: async () => {},
    close: async () => {},
  };
}
