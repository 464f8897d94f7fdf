/** Span records to Langfuse, over its OpenTelemetry endpoint. */

import type { SpanAttributes } from './attributes.ts';
import { otlpTraces } from './otlp-json.ts';
import type { Sender } from './outlet.ts';
import { sendFailure } from './send-failure.ts';
import type { SpanRecord } from './span-record.ts';
import type { TelemetryOptions } from './telemetry.ts';

/** Where Langfuse is and who may write to it: `LANGFUSE_BASE_URL`, `LANGFUSE_PUBLIC_KEY`, `LANGFUSE_SECRET_KEY`. */
export type LangfuseEnvironment = Readonly<Record<string, string | undefined>>;

/** What of the layer's options Langfuse has a place for. */
export type LangfuseSettings = Pick<TelemetryOptions, 'project' | 'environment' | 'release'>;

const PATH = 'api/public/otel/v1/traces';

/**
 * Posts records with Basic authentication, up to 64 in a request. A failed request is not repeated. Without credentials
 * every record is dropped. Neither an address nor a key is ever told: a failed `fetch` quotes the one it was given.
 */
export function langfuseSender(settings: LangfuseSettings, env: LangfuseEnvironment): Sender {
  const url = endpointOf(env.LANGFUSE_BASE_URL ?? '');
  const { LANGFUSE_PUBLIC_KEY: publicKey = '', LANGFUSE_SECRET_KEY: secretKey = '' } = env;
  const authorization = `Basic ${Buffer.from(`${publicKey}:${secretKey}`).toString('base64')}`;
  const isReady = url !== null && publicKey !== '' && secretKey !== '';
  return {
    name: 'langfuse',
    maxBatch: 64,
    send(batch, signal) {
      if (!isReady) throw UNCONFIGURED;
      const body = JSON.stringify(
        otlpTraces(batch, settings.project ?? 'allium', (record) => extrasOf(record, settings)),
      );
      return post(url, authorization, body, signal);
    },
  };
}

const UNCONFIGURED = sendFailure(
  'unconfigured',
  'set LANGFUSE_BASE_URL (http or https, without a user), LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY',
);

function endpointOf(base: string): URL | null {
  try {
    const url = new URL(PATH, base.endsWith('/') ? base : `${base}/`);
    return /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
      ? url
      : null;
  } catch {
    return null;
  }
}

async function post(
  url: URL,
  authorization: string,
  body: string,
  signal: AbortSignal | null,
): Promise<void> {
  const headers = { authorization, 'content-type': 'application/json' };
  // A redirect would take the credentials somewhere else.
  const response = await fetch(url, {
    method: 'POST',
    headers,
    body,
    signal,
    redirect: 'error',
  }).catch(() => null);
  if (response === null) throw sendFailure('failed', 'Langfuse could not be reached');
  await response.body?.cancel().catch(() => {});
  if (!response.ok) throw sendFailure('failed', `Langfuse answered with status ${response.status}`);
}

/** What makes the span a tool call of a session in Langfuse's own terms. */
function extrasOf(
  { attributes }: SpanRecord,
  { environment, release }: LangfuseSettings,
): SpanAttributes {
  const failure = attributes['error.type'];
  return {
    'langfuse.observation.type': 'tool',
    'langfuse.observation.level': failure === undefined ? 'DEFAULT' : 'ERROR',
    ...(failure === undefined ? {} : { 'langfuse.observation.status_message': failure }),
    ...(attributes['gen_ai.conversation.id'] === undefined
      ? {}
      : { 'session.id': attributes['gen_ai.conversation.id'] }),
    ...(environment === undefined ? {} : { 'langfuse.environment': environment }),
    ...(release === undefined ? {} : { 'langfuse.release': release }),
  };
}
