import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeRequest } from '../make-request.fixture.ts';
import { networkPolicy, networkRequestOf } from './network-policy.ts';

const connect = (host: string, port?: number) => ({
  kind: 'network.connect',
  host,
  ...(port === undefined ? {} : { port }),
});

describe('networkRequestOf', () => {
  it.each([
    ['https://example.org/a?b#c', connect('example.org', 443)],
    ['http://example.org', connect('example.org', 80)],
    ['wss://example.org', connect('example.org', 443)],
    ['ws://example.org', connect('example.org', 80)],
    ['ws://example.org:8080', connect('example.org', 8080)],
    ['HTTPS://user:pass@EXAMPLE.org:8443/', connect('example.org', 8443)],
    ['https://example.org@evil.test/', connect('evil.test', 443)],
    ['https://example.org\\@evil.test/', connect('example.org', 443)],
    ['http://0x7f.1/', connect('127.0.0.1', 80)],
    ['http://[::ffff:127.0.0.1]:3000/', connect('::ffff:7f00:1', 3000)],
    ['https://ex%61mple.org/', connect('example.org', 443)],
    ['ftp://example.org/', connect('example.org')],
    ['gopher://example.org:70/', connect('example.org', 70)],
    ['file:///etc/passwd', connect('')],
    ['data:text/plain,x', connect('')],
    ['not a url', connect('')],
    ['/path', connect('')],
    ['https://a b/', connect('')],
  ])('reads %s', (url, request) => {
    expect(networkRequestOf(url)).toEqual(request);
  });

  it.each([
    ['/next', connect('example.org', 8443)],
    ['//evil.test/', connect('evil.test', 443)],
    ['\\\\evil.test/', connect('evil.test', 443)],
    ['http:\\\\127.1\\', connect('127.0.0.1', 80)],
    ['https://evil.test', connect('evil.test', 443)],
  ])('takes the Location %s from where it was sent', (location, request) => {
    expect(networkRequestOf(location, 'https://example.org:8443/here')).toEqual(request);
    expect(networkRequestOf(location, new URL('https://example.org:8443/here'))).toEqual(request);
  });

  it('never throws, and what it cannot read no policy allows', async () => {
    const policy = networkPolicy({
      allow: ['*'],
      privateRanges: 'allow',
      unknown: 'ask',
      ports: 'any',
    });

    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.webUrl(), fc.string({ unit: 'binary' }), fc.anything()),
        async (url) => {
          const request = networkRequestOf(url as string);
          const written = request.host.includes(':') ? `[${request.host}]` : request.host;
          if (URL.canParse(`http://${written}/`)) return;
          expect(await policy.evaluate(makeRequest({}, request))).toMatchObject({
            decision: 'deny',
            code: 'host_invalid',
          });
        },
      ),
    );
  });
});
