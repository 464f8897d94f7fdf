/**
 * What `harness.md` says beside its tools and hooks. The model is not ours: it is checked, and
 * nothing is done with it.
 */

import { matchesTool } from '../../core/contract/layer.ts';
import type { Member } from './frontmatter.ts';
import { type FileScope, quoted, readKeys } from './scope.ts';

/** Which tools of a project there are. A refused one is not even shown. */
export interface ToolsPolicy {
  readonly mode: 'allowlist' | 'denylist';
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

/** A refusal always wins; an allowlist that is empty allows nothing. */
export const isPermitted = ({ mode, allow, deny }: ToolsPolicy, name: string): boolean =>
  !matchesTool(deny, name) && (mode === 'denylist' || matchesTool(allow, name));

/** What is wrong with it is reported; what came of it permits no more than what was meant. */
export function readToolsPolicy(scope: FileScope, member: Member): ToolsPolicy {
  let mode: ToolsPolicy['mode'] | undefined;
  let allow: readonly string[] = [];
  let deny: readonly string[] = [];
  const members = scope.frontmatter.membersOf(member.value);
  if (members === null) scope.report(member.at, 'tools_policy must be keys with values');
  readKeys(scope, 'tools_policy', members ?? [], {
    mode: (given) => {
      const value = scope.frontmatter.dataOf(given.value);
      if (value === 'allowlist' || value === 'denylist') mode = value;
      else
        scope.report(
          given.at,
          `tools_policy.mode ${quoted(typeof value === 'string' ? value : JSON.stringify(value))} must be allowlist|denylist`,
        );
    },
    allow: (given) => void (allow = readPatterns(scope, given)),
    deny: (given) => void (deny = readPatterns(scope, given)),
  });
  return Object.freeze({
    mode: mode ?? (allow.length > 0 ? 'allowlist' : 'denylist'),
    allow,
    deny,
  });
}

function readPatterns(scope: FileScope, { key, value, at }: Member): readonly string[] {
  const items = scope.frontmatter.itemsOf(value);
  if (items === null) scope.report(at, `tools_policy.${key} must be a list`);
  return (items ?? []).flatMap((item, index) => {
    const pattern = scope.frontmatter.dataOf(item.value);
    if (pattern === null || (typeof pattern === 'string' && pattern.trim() === ''))
      scope.report(item.at, `tools_policy.${key}[${index}] is empty`);
    // Other signs of globs would be compared as they stand, and a refusal that refuses nothing
    // helps nobody.
    else if (typeof pattern !== 'string' || !/^[A-Za-z0-9_.*-]+$/.test(pattern))
      scope.report(
        item.at,
        `tools_policy.${key}[${index}] must be the name of a tool, with "*" for any run of characters`,
      );
    else return [pattern];
    return [];
  });
}

/** Only numbers that nobody can mean are refused. */
export function readModel(scope: FileScope, { value, at }: Member): void {
  const { membersOf, dataOf } = scope.frontmatter;
  const members = membersOf(value);
  // A model may be named in one word.
  if (members === null && typeof dataOf(value) !== 'string')
    scope.report(at, 'model must be keys with values, or a name');
  for (const member of members ?? []) {
    const number = Number(dataOf(member.value));
    if (member.key === 'temperature' && !(number >= 0 && number <= 2))
      scope.report(member.at, 'model.temperature must be between 0 and 2');
    if (member.key === 'max_tokens' && !(number > 0))
      scope.report(member.at, 'model.max_tokens must be greater than 0');
  }
}
