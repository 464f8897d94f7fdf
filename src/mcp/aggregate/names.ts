/** What tools and prompts are called behind one server that is several. */

import type { JsonObject } from '../../core/json/json-value.ts';
import { AlliumError, oneLine } from '../../core/contract/errors.ts';
import { foldName } from '../../tools/names.ts';
import type { Link } from '../proxy/link.ts';

/** One of the servers that become one. */
export interface UpstreamSpec {
  /** For messages, headings and log lines. */
  readonly name: string;
  /** Stands with an underscore before every tool and prompt of this server. @default the name */
  readonly prefix?: string;
  /** Called for the first connection, and again whenever the server has to be started anew. */
  readonly open: () => Link;
}

/** What MCP lets a tool be called. */
const NAME = /^[A-Za-z0-9_.-]{1,128}$/;

/**
 * Throws `ERR_INVALID_OPTION`. No prefix may begin with another one, spelling and look-alikes
 * aside: only then a name belongs to one server without asking any of them, and no server can take
 * the name of another's tool.
 */
export function checkUpstreams(upstreams: readonly UpstreamSpec[]): void {
  if (upstreams.length === 0) throw invalid('at least one server is needed');
  const names = new Set(upstreams.map(({ name }) => name));
  if (names.size !== upstreams.length) throw invalid('two servers have the same name');
  for (const { name, prefix = name } of upstreams) {
    if (name === '' || !NAME.test(prefix))
      throw invalid(
        `"${oneLine(prefix)}" is no prefix: use up to 128 letters, digits, "_", "." or "-"`,
      );
  }
  const folded = upstreams
    .map(({ name, prefix = name }) => ({ prefix, key: `${foldName(prefix)}_` }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  for (const [at, { prefix, key }] of folded.entries()) {
    const before = folded[at - 1];
    if (before !== undefined && key.startsWith(before.key)) {
      throw invalid(
        `the prefixes "${before.prefix}" and "${prefix}" could make one name for two tools: give one of them another prefix`,
      );
    }
  }
}

const invalid = (problem: string): AlliumError =>
  new AlliumError('ERR_INVALID_OPTION', `aggregateLinks: ${problem}`, {
    layer: 'aggregateLinks',
    option: 'upstreams',
  });

/** Whose name it is and what it is called there, or `null` for a tool of no server. */
export function splitName<T extends { readonly prefix: string }>(
  upstreams: readonly T[],
  name: unknown,
): { readonly upstream: T; readonly name: string } | null {
  if (typeof name !== 'string') return null;
  const upstream = upstreams.find(
    ({ prefix }) => name.startsWith(`${prefix}_`) && name.length > prefix.length + 1,
  );
  return upstream === undefined ? null : { upstream, name: name.slice(upstream.prefix.length + 1) };
}

export interface Exposed {
  readonly items: readonly JsonObject[];
  /** Own names that are not shown and must not be called either. */
  readonly refused: ReadonlySet<string>;
  readonly problems: readonly string[];
}

/**
 * Of two names that a reader takes for one, the first stays. What cannot be named is left out.
 * Every other field is carried along.
 */
export function exposeNames(prefix: string, items: readonly JsonObject[]): Exposed {
  const taken = new Map<string, string>();
  const refused = new Set<string>();
  const problems: string[] = [];
  const shown: JsonObject[] = [];
  for (const item of items) {
    const { name } = item;
    const twin = typeof name === 'string' ? taken.get(foldName(name)) : undefined;
    if (typeof name !== 'string' || !NAME.test(`${prefix}_${name}`))
      problems.push('one has no name that can be shown');
    else if (twin !== undefined) {
      problems.push(`"${name}" looks like "${twin}"`);
      if (twin !== name) refused.add(name);
    } else {
      taken.set(foldName(name), name);
      shown.push({ ...item, name: `${prefix}_${name}` });
    }
  }
  return { items: shown, refused, problems };
}
