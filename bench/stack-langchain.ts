/**
 * The captain stack as LangChain middleware: eleven `wrapToolCall` hooks, each doing what the layer
 * of that name does, with the same parts. The answer is a ToolMessage, because the chain takes
 * nothing else; the structured value rides along as its artifact. The chain is built by the
 * function that `createAgent` calls. In the chain's own case it runs alone; in an agent it runs
 * inside a ToolNode, which is the other case.
 */

import { randomUUID } from 'node:crypto';
import { ToolMessage } from '@langchain/core/messages';
import { context } from '@opentelemetry/api';
import { canonicalJson, hashCanonical, type JsonObject } from 'allium';
import type { LocalReceiptSink } from 'allium/receipts';
import { LRUCache } from 'lru-cache';
import {
  type Chain,
  chainOfHooks,
  type Handler,
  type Hook,
  sharedOf,
  toolNodeWith,
  valueOf,
} from './langchain-chain.ts';
import {
  answerTo,
  type Governed,
  RATE,
  receiptFiles,
  SESSION,
  TIMEOUT_MS,
  TOOL,
} from './stack-scenario.ts';
import {
  cleanText,
  cleanValue,
  endSpan,
  fingerprintOf,
  hashed,
  isoTime,
  lineOf,
  openSpan,
  receiptOf,
} from './stack-parts.ts';

/** Runs a hook and writes its line, unless it writes one itself. */
const lined =
  (name: string, hook: Hook): Hook =>
  async (request, handler) => {
    const startedAt = Date.now();
    const message = await hook(request, handler);
    sharedOf(request).layers.push(lineOf(name, 'ok', startedAt, Date.now()));
    return message;
  };

const passOn: Hook = (request, handler) => handler(request);

function auditLog(sink: LocalReceiptSink): Hook {
  return async (request, handler) => {
    const [startedAt, startTick] = [Date.now(), performance.now()];
    await sink.ready(SESSION);
    const message = await handler(request);
    const said = sharedOf(request);
    const requestedHash = hashed(request.toolCall.args);
    const hashes = {
      requestedHash,
      executedHash: hashed(said.executed),
      resultHash: hashed(valueOf(message)),
    };
    const durationMs = performance.now() - startTick;
    const callId = request.toolCall.id ?? '';
    const { kept } = sink.append(
      SESSION,
      (uri) => receiptOf({ callId, ...hashes, durationMs, said }, uri),
      'background',
    );
    kept.catch(() => {});
    said.layers.push(lineOf('auditLog', 'ok', startedAt, Date.now()));
    return message;
  };
}

const telemetry: Hook = lined('telemetry', async (request, handler) => {
  const open = openSpan(request.toolCall.id ?? '');
  const message = await context.with(open.own, () => handler(request));
  endSpan(open, hashed(request.toolCall.args), sharedOf(request).layers);
  return message;
});

const summary: Hook = lined('summary', async (request, handler) => {
  const message = await handler(request);
  sharedOf(request).summary = cleanText(`${request.toolCall.name}: ok`);
  return message;
});

const consent: Hook = async (request, handler) => {
  const startedAt = Date.now();
  const { args, id: callId = '' } = request.toolCall;
  const approval = { id: `approval_${randomUUID()}`, fingerprint: fingerprintOf(args, callId) };
  const decision = await decide();
  const decidedAt = isoTime(Date.now());
  const message = await handler(request);
  const said = sharedOf(request);
  const decidedBy = cleanText('decide');
  said.consent = { decision, decidedBy, decidedAt };
  message.response_metadata = {
    ...message.response_metadata,
    approval: { ...approval, ...said.consent },
  };
  said.layers.push(lineOf('consent', decision, startedAt, Date.now(), { decidedBy }));
  return message;
};

const decide = async (): Promise<'auto'> => 'auto';

const requiredReason: Hook = lined('requiredReason', async (request, handler) => {
  const { reason, ...args } = request.toolCall.args;
  const message = await handler({ ...request, toolCall: { ...request.toolCall, args } });
  sharedOf(request).reason = cleanText(String(reason).trim().toWellFormed());
  return message;
});

const redaction: Hook = lined('redaction', async (request, handler) => {
  const args = cleanValue(request.toolCall.args);
  const message = await handler({ ...request, toolCall: { ...request.toolCall, args } });
  // The content is the artifact written out: where it is clean, the artifact is.
  cleanText(String(message.content));
  return message;
});

const handoffArtifact: Hook = lined('handoffArtifact', async (request, handler) => {
  const message = await handler(request);
  const value = valueOf(message);
  if (Object.hasOwn(value, '__handoff') || Object.hasOwn(value, 'handoff'))
    throw new Error('the benchmark hands nothing over');
  return message;
});

function idempotency(answers: LRUCache<string, ToolMessage>): Hook {
  return async (request, handler) => {
    const startedAt = Date.now();
    const key = hashCanonical([
      'cache',
      SESSION,
      request.toolCall.name,
      canonicalJson(request.toolCall.args),
    ]);
    if (answers.has(key)) throw new Error('the benchmark repeats a call');
    const message = await handler(request);
    answers.set(key, message);
    sharedOf(request).layers.push(
      lineOf('idempotency', 'miss', startedAt, Date.now(), { kept: true }),
    );
    return message;
  };
}

function rateLimit(): Hook {
  let taken = 0;
  return async (request, handler) => {
    const startedAt = Date.now();
    if (taken >= RATE.maxCalls) throw new Error('the benchmark ran into its own limit');
    taken += 1;
    const count = taken;
    const message = await handler(request);
    sharedOf(request).layers.push(
      lineOf('rateLimit', 'ok', startedAt, Date.now(), { count, cap: RATE.maxCalls }),
    );
    return message;
  };
}

const timeout: Hook = lined('timeout', (request, handler) => {
  const controller = new AbortController();
  sharedOf(request).executed = request.toolCall.args;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      controller.abort();
      reject(new Error('timeout'));
    }, TIMEOUT_MS);
    handler({ ...request, signal: controller.signal })
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
});

async function chainOf(sink: LocalReceiptSink): Promise<Chain> {
  const hooks: Readonly<Record<string, Hook>> = {
    auditLog: auditLog(sink),
    telemetry,
    summary,
    consent,
    requiredReason,
    redaction,
    handoffArtifact,
    idempotency: idempotency(new LRUCache({ max: 256, ttl: 600_000 })),
    rateLimit: rateLimit(),
    dryRun: lined('dryRun', passOn),
    timeout,
  };
  return chainOfHooks(hooks);
}

/** The chain alone, with a request per call as ToolNode makes it. */
export async function langChainStack(): Promise<Governed> {
  const { folder, sink, remove } = receiptFiles();
  const chain = await chainOf(sink);
  const bottom: Handler = async ({ toolCall: { name, args, id = '' } }) => {
    const artifact = answerTo(args);
    return new ToolMessage({ name, content: JSON.stringify(artifact), artifact, tool_call_id: id });
  };
  const call = (args: JsonObject) =>
    chain(
      {
        toolCall: { name: TOOL, args, id: 'call-1', type: 'tool_call' },
        tool: undefined,
        state: { messages: [] },
        runtime: {},
      },
      bottom,
    );
  return { name: 'LangChain wrapToolCall', folder, call, flush: () => sink.flush(), close: remove };
}

/** The way it runs in an agent. */
export async function langChainNode(): Promise<Governed> {
  const { folder, sink, remove } = receiptFiles();
  return {
    name: 'LangChain ToolNode',
    folder,
    call: await toolNodeWith(await chainOf(sink)),
    flush: () => sink.flush(),
    close: remove,
  };
}
