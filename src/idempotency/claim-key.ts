/** The key of a call: what makes two calls the same work. */

import { hash } from 'node:crypto';
import { canonicalJson, type ToolCall } from '../layer.ts';

/** Names a call, or whom it is made for. Must be a non-empty string. */
export type NameCall = (call: ToolCall) => string | Promise<string>;

export interface ClaimKey {
  readonly key: string;
  /** Tool and arguments, to tell a repetition from another use of the key. */
  readonly fingerprint: string;
}

export interface KeyRules {
  readonly mode: 'cache' | 'effect';
  readonly key: NameCall | undefined;
  readonly scope: 'session' | 'global' | NameCall;
  readonly source: string | undefined;
}

/**
 * An answer of a read belongs to a tool as it was defined then. An effect has happened whatever its
 * tool is called or says about itself since, so neither is part of its key. Where the tools come
 * from is part of either, if it was said: one that was said later opens a key anew. Throws where
 * there is no key.
 */
export function claimKeyOf(call: ToolCall, rules: KeyRules): ClaimKey | Promise<ClaimKey> {
  const { key, scope } = rules;
  if (typeof scope === 'function' || key !== undefined) return namedKeyOf(call, rules);
  return claimKey(call, rules, scope === 'session' ? [scope, call.turn.sessionId] : [scope], null);
}

async function namedKeyOf(call: ToolCall, rules: KeyRules): Promise<ClaimKey> {
  const { key, scope } = rules;
  const whose =
    typeof scope === 'function'
      ? ['own', named(await scope(call))]
      : scope === 'session'
        ? ['session', call.turn.sessionId]
        : [scope];
  return claimKey(call, rules, whose, key === undefined ? null : named(await key(call)));
}

/** Without a name, tool and arguments are the work. */
function claimKey(
  call: ToolCall,
  { mode, source }: KeyRules,
  whose: readonly string[],
  name: string | null,
): ClaimKey {
  const { toolName } = call;
  const from = source === undefined ? whose : [...whose, 'source', source];
  const what = name === null ? ['args', toolName, canonicalJson(call.toolArgs)] : ['key', name];
  return mode === 'effect'
    ? {
        key: digest([mode, from, what]),
        fingerprint: digest([toolName, canonicalJson(call.toolArgs)]),
      }
    : { key: digest([mode, from, what, toolName, definitionOf(call)]), fingerprint: '' };
}

function named(name: unknown): string {
  if (typeof name === 'string' && name !== '') return name;
  throw new TypeError(
    `a key must be a non-empty string, got ${name === '' ? 'an empty one' : typeof name}`,
  );
}

const digest = (parts: readonly unknown[]): string =>
  `sha256:${hash('sha256', JSON.stringify(parts))}`;

const definitions = new WeakMap<
  object,
  { readonly schema: unknown; readonly description: string; readonly text: string }
>();

/** Worked out once for the annotations of a tool, which every call of it shares. */
function definitionOf({ schema, description, annotations }: ToolCall): string {
  const before = definitions.get(annotations);
  if (before !== undefined && before.schema === schema && before.description === description)
    return before.text;
  const text = digest([schema, description, annotations]);
  definitions.set(annotations, { schema, description, text });
  return text;
}
