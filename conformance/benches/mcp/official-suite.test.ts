import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditLog, consent, rateLimit, timeout } from '../../../middleware/index.ts';
import { createProxy } from '../../../src/mcp/proxy/create-proxy.ts';
import { httpServerLink } from '../../../src/mcp/http/http-server-link.ts';
import { type HttpListener, listenHttp } from '../../../src/mcp/http/listen-http.ts';
import { relay } from '../../../src/mcp/proxy/relay.ts';
import { recordingSink } from '../../test-kit.ts';
import { compareReports, runOfficialSuite } from './official-suite.ts';
import { type ServedMcp, serveMcp } from './serve-mcp.ts';
import { suiteServer } from './suite-server.ts';

describe('the official suite', () => {
  let upstream: ServedMcp;
  let front: HttpListener;
  let governed: HttpListener;
  const receipts = recordingSink();
  beforeAll(async () => {
    upstream = await serveMcp(suiteServer);
    const proxy = createProxy({
      stack: [
        auditLog(receipts),
        consent({ default: 'allow' }),
        rateLimit({ maxCalls: 10_000 }),
        timeout({ maxMs: 60_000 }),
      ],
      upstream: () => httpServerLink(upstream.url),
    });
    governed = await listenHttp({
      port: 0,
      token: null,
      async onClient(link) {
        await proxy.connect(link);
      },
    });
    front = await listenHttp({
      port: 0,
      token: null,
      async onClient(link) {
        await relay(link, httpServerLink(upstream.url), {}, () => {});
      },
    });
  });
  afterAll(async () => {
    await front.close();
    await governed.close();
    await upstream.close();
  });

  it('finds the same on a server, on a relay in front of it, and through a stack', async () => {
    const direct = await runOfficialSuite(upstream.url);
    const relayed = await runOfficialSuite(front.url);
    const throughStack = await runOfficialSuite(governed.url);
    const { table, differing } = compareReports({ direct, relayed, throughStack });
    console.log(table);

    expect(Object.keys(direct).length).toBe(32);
    expect(differing).toEqual([]);
    expect(receipts.records.length).toBeGreaterThan(10);
    expect(Object.values(direct).flatMap((checks) => Object.values(checks))).not.toContain(
      'FAILURE',
    );
  }, 240_000);
});
