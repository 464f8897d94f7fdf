/** A loopback HTTP server that keeps what it is sent. */

import { createServer, type IncomingHttpHeaders } from 'node:http';

export interface ReceivedRequest {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Receiver {
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  /** Resolves with the n-th request, counted from 1. */
  got(count: number): Promise<ReceivedRequest>;
  /** Resolves when somebody has gone without waiting for the answer. */
  readonly hungUp: Promise<void>;
  close(): Promise<void>;
}

/** Answers every request with `status`, or never where it is `null`. */
export async function startReceiver(
  status: number | null = 200,
  headers: Record<string, string> = {},
): Promise<Receiver> {
  const requests: ReceivedRequest[] = [];
  const waiting = new Map<number, (request: ReceivedRequest) => void>();
  let tellHungUp = (): void => {};
  const hungUp = new Promise<void>((resolve) => (tellHungUp = resolve));
  const server = createServer((request, response) => {
    response.on('close', () => response.writableEnded || tellHungUp());
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', () => {
      const received = {
        method: request.method,
        path: request.url,
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      };
      requests.push(received);
      waiting.get(requests.length)?.(received);
      if (status !== null) response.writeHead(status, headers).end('{"canary":"body"}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    hungUp,
    got: (count) =>
      new Promise((resolve) =>
        requests[count - 1] === undefined
          ? waiting.set(count, resolve)
          : resolve(requests[count - 1] as ReceivedRequest),
      ), // Just looked at.
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
