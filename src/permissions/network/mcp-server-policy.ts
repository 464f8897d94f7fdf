/** Which MCP servers a call may reach, and which of their tools. */

import { hashCanonical } from '../../core/json/hash-canonical.ts';
import { matchesTool } from '../../core/contract/layer.ts';
import { checkOptions, type Expectation, expected } from '../../core/contract/options.ts';
import type { PermissionAnswer, PermissionPolicy, PermissionRequest } from '../permission.ts';
import { decisionFor, strictest } from '../evaluate.ts';

/** Names with `*` for any run of characters. Deny comes before ask, ask before allow. */
export interface NameLists {
  /**
   * Pass unasked.
   * @default none
   */
  readonly allow?: readonly string[];
  /**
   * A person is asked.
   * @default none
   */
  readonly ask?: readonly string[];
  /**
   * Never pass, in any case and width of the letters.
   * @default none
   */
  readonly deny?: readonly string[];
}

/** Lists of servers and tools for `mcpServerPolicy`. */
export interface McpServerPolicyOptions extends NameLists {
  /**
   * What may be invoked, by server (with `*`). A server that is named here passes only with tools
   * of its lists.
   * @default every tool of a server that passes
   */
  readonly tools?: Readonly<Record<string, NameLists>>;
  /**
   * What happens to names in no list: `'deny'` or `'ask'`.
   * @default 'deny'
   */
  readonly unknown?: 'deny' | 'ask';
}

const names = expected.listOf(expected.string);
const LISTS: Readonly<Record<keyof NameLists, Expectation>> = Object.freeze({
  allow: names,
  ask: names,
  deny: names,
});
const EXPECTED: Readonly<Record<keyof McpServerPolicyOptions, Expectation>> = Object.freeze({
  ...LISTS,
  tools: expected.mapOf(expected.object),
  unknown: expected.oneOf('deny', 'ask'),
});

/**
 * Decides `mcp.connect` and `mcp.invoke` by name, and has no opinion on others. It trusts the name
 * a host gave a server: it does not look at what runs behind it.
 */
export function mcpServerPolicy(options: McpServerPolicyOptions): PermissionPolicy {
  checkOptions('mcpServerPolicy', options, EXPECTED);
  const { unknown = 'deny', tools = {}, allow = [], ask = [], deny = [] } = options;
  for (const [server, lists] of Object.entries(tools))
    checkOptions(`mcpServerPolicy tools "${server}"`, lists, LISTS);
  // Copied: whoever changes a list later changes nothing here.
  const rules = structuredClone({
    lists: { allow, ask, deny },
    tools: Object.entries(tools),
    unknown,
  });
  return Object.freeze<PermissionPolicy>({
    name: 'mcpServerPolicy',
    digest: hashCanonical(['mcpServerPolicy', rules]),
    evaluate: (request) => decide(rules, request),
  });
}

interface Rules {
  readonly lists: NameLists;
  readonly tools: readonly (readonly [string, NameLists])[];
  readonly unknown: 'deny' | 'ask';
}

function decide(rules: Rules, request: PermissionRequest): PermissionAnswer {
  if (!request.kind.startsWith('mcp.')) return { decision: 'no_opinion' };
  if (request.kind !== 'mcp.connect' && request.kind !== 'mcp.invoke')
    return {
      decision: 'deny',
      code: 'mcp_kind',
      reason: 'this kind of access to a server is not known',
    };
  // What a tool proposed is only typed, not checked: both are looked at before they are compared.
  const { server, tool } = request as { readonly server?: unknown; readonly tool?: unknown };
  if (!isPlainName(server))
    return { decision: 'deny', code: 'server_invalid', reason: '`server` must be a plain name' };
  const answers = [byLists(rules.lists, 'server', server, rules.unknown)];
  if (request.kind === 'mcp.invoke' || tool !== undefined)
    answers.push(...byTools(rules, server, tool));
  return strictest(answers);
}

function byTools(rules: Rules, server: string, tool: unknown): readonly PermissionAnswer[] {
  if (tool !== undefined && !isPlainName(tool))
    return [{ decision: 'deny', code: 'tool_invalid', reason: '`tool` must be a plain name' }];
  const meant = rules.tools.filter(([pattern]) => matchesTool([fold(pattern)], fold(server)));
  return meant.map(([, lists]) =>
    tool === undefined ? UNNAMED(rules.unknown) : byLists(lists, 'tool', tool, rules.unknown),
  );
}

const UNNAMED = (unknown: 'deny' | 'ask'): PermissionAnswer => ({
  decision: decisionFor(unknown),
  code: 'tool_unknown',
  reason: '`tool` must be named: only some tools of this server are allowed',
});

function byLists(
  { allow = [], ask = [], deny = [] }: NameLists,
  field: 'server' | 'tool',
  name: string,
  unknown: 'deny' | 'ask',
): PermissionAnswer {
  const folded = fold(name);
  if (matchesTool(deny.map(fold), folded))
    return {
      decision: 'deny',
      code: `${field}_denied`,
      reason: `this \`${field}\` is not allowed`,
    };
  if (matchesTool(ask.map(fold), folded))
    return {
      decision: 'require_approval',
      code: `${field}_asked`,
      reason: `this \`${field}\` has to be approved`,
    };
  if (matchesTool(allow, name)) return { decision: 'allow', code: `${field}_allowed` };
  const passing = allow.length === 0 ? 'none' : allow.join(', ');
  return {
    decision: decisionFor(unknown),
    code: `${field}_unknown`,
    reason: `\`${field}\` is not on the list; allowed: ${passing}`,
  };
}

const MAX_NAME = 256;

/**
 * A name whose letters can all be seen: what hides in it would be another name to whoever reads it.
 */
const isPlainName = (value: unknown): value is string =>
  typeof value === 'string' &&
  /^\S(?:.*\S)?$/u.test(value) &&
  value.length <= MAX_NAME &&
  value.isWellFormed() &&
  !/[\p{Cc}\p{Default_Ignorable_Code_Point}]/u.test(value);

/** Only for what makes it stricter: a denied name stays denied in other letters. */
const fold = (name: string): string => name.normalize('NFKC').toLowerCase();
