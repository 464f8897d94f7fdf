/** The real schema of the protocol, and calls to try it on. */

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Interruption } from '../../core/contract/result.ts';
import type { AcpCall } from './ask-client.ts';

const path = fileURLToPath(import.meta.resolve('@agentclientprotocol/sdk/schema/v1/schema.json'));
// The official schema is an object with $defs.
const official = JSON.parse(readFileSync(path, 'utf8')) as { readonly $defs: object };
const ajv = new Ajv2020({
  strict: false,
  allErrors: true,
  logger: false,
  validateFormats: false,
}).addSchema({ ...official, $id: 'acp' });

/** What the official schema of this name says against a value, after it went over the wire. */
export function officialProblems(name: string, value: unknown): readonly string[] {
  const validate = ajv.getSchema(`acp#/$defs/${name}`);
  if (validate === undefined) throw new Error(`the protocol has no ${name}`);
  void validate(JSON.parse(JSON.stringify(value)));
  return (validate.errors ?? []).map(
    ({ instancePath, message = '' }) => `${instancePath} ${message}`,
  );
}

export const WAITING: Interruption = Object.freeze({
  kind: 'approval_required',
  id: 'approval_1',
  fingerprint: 'sha256:0',
  expiresAt: '2026-01-01T00:00:00.000Z',
  shown: { toolName: 'pay', args: { amount: 5 }, reason: 'over the limit' },
  options: ['allow_once', 'allow_always', 'reject_once', 'reject_always'],
});

export const PAY: AcpCall = {
  sessionId: 's-1',
  toolCallId: 'c-1',
  toolName: 'pay',
  annotations: { title: 'Pay', kind: 'execute' },
};
