/** Which hosts a call may connect to. */

import { hashCanonical } from '../../core/json/hash-canonical.ts';
import { checkOptions, type Expectation, expected } from '../../core/contract/options.ts';
import { type Host, type HostEntry, isPort, type Ports, readEntry, readHosts } from './host.ts';
import type {
  PermissionAnswer,
  PermissionPolicy,
  PermissionRequest,
  ProposedRequest,
} from '../permission.ts';
import { decisionFor, strictest } from '../evaluate.ts';

/** Lists of hosts and ports for `networkPolicy`. */
export interface NetworkPolicyOptions {
  /**
   * Hosts that pass unasked: names, `*.` and a name, `*`, addresses and ranges, each with `:port`
   * or `:port,port` if need be.
   * @default none
   */
  readonly allow?: readonly string[];
  /**
   * Hosts that a person is asked about.
   * @default none
   */
  readonly ask?: readonly string[];
  /**
   * Hosts that never pass. Without a port: on every port.
   * @default none
   */
  readonly deny?: readonly string[];
  /**
   * Ports that may be used where an entry names none: numbers, or `'any'`.
   * @default [80, 443]
   */
  readonly ports?: readonly number[] | 'any';
  /**
   * What happens to hosts that are not in the internet and that no entry means by itself: `'deny'`,
   * `'ask'` or `'allow'`.
   * @default 'deny'
   */
  readonly privateRanges?: 'deny' | 'ask' | 'allow';
  /**
   * What happens to other hosts in no list: `'deny'` or `'ask'`.
   * @default 'deny'
   */
  readonly unknown?: 'deny' | 'ask';
}

const hosts: Expectation = expected.listOf({
  text: 'a host such as api.example.org, *.example.org, 192.0.2.0/24 or [2001:db8::1]:443, without scheme and path',
  test: (value) => readEntry(value) !== null,
});
const EXPECTED: Readonly<Record<keyof NetworkPolicyOptions, Expectation>> = Object.freeze({
  allow: hosts,
  ask: hosts,
  deny: hosts,
  ports: {
    text: '"any" or a list of port numbers',
    test: (value) =>
      value === 'any' || (Array.isArray(value) && Array.from<unknown>(value).every(isPort)),
  },
  privateRanges: expected.oneOf('deny', 'ask', 'allow'),
  unknown: expected.oneOf('deny', 'ask'),
});

/** What a policy decides by: the options, read once. */
interface Rules {
  readonly allow: readonly HostEntry[];
  readonly ask: readonly HostEntry[];
  readonly deny: readonly HostEntry[];
  readonly ports: Ports;
  readonly privateRanges: 'deny' | 'ask' | 'allow';
  readonly unknown: 'deny' | 'ask';
}

/**
 * Decides `network.connect` by host and port, and has no opinion on others. It looks at what is
 * written and asks no resolver: a name that is allowed may lead to any address, which only
 * `guardedLookup` sees. It trusts that a tool proposes every connection, each hop of a redirect too
 * (`networkRequestOf`).
 */
export function networkPolicy(options: NetworkPolicyOptions): PermissionPolicy {
  checkOptions('networkPolicy', options, EXPECTED);
  const {
    allow = [],
    ask = [],
    deny = [],
    ports = [80, 443],
    privateRanges = 'deny',
    unknown = 'deny',
  } = options;
  const rules: Rules = {
    allow: entriesOf(allow),
    ask: entriesOf(ask),
    deny: entriesOf(deny),
    ports: ports === 'any' ? ports : new Set(ports),
    privateRanges,
    unknown,
  };
  return Object.freeze<PermissionPolicy>({
    name: 'networkPolicy',
    digest: hashCanonical(['networkPolicy', { allow, ask, deny, ports, privateRanges, unknown }]),
    evaluate: (request) => decide(rules, request),
  });
}

const entriesOf = (list: readonly string[]): readonly HostEntry[] =>
  list.map(readEntry).filter((entry) => entry !== null);

const answer = (
  decision: PermissionAnswer['decision'],
  code: string,
  reason: string,
): PermissionAnswer => ({ decision, code, reason });

function decide(rules: Rules, request: PermissionRequest): PermissionAnswer {
  if (!request.kind.startsWith('network.')) return { decision: 'no_opinion' };
  if (request.kind !== 'network.connect')
    return answer('deny', 'network_kind', 'this kind of access to a network is not known');
  // What a tool proposed is only typed, not checked: both are looked at before they are compared.
  const { host, port } = request as { readonly host?: unknown; readonly port?: unknown };
  const read = readHosts(host);
  if (read.length === 0) return answer('deny', 'host_invalid', HOST_FORM);
  if (port !== undefined && !isPort(port))
    return answer('deny', 'port_invalid', '`port` must be a whole number from 1 to 65535');
  return strictest(read.map((each) => judge(rules, each, port)));
}

