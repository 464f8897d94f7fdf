/**
 * Logs as applications, servers and tools write them, with everything in them that looks random and
 * is no secret: commit and image hashes, request and trace ids, e-tags, checksums, build numbers,
 * addresses.
 */

import { createRandom, type Random } from '../fuzz/random.ts';
import { render } from './patterns.ts';

/** Every place is marked `~`: nothing in a log here is a secret. */
const WRITERS: Readonly<Record<string, readonly string[]>> = {
  'access log': [
    '10.{~digits:2}.{~digits:2}.{~digits:2} - - [11/Feb/2031:09:{~sixty}:{~sixty} +0000] "GET /assets/app.{~hex:8}.js HTTP/1.1" 200 {~digits:5} "https://shop.example.org/" "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"',
    '10.{~digits:2}.{~digits:2}.{~digits:2} - - [11/Feb/2031:09:{~sixty}:{~sixty} +0000] "POST /api/orders?page={~digits:1}&sort=created HTTP/2.0" 201 {~digits:3} "-" "okhttp/4.12.0" rt=0.{~digits:3} rid={~hex:32}',
    '2001:db8::{~hex:4}:{~hex:4} - ada [11/Feb/2031:09:{~sixty}:{~sixty} +0000] "GET /download/{~uuid}/report.pdf HTTP/1.1" 304 0 "-" "curl/8.5.0" etag="{~hex:16}-{~hex:8}"',
  ],
  'application log': [
    '2031-02-11T09:{~sixty}:{~sixty}.{~digits:3}Z INFO  [http] request completed method=GET path=/v1/orders/{~uuid} status=200 ms={~digits:2} trace={~hex:32} span={~hex:16}',
    '2031-02-11T09:{~sixty}:{~sixty}.{~digits:3}Z DEBUG [cache] hit key=orders:{~digits:6}:v{~digits:1} size={~digits:4} ttl=300',
    '2031-02-11T09:{~sixty}:{~sixty}.{~digits:3}Z WARN  [auth] token expired for user {~digits:6}, asking to log in again',
    '2031-02-11T09:{~sixty}:{~sixty}.{~digits:3}Z ERROR [db] deadlock detected on relation {~digits:5}; retrying transaction {~hex:8} (attempt {~digits:1}/5)',
    '2031-02-11T09:{~sixty}:{~sixty}.{~digits:3}Z INFO  [auth] password reset requested, mail queued as <{~hex:12}@mail.example.org>',
    '    at Socket.emit (node:events:{~digits:3}:28)\n    at async Promise.all (index {~digits:1})\n    at file:///app/dist/server-{~upper:8}.js:{~digits:3}:{~digits:2}',
  ],
  'JSON log': [
    '{"level":30,"time":{~digits:13},"pid":{~digits:4},"hostname":"api-{~hex:10}-{~lower:5}","req":{"id":"{~uuid}","method":"GET","url":"/v1/items?cursor={~digits:9}"},"msg":"request completed"}',
    '{"level":40,"time":{~digits:13},"pid":{~digits:4},"trace_id":"{~hex:32}","span_id":"{~hex:16}","tokens":{"input":{~digits:4},"output":{~digits:3}},"msg":"slow call"}',
    '{"level":30,"time":{~digits:13},"event":"login","user":"u_{~digits:8}","method":"password","mfa":true,"session":null,"msg":"user logged in"}',
    '{"level":20,"time":{~digits:13},"cache":{"key":"item:{~digits:7}","etag":"W/\\"{~hex:4}-{~hex:27}\\"","hit":false},"msg":"miss"}',
  ],
  'container log': [
    'sha256:{~hex:64}: Pulling from library/node',
    '{~hex:12}: Pull complete',
    'Digest: sha256:{~hex:64}',
    'Status: Downloaded newer image for node:22-slim@sha256:{~hex:64}',
    'Feb 11 09:{~sixty}:{~sixty} host-{~digits:2} kubelet[{~digits:4}]: I0211 09:14:03.{~digits:6} {~digits:4} kubelet.go:2431] "SyncLoop (PLEG): event for pod" pod="default/api-{~hex:9}-{~lower:5}" event="ContainerStarted"',
    'Feb 11 09:{~sixty}:{~sixty} host-{~digits:2} sshd[{~digits:5}]: Accepted publickey for ada from 10.0.0.{~digits:2} port {~digits:5} ssh2: ED25519 SHA256:{~base64:43}',
  ],
  'build log': [
    'npm http fetch GET 200 https://registry.example.org/lodash {~digits:3}ms (cache hit)',
    '+ lodash@4.17.{~digits:2} integrity sha512-{~base64:86}==',
    'dist/assets/index-{~base62:8}.js   {~digits:3}.{~digits:2} kB | gzip: {~digits:2}.{~digits:2} kB',
    'remote: Resolving deltas: 100% ({~digits:3}/{~digits:3}), completed with {~digits:2} local objects.\n   {~hex:7}..{~hex:7}  main -> main',
    'ok      example.org/shop/internal/auth  0.{~digits:3}s  coverage: {~digits:2}.{~digits:1}% of statements',
    'go: downloading golang.org/x/crypto v0.{~digits:2}.0\ngolang.org/x/crypto v0.{~digits:2}.0 h1:{~base64:43}=',
    '✓ src/auth/password.test.ts ({~digits:2} tests) {~digits:3}ms\n ✓ rejects a wrong password\n ✓ masks the api key in errors',
  ],
};

/** A log of some kind, the same for the same number. */
export function generateLog(number: number): string {
  const random = createRandom(number);
  const lines = random.pick(Object.values(WRITERS));
  const count = 20 + random.below(200);
  return Array.from({ length: count }, () => `${line(random, random.pick(lines))}\n`).join('');
}

const line = (random: Random, pattern: string) =>
  render(
    pattern.replaceAll('{~sixty}', () => String(random.below(60)).padStart(2, '0')),
    random,
  ).text;
