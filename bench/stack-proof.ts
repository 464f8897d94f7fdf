/**
 * Whether two sides do the same: their answers, receipts and spans for a list of calls, up to
 * times, ids and what is made of them. And whether a side that does something else would be
 * noticed.
 */

import { strict as assert } from 'node:assert';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-node';
import type { JsonObject } from 'allium';
import { verifyReceipts } from 'allium/receipts';
import { alliumStack } from './stack-allium.ts';
import { limitStack } from './stack-limit.ts';
import { answerTo, type Rules, shortAnswerTo, type Side, type Tracing } from './stack-scenario.ts';

/** Looks random, as secrets do. */
const NOISE = 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8';
const JWT = `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${NOISE}`;
const PEM = `-----BEGIN PRIVATE KEY-----\n${NOISE}${NOISE}\n-----END PRIVATE KEY-----`;

/** The tool of the proof does what its arguments say. */
async function proofAnswer(
  args: JsonObject,
  context: { readonly signal: AbortSignal },
): Promise<JsonObject> {
  switch (args.mode) {
    case 'rows':
      return answerTo(args);
    case 'secret':
      return { note: `the key is ghp_${NOISE}`, rows: [{ ok: true }, { jwt: JWT }] };
    case 'throw':
      throw new Error('the shop is closed');
    case 'throw secret':
      throw new Error(`no shop for npm_${NOISE}`);
    case 'hang':
      return new Promise(() => {});
    case 'signal':
      return { aborted: context.signal.aborted };
    case 'handoff':
      return { __handoff: { task: 'find the order' } };
    case 'texts':
      return { b: 'Zoë – 東京 😀', a: '"quoted" \\ \u0001\n', '': '', é: 'name' };
    case 'numbers':
      return { n: [0, -1, 0.1, 19.5, 1e21, 1e-7, 123456789012345, 2 ** 53] };
    default:
      return shortAnswerTo(args);
  }
}

const RULES: Rules = {
  answer: proofAnswer,
  decide: ({ customer }) => (customer === 'denied' ? 'denied' : 'auto'),
  maxCalls: 26,
  timeoutMs: 40,
  graceMs: 10,
};

const reason = 'The user asked.';
const nested = (depth: number): JsonObject => (depth === 0 ? {} : { in: nested(depth - 1) });

/** Calls in their order. Those of one list are made at the same time. */
const CALLS: readonly (readonly unknown[])[] = [
  // What runs, and what is answered again.
  [{ customer: 'a', city: 'Ghent', reason }],
  [{ customer: 'a', city: 'Ghent', reason }],
  [{ reason: '  because  ', customer: 'a', city: 'Ghent' }],
  [
    { customer: 'twice', reason },
    { customer: 'twice', reason: 'at the same time' },
  ],
  [{ customer: 'rows', mode: 'rows', reason }],
  ['{"customer":"as text","limit":3,"reason":"x"}'],
  [{ customer: 'b', reason, z: { y: [1, 2, { x: 'é', w: null }], a: 1e21 }, empty: [{}, []] }],
  [{ customer: 'texts', mode: 'texts', reason: 'für "Zoë"' }],
  [{ customer: 'numbers', mode: 'numbers', reason }],
  [{ customer: 'signal', mode: 'signal', reason }],
  [{ customer: 'handoff', mode: 'handoff', reason }],
  [{ customer: 'deep', reason, deep: nested(60) }],
  // What is not accepted.
  [{ customer: 'a' }],
  [{ customer: 'a', reason: '  ' }],
  [{ customer: 3, reason }],
  [{ reason }],
  [{ customer: [1], limit: 'x', reason: null }],
  ['{"customer": broken'],
  [[1]],
  [{ customer: '\ud800', reason }],
  [{ customer: 'deeper', reason, deep: nested(70) }],
  [{ customer: 'denied', reason }],
  // What is hidden, and what only looks like it.
  [{ customer: `my token is ghp_${NOISE}`, reason }],
  [{ customer: 'c', keys: [`AKIA${'Q7Z2'.repeat(4)}`, { jwt: JWT }, `sk_live_${NOISE}`], reason }],
  [{ customer: 'd', password: 'hunter2hunter2', reason }],
  [{ customer: 'e', header: `Authorization: Bearer ${NOISE}`, pem: PEM, reason }],
  [{ customer: 'f', url: 'postgres://app:s3cr3tPassw0rd@db.example.com/x', reason }],
  [{ customer: 'g', reason: `for xoxb-123456789012-${NOISE}` }],
  [{ customer: 'h', mode: 'secret', reason }],
  [{ customer: 'h', mode: 'secret', reason }],
  [{ customer: 'i', mode: 'throw secret', reason }],
  [{ customer: 'token_of_love', note: 'sk-ip it; https://a.example/b:c; npm_run', reason }],
  // What fails, and the end of the limit.
  [{ customer: 'j', mode: 'throw', reason }],
  [{ customer: 'k', mode: 'hang', reason }],
  [{ customer: 'l', reason }],
  [{ customer: 'm', reason }],
  [{ customer: 'n', reason }],
  [{ customer: 'o', reason }],
  [{ customer: 'a', city: 'Ghent', reason }],
];

