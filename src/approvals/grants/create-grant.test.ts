import { describe, expect, it } from 'vitest';
import { testClock } from '../../../conformance/index.ts';
import type { ArgumentPattern } from './argument-pattern.ts';
import { describeGrant, describePattern } from './describe-grant.ts';
import { isGrant, revokedBy, used } from './grant-rules.ts';
import { grantOf, HOUR_MS } from './grants.fixture.ts';

const WIDE: ArgumentPattern = { arguments: { path: { glob: 'src/**' } } };

describe('createGrant', () => {
  it('covers exactly the arguments where nobody says otherwise, and does not keep them', () => {
    const grant = grantOf({ args: { password: 'hunter2' }, shown: 'a password' });

    expect(grant.pattern).toEqual({ exact: expect.stringMatching(/^sha256:/) as string });
    expect(JSON.stringify(grant)).not.toContain('hunter2');
    expect(isGrant(grant)).toBe(true);
  });

  it('covers more where that was shown', () => {
    expect(
      grantOf({ pattern: WIDE, shown: `Always allow ${describePattern(WIDE)}?` }).pattern,
    ).toEqual(WIDE);
  });

  it('is never wider than what was shown', () => {
    expect(() => grantOf({ pattern: WIDE })).toThrow('"shown" does not say so');
    expect(() =>
      grantOf({ pattern: WIDE, shown: 'path: a path that fits "src/**/x"; and no other argument' }),
    ).toThrow('does not say so');
    expect(() => grantOf({ pattern: { arguments: { path: { glob: 'docs/**' } } } })).toThrow(
      'does not cover',
    );
  });

  it('cannot be widened afterwards', () => {
    const entry = { glob: 'src/*' };
    const pattern = { arguments: { path: entry } };
    const grant = grantOf({ pattern, shown: describePattern(pattern) });
    entry.glob = '**';

    expect(grant.pattern).toEqual({ arguments: { path: { glob: 'src/*' } } });
    expect(Object.isFrozen(grant.pattern)).toBe(true);
  });

  it('ends, and a grant for a call is for one', () => {
    const grant = grantOf({ scope: 'call' });

    expect(Date.parse(grant.expiresAt) - Date.parse(grant.grantedAt)).toBe(HOUR_MS);
    expect(grant.maxUses).toBe(1);
    expect(grantOf().maxUses).toBeNull();
  });

  it.each([
    [{ ttlMs: 0 }],
    [{ ttlMs: Number.POSITIVE_INFINITY }],
    [{ ttlMs: 400 * 86_400_000 }],
    [{ maxUses: 0 }],
    [{ scope: 'call', maxUses: 2 }],
    [{ scope: 'world' }],
    [{ decision: 'ask' }],
    [{ toolName: '' }],
    [{ definition: '' }],
    [{ workspace: undefined }],
    [{ sessionId: undefined }],
    [{ shown: '' }],
    [{ pattern: {} }],
    [{ unheard: 1 }],
  ])('refuses %j', (changes) => {
    expect(() => grantOf(changes as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error,
    );
  });
});

describe('describeGrant', () => {
  it('says what, where, until when, how often and by whom', () => {
    const grant = grantOf(
      { maxUses: 5, reason: 'needed for the build' },
      testClock(Date.UTC(2026, 0, 1)),
    );

    expect(describeGrant(used(grant))).toBe(
      'allows read_file with exactly the arguments that were shown (read src/a.ts) · for session session-1 of /work · ' +
        'until 2026-01-01T01:00:00.000Z · 4 of 5 uses left · by ana at 2026-01-01T00:00:00.000Z: needed for the build',
    );
  });

  it('says what a wider one covers', () => {
    const pattern: ArgumentPattern = {
      arguments: {
        path: { glob: 'src/**' },
        mode: { oneOf: ['r', 1] },
        'odd name': { any: true },
        run: { prefixWords: ['git', 'add'] },
      },
    };

    expect(describePattern(pattern)).toBe(
      'path: a path that fits "src/**"; mode: one of "r", 1; "odd name": anything; ' +
        'run: a command that begins with "git add", then any words without options; and no other argument',
    );
    expect(describePattern({ arguments: {} })).toBe('no arguments');
    expect(describePattern({ arguments: { a: { equals: { b: null } } } })).toBe(
      'a: {"b":null}; and no other argument',
    );
  });

  it('says how it ended', () => {
    const grant = grantOf({ scope: 'workspace', decision: 'reject', maxUses: 1 }, testClock(0));

    expect(describeGrant(grant, HOUR_MS)).toContain('expired at 1970-01-01T01:00:00.000Z');
    expect(describeGrant(used(grant), 0)).toContain('used up (1 of 1)');
    expect(describeGrant(revokedBy(grant, 'bob', 5) ?? grant)).toContain(
      'revoked by bob at 1970-01-01T00:00:00.005Z',
    );
    expect(describeGrant(grant)).toMatch(/^rejects read_file .* in every session of \/work/);
  });

  it('is one line in which nothing acts or hides', () => {
    const pattern: ArgumentPattern = { arguments: { 'a\u202e': { equals: '\u001b[2J\n\u200b' } } };
    const shown = `x\n${describePattern(pattern)}`;
    const grant = grantOf({
      toolName: 'rm\u001b[2J\n',
      grantedBy: 'a\u202eb',
      reason: 'a\nb',
      args: { 'a\u202e': '\u001b[2J\n\u200b' },
      pattern,
      shown,
    });

    expect(describeGrant(grant)).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });
});
