/** A client that says exactly what it is told to, right or wrong. */

import { connect } from 'node:net';
import type { JsonObject } from '../../core/json/json-value.ts';
import { isObject } from '../../core/json/json.ts';
import { metaOf, paramsOf, type WireMessage } from '../wire.ts';
import { TOKEN } from './peers.fixture.ts';
import { nameSourceOf } from './standard-headers.ts';

export interface Posted {
  readonly status: number;
  readonly headers: Headers;
  json(): Promise<WireMessage>;
  /** The next piece of a stream. */
  next(): Promise<string>;
  leave(): Promise<void>;
}

const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
};

export async function postRaw(
  url: string,
  body: string | undefined,
  headers: Record<string, string | null>,
  method = 'POST',
): Promise<Posted> {
  const abort = new AbortController();
  const given = Object.entries({
    authorization: `Bearer ${TOKEN}`,
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    ...headers,
  }).filter((entry): entry is [string, string] => entry[1] !== null);
  const response = await fetch(url, {
    method,
    headers: given,
    signal: abort.signal,
    ...(body === undefined ? {} : { body }),
  });
  const reader = response.body?.getReader();
  let rest = '';
  return {
    status: response.status,
    headers: response.headers,
    async json() {
      let text = '';
      for (let chunk = await reader?.read(); chunk?.done === false; chunk = await reader?.read())
        text += Buffer.from(chunk.value).toString();
      return JSON.parse(text) as WireMessage;
    },
    async next() {
      while (!rest.includes('\n\n')) {
        const chunk = await reader?.read();
        if (chunk?.done !== false) throw new Error('the stream has ended');
        rest += Buffer.from(chunk.value).toString();
      }
      const end = rest.indexOf('\n\n');
      const event = rest.slice(0, end);
      rest = rest.slice(end + 2);
      return event;
    },
    async leave() {
      abort.abort();
    },
  };
}

/** A message of the revision without sessions, with its headers. */
export function postTo(
  url: string,
  message: WireMessage,
  headers: Record<string, string | null> = {},
): Promise<Posted> {
  const params = { ...paramsOf(message), _meta: { ...ENVELOPE, ...metaOf(message) } };
  const method = typeof message.method === 'string' ? message.method : '';
  const name = paramsOf(message)[nameSourceOf(method) ?? ''];
  const { text } =
    isObject(params) && isObject(paramsOf(message).arguments)
      ? (paramsOf(message).arguments as JsonObject)
      : {};
  return postRaw(url, JSON.stringify({ ...message, params }), {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    'mcp-name': typeof name === 'string' ? name : null,
    'mcp-param-text': typeof text === 'string' ? text : null,
    ...headers,
  });
}

/** The message in the next event. */
export async function readEvent(posted: Posted): Promise<WireMessage> {
  const event = await posted.next();
  const [, data] = /^data: (.*)$/m.exec(event) ?? [];
  return data === undefined ? readEvent(posted) : (JSON.parse(data) as WireMessage);
}

/** The status that raw bytes are answered with, and everything that came back. */
export const rawStatus = (
  port: number,
  text: string,
): Promise<{ readonly status: number; readonly text: string }> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let read = '';
    const done = (): void =>
      resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(read)?.[1] ?? 0), text: read });
    socket.on('data', (chunk) => {
      read += chunk.toString('latin1');
    });
    socket.on('close', done);
    socket.on('error', done);
    socket.write(text);
  });
