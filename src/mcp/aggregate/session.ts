/** What the parts of one aggregated connection share. */

import type { JsonObject } from '../../core/json/json-value.ts';
import type { Clock } from '../../core/time/clock.ts';
import { oneLine } from '../../core/contract/errors.ts';
import { isObject } from '../../core/json/json.ts';
import type { Frame } from '../proxy/link.ts';
import { objectAt } from '../wire.ts';
import type { Opening } from './handshake.ts';
import type { StandingWatch } from './standing-watch.ts';
import type { Upstream } from './upstream.ts';

export interface Session {
  readonly upstreams: readonly Upstream[];
  readonly clock: Clock;
  readonly slowMs: number;
  readonly watch: StandingWatch;
  /** What we call ourselves. */
  readonly serverInfo: JsonObject;
  readonly report: (problem: string) => void;
  toClient(frame: Frame): void;
  /** How the client opened; `null` before it did. */
  opening: Opening | null;
  /** The client was told what there is. Whoever comes later has to be announced. */
  isGreeted: boolean;
}

export const isReady = (upstream: Upstream): boolean => upstream.standing().is === 'ready';

/**
 * A capability, or a part of one, that a server declared. Nothing for a server that is not there.
 */
export function declares(upstream: Upstream, capability: string, part?: string): boolean {
  const standing = upstream.standing();
  if (standing.is !== 'ready') return false;
  const { capabilities } = standing.account;
  if (part !== undefined) return objectAt(capabilities, capability)[part] === true;
  return Object.hasOwn(capabilities, capability) && isObject(capabilities[capability]);
}

/** Says which server is not there and why, for whoever wanted something of it. */
export function awayText(upstream: Upstream): string {
  const standing = upstream.standing();
  const who = `server "${oneLine(upstream.name)}"`;
  if (standing.is === 'opening') return `${who} has not started yet; try again later`;
  return `${who} is away${'why' in standing ? `: ${oneLine(standing.why)}` : ''}; try again later`;
}

/** The members of a result that the modern era asks for; the legacy one does not know them. */
export const complete = ({ opening, serverInfo }: Session, fields: JsonObject): JsonObject =>
  opening?.era === 'modern'
    ? {
        resultType: 'complete',
        ...fields,
        _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo },
      }
    : fields;
