/**
 * The captain stack as somebody writes it for LangChain who has nothing of allium: eleven
 * `wrapToolCall` hooks, each with what it needs for itself. LangChain has no place in which one
 * middleware could leave a hash or a text for another, so each makes its own; what goes into the
 * record hangs on the runtime of the request, because one of them has to write all of it down. It
 * leaves the same receipts, spans and answers behind, which is proven before anything is measured.
 */

import { randomUUID } from 'node:crypto';
import type { ToolMessage } from '@langchain/core/messages';
import { context, SpanKind, trace } from '@opentelemetry/api';
import { LRUCache } from 'lru-cache';
import { chainOfHooks, type Hook, sharedOf, toolNodeWith, valueOf } from './langchain-chain.ts';
import {
  cleanText,
  cleanValue,
  hmac,
  keyOf,
  ownLine,
  type OwnReceipts,
  ownReceipts,
} from './own-parts.ts';
import { type Line, receiptOf } from './stack-parts.ts';
import {
  DESCRIPTION,
  type Governed,
  RATE,
  SCHEMA,
  SESSION,
  TIMEOUT_MS,
  TOOL,
} from './stack-scenario.ts';

/** Runs a hook and writes its line. */
const lined =
  (name: string, hook: Hook): Hook =>
  async (request, handler) => {
    const startedAt = new Date().toISOString();
    const message = await hook(request, handler);
    sharedOf(request).layers.push(ownLine(name, 'ok', startedAt));
    return message;
  };

const auditLog = (receipts: OwnReceipts): Hook =>
  lined('auditLog', async (request, handler) => {
    const startTick = performance.now();
    const message = await handler(request);
    const said = sharedOf(request);
    const parts = {
      callId: request.toolCall.id ?? '',
      requestedHash: hmac(request.toolCall.args),
      executedHash: hmac(said.executed),
      resultHash: hmac(valueOf(message)),
      durationMs: performance.now() - startTick,
      said,
    };
    receipts.append((uri) => receiptOf(parts, uri));
    return message;
  });

const tracer = trace.getTracer('allium');

const telemetry: Hook = lined('telemetry', async (request, handler) => {
  const startTime = new Date();
  const attributes = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': request.toolCall.name,
    'gen_ai.tool.call.id': request.toolCall.id ?? '',
    'gen_ai.conversation.id': SESSION,
    'allium.iteration': 3,
    'gen_ai.tool.description': DESCRIPTION,
    'gen_ai.tool.type': 'function',
    'allium.executor': 'local',
  };
  const span = tracer.startSpan(`execute_tool ${TOOL}`, {
    kind: SpanKind.INTERNAL,
    attributes,
    startTime,
  });
  span.addEvent('dispatched', startTime);
  const own = trace.setSpan(context.active(), span);
  const message = await context.with(own, () => handler(request));
  span.setAttributes({
    'allium.status': 'ok',
    'allium.ok': true,
    'allium.executed': 'yes',
    'allium.args_hash': hmac(request.toolCall.args),
    'allium.consent.decision': sharedOf(request).consent.decision,
  });
  span.addEvent('result_returned');
  for (const line of sharedOf(request).layers) {
    const { name, startedAt, endedAt } = line;
    const options = {
      kind: SpanKind.INTERNAL,
      attributes: layerAttributes(line),
      startTime: new Date(startedAt),
    };
    tracer.startSpan(`layer ${name}`, options, own).end(new Date(endedAt));
  }
  span.end();
  return message;
});

const layerAttributes = ({ name, status, count, cap }: Line) => ({
  'allium.layer.name': name,
  'allium.layer.status': status,
  ...(typeof count === 'number' && typeof cap === 'number'
    ? { 'allium.layer.count': count, 'allium.layer.cap': cap }
    : {}),
});

const summary: Hook = lined('summary', async (request, handler) => {
  const message = await handler(request);
  sharedOf(request).summary = cleanText(`${request.toolCall.name}: ok`);
  return message;
});

const DEFINITION = hmac({ schema: SCHEMA, description: DESCRIPTION });

const consent: Hook = async (request, handler) => {
  const startedAt = new Date().toISOString();
  const { name: toolName, args, id: callId = '' } = request.toolCall;
  const fingerprint = hmac({ toolName, args, callId, sessionId: SESSION, definition: DEFINITION });
  const decision = await decide();
  const decided = { decision, decidedBy: 'decide', decidedAt: new Date().toISOString() };
  const message = await handler(request);
  const said = sharedOf(request);
  said.consent = decided;
  message.response_metadata = {
    ...message.response_metadata,
    approval: { id: `approval_${randomUUID()}`, fingerprint, ...decided },
  };
  said.layers.push(ownLine('consent', decision, startedAt, { decidedBy: decided.decidedBy }));
  return message;
};

const decide = async (): Promise<'auto'> => 'auto';

const requiredReason: Hook = lined('requiredReason', async (request, handler) => {
  const { reason, ...args } = request.toolCall.args;
  const message = await handler({ ...request, toolCall: { ...request.toolCall, args } });
  sharedOf(request).reason = cleanText(String(reason).trim());
  return message;
});

const redaction: Hook = lined('redaction', async (request, handler) => {
  const args = cleanValue(request.toolCall.args);
  const message = await handler({ ...request, toolCall: { ...request.toolCall, args } });
  // The content is the artifact written out: where it is clean, the artifact is.
  const content = cleanText(String(message.content));
  if (content === message.content) return message;
  message.content = content;
  message.artifact = cleanValue(valueOf(message));
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
    const startedAt = new Date().toISOString();
    const key = keyOf(['cache', SESSION, request.toolCall.name, request.toolCall.args]);
    if (answers.has(key)) throw new Error('the benchmark repeats a call');
    const message = await handler(request);
    answers.set(key, message);
    sharedOf(request).layers.push(ownLine('idempotency', 'miss', startedAt, { kept: true }));
    return message;
  };
}

function rateLimit(): Hook {
  let count = 0;
  return async (request, handler) => {
    const startedAt = new Date().toISOString();
    if (count >= RATE.maxCalls) throw new Error('the benchmark ran into its own limit');
    count += 1;
    const details = { count, cap: RATE.maxCalls };
    const message = await handler(request);
    sharedOf(request).layers.push(ownLine('rateLimit', 'ok', startedAt, details));
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

/** In a ToolNode, as it runs in an agent. */
export async function ownLangChainNode(): Promise<Governed> {
  const receipts = ownReceipts();
  const chain = await chainOfHooks({
    auditLog: auditLog(receipts),
    telemetry,
    summary,
    consent,
    requiredReason,
    redaction,
    handoffArtifact,
    idempotency: idempotency(new LRUCache({ max: 256, ttl: 600_000 })),
    rateLimit: rateLimit(),
    dryRun: lined('dryRun', (request, handler) => handler(request)),
    timeout,
  });
  const { folder, flush } = receipts;
  return {
    name: 'LangChain ToolNode, own parts',
    folder,
    call: await toolNodeWith(chain),
    flush,
    close: () => receipts.close(),
  };
}