/** What a side leaves behind. */
interface Evidence {
  readonly answers: readonly unknown[];
  readonly receipts: readonly unknown[];
  readonly spans: readonly unknown[];
}

/** Makes the calls. Leaves the side finished, and its receipts where they are. */
async function evidenceOf(side: Side, tracing: Tracing): Promise<Evidence> {
  const answers: unknown[] = [];
  const spans = await tracing.spansOf(async () => {
    let count = 0;
    for (const calls of CALLS)
      answers.push(
        ...(await Promise.all(calls.map((args) => side.ask(`call-${(count += 1)}`, args)))),
      );
  });
  await side.finish();
  assert.deepEqual(await soundness(side), { ok: true, count: answers.length });
  return {
    answers: answers.map((answer) => ({ ...factsOf(answer), loose: looseParts(answer) })),
    receipts: receiptsIn(side.folder),
    spans: spans.map(spanFacts),
  };
}

/** What the package's own verifier says of the files, chain, signatures and index. */
async function soundness({ folder, publicKey }: Side) {
  const { ok, count } = await verifyReceipts(folder, { publicKey });
  return { ok, count };
}

/** Throws where the limit leaves something else behind than allium does. */
function compareEvidence(allium: Evidence, limit: Evidence): void {
  for (const kind of ['answers', 'receipts', 'spans'] as const) {
    assert.equal(limit[kind].length, allium[kind].length, `limit: another number of ${kind}`);
    allium[kind].forEach((expected, index) =>
      assert.deepEqual(limit[kind][index], expected, `limit: other ${kind}, number ${index + 1}`),
    );
  }
}

/** Both sides from scratch. What allium leaves behind is handed back. */
export async function proveLimit(tracing: Tracing): Promise<Evidence> {
  const allium = await evidenceFrom(() => alliumStack(RULES), tracing);
  compareEvidence(allium, await evidenceFrom(() => limitStack(RULES), tracing));
  return allium;
}

async function evidenceFrom(make: () => Side, tracing: Tracing): Promise<Evidence> {
  const side = make();
  try {
    return await evidenceOf(side, tracing);
  } finally {
    await side.close();
  }
}

/** Limits that do something else. */
const WRONG_RULES: readonly (readonly [what: string, rules: Partial<Rules>])[] = [
  ['asks nobody', { decide: () => 'auto' }],
  ['lets one call more through', { maxCalls: RULES.maxCalls + 1 }],
  ['lets one call less through', { maxCalls: RULES.maxCalls - 1 }],
  ['waits longer', { timeoutMs: RULES.timeoutMs + 1 }],
  ['gives another answer', { answer: async (args) => ({ ...(await shortAnswerTo(args)), x: 1 }) }],
];

