/**
 * Names a provider accepts, and the way back. Records always use the canonical name; only the
 * provider sees an alias.
 */

import { createHash } from 'node:crypto';
import { AlliumError, oneLine } from '../../core/contract/errors.ts';
import { checkOptions, expected } from '../../core/contract/options.ts';

/** Whose rules names and schemas are written for. */
export type Provider = 'openai' | 'anthropic' | 'gemini' | 'mcp';

/** A one-to-one map between tool names and what a provider calls them. */
export interface AliasMap {
  readonly provider: Provider;
  /** Throws `ERR_UNKNOWN_TOOL` for a name the map was not made for. */
  toProvider(name: string): string;
  /** `undefined` for an alias the map never gave out: a model may make up names. */
  fromProvider(alias: string): string | undefined;
  readonly entries: readonly (readonly [name: string, alias: string])[];
}

interface NameRule {
  /** What a whole name must match. */
  readonly legal: RegExp;
  /** One character that may not stand anywhere. */
  readonly illegal: RegExp;
  /** What a name may start with. */
  readonly first: RegExp;
  readonly maxLength: number;
}

const RULES: Readonly<Record<Provider, NameRule>> = Object.freeze({
  openai: {
    legal: /^[a-zA-Z0-9_-]{1,64}$/,
    illegal: /[^a-zA-Z0-9_-]/gu,
    first: /^[a-zA-Z0-9_-]/,
    maxLength: 64,
  },
  anthropic: {
    legal: /^[a-zA-Z0-9_-]{1,128}$/,
    illegal: /[^a-zA-Z0-9_-]/gu,
    first: /^[a-zA-Z0-9_-]/,
    maxLength: 128,
  },
  gemini: {
    legal: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/,
    illegal: /[^a-zA-Z0-9_.:-]/gu,
    first: /^[a-zA-Z_]/,
    maxLength: 128,
  },
  mcp: {
    legal: /^[A-Za-z0-9_.-]{1,128}$/,
    illegal: /[^A-Za-z0-9_.-]/gu,
    first: /^[A-Za-z0-9_.-]/,
    maxLength: 128,
  },
});

/** For options that name a provider. */
export const PROVIDER = expected.oneOf(...Object.keys(RULES));

/** Whether a provider takes this name as it is. */
export const isLegalName = (name: string, provider: Provider): boolean =>
  RULES[provider].legal.test(name);

/**
 * Maps names to what the provider accepts. Legal names stay as they are. The others are spelt
 * legally, and get a hash of the full name where that spelling is cut, taken, or shared. Depends on
 * the set of names, not on their order.
 */
export function aliasNames(names: readonly string[], provider: Provider): AliasMap {
  checkOptions(
    'aliasNames',
    { names, provider },
    { names: expected.listOf(NAME), provider: expected.required(PROVIDER) },
  );
  const aliases = assign(new Set(names), RULES[provider]);
  const canonical = new Map([...aliases].map(([name, alias]) => [alias, name]));
  return Object.freeze({
    provider,
    toProvider: (name: string) => {
      const alias = aliases.get(name);
      if (alias === undefined)
        throw new AlliumError(
          'ERR_UNKNOWN_TOOL',
          `no alias was made for "${oneLine(name)}" at ${provider}`,
          { toolName: name },
        );
      return alias;
    },
    fromProvider: (alias: string) => canonical.get(alias),
    entries: Object.freeze(
      [...new Set(names)].map((name) => Object.freeze([name, aliases.get(name) ?? name] as const)),
    ),
  });
}

const NAME = { text: 'a string', test: (value: unknown) => typeof value === 'string' };

function assign(names: ReadonlySet<string>, rule: NameRule): ReadonlyMap<string, string> {
  const legal = [...names].filter((name) => rule.legal.test(name));
  // Sorted, so that who gets the second hash when two hashes meet does not depend on the order of
  // the tools.
  const others = [...names].filter((name) => !rule.legal.test(name)).sort();
  const spellings = new Map(others.map((name) => [name, spell(name, rule)]));
  const wanted = countOf(spellings.values());
  const aliases = new Map(legal.map((name) => [name, name]));
  const taken = new Set(legal);
  const plain = others.filter((name) => {
    const spelling = spellings.get(name) ?? '';
    return spelling.length <= rule.maxLength && wanted.get(spelling) === 1 && !taken.has(spelling);
  });
  // Plain spellings first: a hashed one gives way to them, never the other way round.
  for (const name of plain) take(name, spellings.get(name) ?? '', aliases, taken);
  for (const name of others) {
    if (!aliases.has(name))
      take(name, hashed(name, spellings.get(name) ?? '', rule, taken), aliases, taken);
  }
  return aliases;
}

function take(name: string, alias: string, aliases: Map<string, string>, taken: Set<string>): void {
  aliases.set(name, alias);
  taken.add(alias);
}

function countOf(values: Iterable<string>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

function spell(name: string, rule: NameRule): string {
  const spelling = name.replace(rule.illegal, '_');
  return rule.first.test(spelling) ? spelling : `_${spelling}`;
}

const HASH_LENGTH = 8;

/**
 * Somebody can compute the hash beforehand and squat on it with a legal name, so a taken one is
 * followed by another.
 */
function hashed(
  name: string,
  spelling: string,
  rule: NameRule,
  taken: ReadonlySet<string>,
): string {
  const stem = spelling.slice(0, rule.maxLength - HASH_LENGTH - 1);
  for (let attempt = 0; ; attempt += 1) {
    const text = attempt === 0 ? name : `${name}\u0000${attempt}`;
    const alias = `${stem}_${createHash('sha256').update(text).digest('hex').slice(0, HASH_LENGTH)}`;
    if (!taken.has(alias)) return alias;
  }
}
