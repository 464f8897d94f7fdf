import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hashingKey, signingKey } from './key-files.ts';
import { testFolder } from './receipts.fixture.ts';

const modeOf = (path: string) => statSync(path).mode & 0o777;

describe('key files', () => {
  it('are made once, and the same from then on', () => {
    const folder = join(testFolder(), 'keys');

    expect(hashingKey(folder)).toEqual(hashingKey(folder));
    expect(signingKey(folder).publicKey).toBe(signingKey(folder).publicKey);
    expect(readFileSync(join(folder, 'receipts-ed25519.pub.pem'), 'utf8')).toBe(
      signingKey(folder).publicKey,
    );
  });

  it('of two folders differ', () => {
    const [one, two] = [testFolder(), testFolder()];

    expect(hashingKey(one).secret).not.toEqual(hashingKey(two).secret);
    expect(signingKey(one).keyId).not.toBe(signingKey(two).keyId);
  });

  it.each([0o000, 0o022, 0o077, 0o277, 0o777])(
    'are for their owner only under umask %o',
    (mask) => {
      const folder = join(testFolder(), 'keys');
      const before = process.umask(mask);
      try {
        hashingKey(folder);
        signingKey(folder);
      } finally {
        process.umask(before);
      }

      expect(modeOf(folder)).toBe(0o700);
      expect(modeOf(join(folder, 'receipts-hmac.key'))).toBe(0o600);
      expect(modeOf(join(folder, 'receipts-ed25519.pem'))).toBe(0o600);
    },
  );

  it('leave no drafts behind', () => {
    const folder = testFolder();
    hashingKey(folder);
    signingKey(folder);

    expect(readdirSync(folder).sort()).toEqual([
      'receipts-ed25519.pem',
      'receipts-ed25519.pub.pem',
      'receipts-hmac.key',
    ]);
  });

  it('that others can read are not used', () => {
    const folder = testFolder();
    hashingKey(folder);
    chmodSync(join(folder, 'receipts-hmac.key'), 0o640);

    expect(() => hashingKey(folder)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error,
    );
  });

  it('that are damaged are not used, and not quoted', () => {
    const folder = testFolder();
    writeFileSync(join(folder, 'receipts-hmac.key'), 'c4n4ry', { mode: 0o600 });

    expect(() => hashingKey(folder)).toThrow(
      expect.objectContaining({
        message: expect.not.stringContaining('c4n4ry') as string,
      }) as Error,
    );
  });
});