const HOST_FORM =
  '`host` must be a plain name or address, without scheme, user, port, path or anything encoded';

/** A request without a port may go to any of them. */
const mayUse = (ports: Ports | undefined, port: number | undefined): boolean =>
  ports === undefined || ports === 'any' || port === undefined || ports.has(port);

function judge(rules: Rules, host: Host, port: number | undefined): PermissionAnswer {
  if (rules.deny.some((entry) => entry.touches(host) && mayUse(entry.ports, port)))
    return answer('deny', 'host_denied', 'this `host` is not allowed');
  const asking = rules.ask.filter((entry) => entry.touches(host));
  const speaking = [...asking, ...rules.allow.filter((entry) => entry.means(host))].filter(
    (entry) => entry.isLocal || !host.isLocal,
  );
  if (speaking.length === 0 && decisionElsewhere(rules, host) === 'deny')
    return refusedElsewhere(rules, host, 'deny');
  const problem = portProblem(
    speaking.length === 0 ? [rules.ports] : speaking.map(({ ports = rules.ports }) => ports),
    port,
  );
  if (problem !== null) return problem;
  if (asking.some(({ ports }) => mayUse(ports, port)))
    return answer('require_approval', 'host_asked', 'this `host` has to be approved');
  if (speaking.length === 0 && decisionElsewhere(rules, host) === 'ask')
    return refusedElsewhere(rules, host, 'ask');
  return { decision: 'allow', code: 'host_allowed' };
}

/** For hosts that no entry speaks for. */
const decisionElsewhere = (
  { privateRanges, unknown }: Rules,
  host: Host,
): 'deny' | 'ask' | 'allow' => (host.isLocal ? privateRanges : unknown);

function refusedElsewhere(rules: Rules, host: Host, option: 'deny' | 'ask'): PermissionAnswer {
  const passing = `allowed: ${shownList(rules.allow.map(({ text }) => text))}`;
  return host.isLocal
    ? answer(
        decisionFor(option),
        'host_private',
        `\`host\` is no public address: it is on this machine, inside a network, or reserved; ${passing}`,
      )
    : answer(decisionFor(option), 'host_unknown', `\`host\` is not on the list; ${passing}`);
}

function portProblem(lists: readonly Ports[], port: number | undefined): PermissionAnswer | null {
  if (lists.some((ports) => ports === 'any' || (port !== undefined && ports.has(port))))
    return null;
  const passing = shownList(
    [...new Set(lists.flatMap((ports) => (ports === 'any' ? [] : [...ports])))].map(String),
  );
  return port === undefined
    ? answer('deny', 'port_unknown', `\`port\` must be named; allowed for this host: ${passing}`)
    : answer('deny', 'port_denied', `\`port\` is not allowed for this host; allowed: ${passing}`);
}

const MAX_SHOWN = 20;

/** Enough to go on with: a reason is read by a model. */
function shownList(list: readonly string[]): string {
  if (list.length === 0) return 'none';
  const more = list.length > MAX_SHOWN ? ` and ${list.length - MAX_SHOWN} more` : '';
  return `${list.slice(0, MAX_SHOWN).join(', ')}${more}`;
}

const DEFAULT_PORTS: ReadonlyMap<string, number> = new Map([
  ['http:', 80],
  ['ws:', 80],
  ['https:', 443],
  ['wss:', 443],
]);

/** A request for one connection. */
export type NetworkRequest = Extract<ProposedRequest, { readonly kind: 'network.connect' }>;

/**
 * Where a URL leads, for `proposedRequests` and for every hop of a redirect: `base` is the URL that
 * answered with it. Read as `fetch` reads it, and never throws: a URL that cannot be read, or has
 * no host, gives an empty host, and one of a scheme other than http and ws no port unless it names
 * one. `networkPolicy` refuses both.
 */
export function networkRequestOf(url: string | URL, base?: string | URL): NetworkRequest {
  const read = readUrl(url, base);
  if (read === null) return { kind: 'network.connect', host: '' };
  const port = read.port === '' ? DEFAULT_PORTS.get(read.protocol) : Number(read.port);
  const host = read.hostname.replace(/^\[(.*)\]$/, '$1');
  return port === undefined
    ? { kind: 'network.connect', host }
    : { kind: 'network.connect', host, port };
}

function readUrl(url: string | URL, base: string | URL | undefined): URL | null {
  try {
    return new URL(url, base);
  } catch {
    return null;
  }
}
