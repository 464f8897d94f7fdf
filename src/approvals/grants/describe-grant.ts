/** What a grant allows, in words. */

import type { JsonValue } from '../../core/json/json-value.ts';
import { canonicalJson } from '../../core/json/canonical.ts';
import { oneLine } from '../../core/contract/errors.ts';
import type { ArgumentPattern, ValuePattern } from './argument-pattern.ts';
import type { Grant } from './grant.ts';
import { grantState } from './grant-rules.ts';

/**
 * What a pattern covers, as one line. Shows the values that are in it, whole. A person who is to
 * grant more than the very arguments must be shown this text: `createGrant` looks for it in what
 * was shown.
 */
export function describePattern(pattern: ArgumentPattern): string {
  if ('exact' in pattern) return 'exactly the arguments that were shown';
  if ('any' in pattern) return 'any arguments';
  const each = Object.entries(pattern.arguments).map(
    ([name, value]) => `${word(name)}: ${describeValue(value)}`,
  );
  return each.length === 0 ? 'no arguments' : `${each.join('; ')}; and no other argument`;
}

function describeValue(pattern: ValuePattern): string {
  if ('equals' in pattern) return quoted(pattern.equals);
  if ('oneOf' in pattern) return `one of ${pattern.oneOf.map(quoted).join(', ')}`;
  if ('glob' in pattern) return `a path that fits ${quoted(pattern.glob)}`;
  if ('prefixWords' in pattern)
    return `a command that begins with ${quoted(pattern.prefixWords.join(' '))}, then any words without options`;
  return 'anything';
}

/**
 * A grant as one line: what it allows or rejects, where, until when and how often. With `now`
 * (milliseconds since 1970) also whether it has expired. Holds what is in the grant's pattern and
 * what was shown.
 */
export function describeGrant(grant: Grant, now: number | null = null): string {
  const { decision, toolName, pattern, shown, grantedBy, grantedAt, reason } = grant;
  const what = pattern === null ? 'arguments no longer kept' : describePattern(pattern);
  const seen =
    shown !== null && pattern !== null && 'exact' in pattern ? ` (${oneLine(shown)})` : '';
  return [
    `${decision === 'allow' ? 'allows' : 'rejects'} ${word(toolName)} with ${what}${seen}`,
    placeOf(grant),
    timeOf(grant, now),
    usesOf(grant),
    `by ${word(grantedBy)} at ${grantedAt}${reason === null ? '' : `: ${oneLine(reason)}`}`,
  ].join(' · ');
}

const placeOf = ({ scope, sessionId, workspace }: Grant): string =>
  scope === 'workspace'
    ? `in every session of ${word(workspace)}`
    : `for ${scope === 'call' ? 'one call in ' : ''}session ${word(sessionId)} of ${word(workspace)}`;

function timeOf(grant: Grant, now: number | null): string {
  const { revoked, expiresAt } = grant;
  if (revoked !== null) return `revoked by ${word(revoked.by)} at ${revoked.at}`;
  return now !== null && grantState(grant, now) === 'expired'
    ? `expired at ${expiresAt}`
    : `until ${expiresAt}`;
}

function usesOf({ uses, maxUses }: Grant): string {
  if (maxUses === null) return `any number of uses, ${uses} so far`;
  return uses >= maxUses
    ? `used up (${uses} of ${maxUses})`
    : `${maxUses - uses} of ${maxUses} uses left`;
}

/**
 * A name as it is where it is plain, otherwise quoted, so that where it ends cannot be mistaken.
 */
const word = (text: string): string => (/^[\w./@-]{1,200}$/.test(text) ? text : quoted(text));

/**
 * JSON in which nothing is hidden. A lone surrogate cannot be in canonical JSON; names come from
 * elsewhere.
 */
const quoted = (value: JsonValue): string =>
  canonicalJson(typeof value === 'string' ? value.toWellFormed() : value).replace(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