/** What would be left behind by work that was left out. */
const WRONG_TEXTS: readonly (readonly [
  what: string,
  kind: keyof Evidence,
  from: RegExp,
  to: string,
])[] = [
  ['leaves a secret in arguments', 'answers', /\[redacted:github\]/, 'ghp_x'],
  ['leaves a field out', 'answers', /"outputFiles":\[\],/, ''],
  ['leaves a line out', 'answers', /\{"name":"dryRun"[^}]*\},/, ''],
  ['freezes nothing', 'answers', /"loose":\[\]/, '"loose":["/audit"]'],
  ['hashes something else', 'receipts', /("result_hash":"hmac-sha256:bench:)./, '$1-'],
  ['names no layer that refused', 'receipts', /"blocked_by":"consent"/, '"blocked_by":null'],
  ['leaves spans of layers out', 'spans', /"layer consent"/, '"layer"'],
  ['has another parent', 'spans', /"hasParent":true/, '"hasParent":false'],
];

/** Throws where a wrong limit would pass; answers what was noticed. */
export async function proveNoticed(allium: Evidence, tracing: Tracing): Promise<readonly string[]> {
  for (const [what, rules] of WRONG_RULES) {
    const wrong = await evidenceFrom(() => limitStack({ ...RULES, ...rules }), tracing);
    assert.throws(() => compareEvidence(allium, wrong), Error, `not noticed: ${what}`);
  }
  for (const [what, kind, from, to] of WRONG_TEXTS) {
    const text = JSON.stringify(allium[kind]);
    assert.match(text, from, `nothing to change: ${what}`);
    const wrong = { ...allium, [kind]: JSON.parse(text.replace(from, to)) as unknown[] };
    assert.throws(() => compareEvidence(allium, wrong), Error, `not noticed: ${what}`);
  }
  await proveChainCounts(tracing);
  return [...WRONG_RULES, ...WRONG_TEXTS, ['changes a receipt afterwards']].map(([what]) => what);
}

/** A receipt of the limit that is changed afterwards is found by the package's verifier. */
async function proveChainCounts(tracing: Tracing): Promise<void> {
  const side = limitStack(RULES);
  try {
    await evidenceOf(side, tracing);
    const file = join(side.folder, chainIn(side.folder));
    writeFileSync(file, readFileSync(file, 'utf8').replace('"executed":"yes"', '"executed":"no" '));
    assert.equal((await soundness(side)).ok, false, 'not noticed: a changed receipt');
  } finally {
    await side.close();
  }
}

const chainIn = (folder: string): string =>
  readdirSync(folder).find((file) => file.endsWith('.jsonl')) ?? '';

/**
 * An answer without what no two calls share, and without the fingerprint of the approval: what is
 * in it is the layer's own affair.
 */
export function factsOf(answer: unknown): object {
  const text = withoutChance(JSON.stringify(answer));
  const facts: unknown = JSON.parse(text.replace(/"fingerprint":"[^"]*"/, '"fingerprint":""'));
  // Members that are there and undefined are not in the text.
  return { facts, members: Object.keys(Object(answer)) };
}

/**
 * The paths of what can be changed after it was handed out, but for the lines of the record: those
 * nobody promises.
 */
function looseParts(value: unknown, path = ''): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const isLine = /^\/audit\/layers\/\d+$/.test(path);
  const own = isLine || Object.isFrozen(value) ? [] : [path];
  const members = Object.entries(value);
  return [...own, ...members.flatMap(([name, member]) => looseParts(member, `${path}/${name}`))];
}

/**
 * The receipts but for times, ids and the chain, which hashes the times; and how many bytes they
 * have then.
 */
export function receiptsIn(folder: string): readonly unknown[] {
  const lines = readFileSync(join(folder, chainIn(folder)), 'utf8')
    .trim()
    .split('\n');
  const receipts = lines.filter((line) => line.includes('"record":"receipt"')).map(withoutChance);
  return receipts.map((text): unknown => ({
    receipt: JSON.parse(text),
    bytes: Buffer.byteLength(text),
  }));
}

const withoutChance = (text: string): string =>
  text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/approval_[\da-f-]{36}/g, '<id>')
    .replaceAll(/"duration_ms":[\d.]+/g, '"duration_ms":0')
    .replaceAll(/"executionDurationMs":[\d.]+/g, '"executionDurationMs":0')
    .replaceAll(/file:[^"]*\/([^/"]*)"/g, '"')
    .replaceAll(/"(prev_hash|hash)":"[^"]*"/g, '"$1":""');

export const spanFacts = ({
  name,
  kind,
  attributes,
  events,
  status,
  parentSpanContext,
}: ReadableSpan) => ({
  name,
  kind,
  attributes,
  status,
  events: events.map((event) => event.name),
  hasParent: parentSpanContext !== undefined,
});
