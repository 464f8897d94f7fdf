import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createSigner, isSigned, parseCheckpoint, publicKeys } from './checkpoint.ts';
import { GENESIS } from './receipt-line.ts';
import { publicKey, signingKey } from './receipts.fixture.ts';

const fields = {
  chain: 'a-1',
  segment: 1,
  count: 3,
  head: GENESIS,
  time: '2026-01-01T00:00:00.000Z',
};
const signer = createSigner('test', signingKey);
const keys = publicKeys('test', [publicKey]);
const pem = (type: 'ec' | 'ed25519') =>
  (type === 'ec'
    ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
    : generateKeyPairSync('ed25519')
  ).privateKey
    .export({ type: 'pkcs8', format: 'pem' })
    .toString();

describe('a checkpoint', () => {
  it('is signed, and found to be', () => {
    const checkpoint = parseCheckpoint(signer.sign(fields));

    expect(checkpoint?.fields).toEqual({
      ...fields,
      schema_version: 1,
      record: 'checkpoint',
      key_id: signer.keyId,
    });
    expect(checkpoint === null ? null : isSigned(checkpoint, keys)).toBe(true);
  });

  it.each([
    ['"count":3', '"count":4'],
    ['"segment":1', '"segment":2'],
    ['"chain":"a-1"', '"chain":"b-1"'],
    ['2026', '2025'],
  ])('is not signed any more with %s changed', (from, to) => {
    const checkpoint = parseCheckpoint(signer.sign(fields).replace(from, to));

    expect(checkpoint === null ? null : isSigned(checkpoint, keys)).toBe(false);
  });

  it('of another key is neither signed nor forged: the key is not known', () => {
    const checkpoint = parseCheckpoint(createSigner('test', pem('ed25519')).sign(fields));

    expect(checkpoint === null ? true : isSigned(checkpoint, keys)).toBeNull();
  });

  it.each([
    '',
    '{}',
    '{"schema_version":1,"record":"checkpoint","count":1}',
    signer.sign(fields).slice(0, -1),
    signer.sign(fields).replace('"count":3', '"count":"3"'),
  ])('is not read from %j', (text) => {
    expect(parseCheckpoint(text)).toBeNull();
  });

  it('takes no field from behind its signature', () => {
    expect(parseCheckpoint(`${signer.sign(fields)},"count":9`)).toBeNull();
  });
});

describe('a key', () => {
  it.each(['this is not a key but c4n4ry-and-some-more-of-it-and-more', pem('ec')])(
    'that is not Ed25519 is refused, and not quoted',
    (key) => {
      for (const use of [() => createSigner('test', key), () => publicKeys('test', [key])]) {
        expect(use).toThrow(
          expect.objectContaining({
            code: 'ERR_INVALID_OPTION',
            message: expect.not.stringContaining(key.slice(40, 60)) as string,
          }) as Error,
        );
      }
    },
  );

  it('that is private is refused by a verifier', () => {
    expect(() => publicKeys('test', [pem('ed25519')])).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error,
    );
    expect(() => createSigner('test', publicKey)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error,
    );
  });
});
