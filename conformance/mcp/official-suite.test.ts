import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { httpServerLink } from '../../src/proxy/http/http-server-link.ts';
import { type HttpListener, listenHttp } from '../../src/proxy/http/listen-http.ts';
import { relay } from '../../src/proxy/relay.ts';
import { compareReports, runOfficialSuite } from './official-suite.ts';
import { type ServedMcp, serveMcp } from './serve-mcp.ts';
import { suiteServer } from './suite-server.ts';

describe('the official suite', () => {
  let upstream: ServedMcp;
  let front: HttpListener;
  beforeAll(async () => {
    upstream = await serveMcp(suiteServer);
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
    await upstream.close();
  });

  it('finds the same on a server and on the relay in front of it', async () => {
    const direct = await runOfficialSuite(upstream.url);
    const relayed = await runOfficialSuite(front.url);
    const { table, differing } = compareReports({ direct, relayed });
    console.log(table);

    expect(Object.keys(direct).length).toBe(32);
    expect(differing).toEqual([]);
    expect(Object.values(direct).flatMap((checks) => Object.values(checks))).not.toContain('FAILURE');
  }, 240_000);
});
