/**
 * Arguments the host supplies: taken off what the model sent, put in right before the tool runs.
 */

import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { AlliumError } from '../../core/contract/errors.ts';
import { freezeParsed, snapshot } from '../../core/json/json.ts';
import { scrub } from '../../core/onion/scrub.ts';
import type { HiddenSource, Tool, ToolContext } from '../../tools/tool.ts';

export type Secret = string | (() => string | Promise<string>);

/** What `governTools` was given to fill hidden arguments from. */
export interface HiddenSources {
  readonly state: unknown;
  readonly stores: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, Secret>>;
}

/** Arguments without those the model may not set, and how many there were. */
export function stripHidden(
  tool: Tool,
  args: JsonObject,
): { readonly args: JsonObject; readonly stripped: number } {
  if (tool.injected.length === 0) return { args, stripped: 0 };
  const sent = tool.injected.filter(({ name }) => Object.hasOwn(args, name));
  if (sent.length === 0) return { args, stripped: 0 };
  const hidden = new Set(sent.map(({ name }) => name));
  const kept = Object.fromEntries(Object.entries(args).filter(([name]) => !hidden.has(name)));
  return { args: freezeParsed(kept), stripped: sent.length };
}

/** Refuses, when the tools are put together, a tool whose hidden arguments nobody supplies. */
export function demandSources(tool: Tool, sources: HiddenSources): void {
  for (const { from } of tool.injected) {
    const [place, key = ''] = typeof from === 'string' ? from.split(/:(.*)/s) : [];
    const missing =
      (place === 'store' && !Object.hasOwn(sources.stores, key)) ||
      (place === 'secret' && !Object.hasOwn(sources.secrets, key));
    if (!missing) continue;
    throw new AlliumError(
      'ERR_INVALID_OPTION',
      `governTools: tool "${tool.name}" needs ${place} "${key}", which was not given`,
      {
        toolName: tool.name,
        option: `${place}s`,
      },
    );
  }
}

export interface HiddenValues {
  readonly values: Readonly<Record<string, unknown>>;
  /** Secrets among them, to be kept out of everything the tool says. */
  readonly secrets: readonly string[];
}

/** The values for one call. */
export async function hiddenValues(
  tool: Tool,
  context: ToolContext,
  sources: HiddenSources,
): Promise<HiddenValues> {
  const values: Record<string, unknown> = {};
  const secrets: string[] = [];
  for (const { name, from } of tool.injected) {
    const value = await valueOf(from, context, sources);
    values[name] = value;
    if (
      typeof from === 'string' &&
      from.startsWith('secret:') &&
      typeof value === 'string' &&
      value !== ''
    )
      secrets.push(value);
  }
  return { values, secrets };
}

function valueOf(from: HiddenSource, context: ToolContext, sources: HiddenSources): unknown {
  if (typeof from === 'function') return from(context);
  switch (from) {
    case 'sessionId':
      return context.turn.sessionId;
    case 'runId':
      return context.turn.runId;
    case 'turn':
      return context.turn;
    case 'signal':
      return context.signal;
    case 'state':
      return sources.state;
    case 'events':
      return Object.freeze({ emit: context.report });
    case 'report':
      return context.report;
    default:
      return from.startsWith('store:')
        ? sources.stores[from.slice('store:'.length)]
        : secretOf(sources.secrets[from.slice('secret:'.length)]);
  }
}

const secretOf = (secret: Secret | undefined): unknown =>
  typeof secret === 'function' ? secret() : secret;

/**
 * A cleaner that takes these secrets out of any text, for a tool that repeats what it was given.
 */
export const maskSecrets =
  (secrets: readonly string[]) =>
  (text: string): string =>
    secrets.reduce((clean, secret) => clean.replaceAll(secret, '[secret]'), text);

/**
 * A tool's value without the secrets it was given. Throws where it is no JSON, or holds more than
 * `maxValues`.
 */
export function withoutSecrets(
  value: unknown,
  secrets: readonly string[],
  maxValues: number,
): JsonValue | undefined {
  if (value === undefined) return undefined;
  const copied = snapshot(value, maxValues);
  return secrets.length === 0 ? copied : scrub(copied, [maskSecrets(secrets)]);
}
