/** The links of one listener: which client a request belongs to. */

import { randomBytes } from 'node:crypto';
import type { Link } from '../proxy/link.ts';
import type { ClientLink, ClientLinkOptions } from './client-link.ts';
import { type SessionLink, sessionLink } from './session-link.ts';
import { sharedLink } from './shared-link.ts';

/** Who is behind a link. */
export interface HttpClient {
  /**
   * `legacy`: one session of one client. `modern`: everything that comes with one token, of any
   * number of clients.
   */
  readonly era: 'legacy' | 'modern';
  /** Which of the tokens it came with, counted from 0. */
  readonly principal: number;
}

/** The links that are open, and how one is found or made for a request. */
export interface Links {
  /** `null` where there are too many. */
  createSession(principal: number): SessionLink | null;
  /** Only for the principal that it was made for. */
  session(id: string, principal: number): SessionLink | undefined;
  shared(principal: number): ClientLink;
  /** The one that is there, if any. */
  openShared(principal: number): ClientLink | undefined;
}

/** What every link is made with, and who is told of a new one. */
export interface LinksOptions extends Omit<ClientLinkOptions, 'onEnd'> {
  readonly maxSessions: number;
  /** Told of a new link. Whatever this throws ends it. */
  readonly onClient: (link: Link, client: HttpClient) => void | Promise<void>;
}

/** Makes a link per session, and one per principal for the revisions without sessions. */
export function createLinks({
  maxSessions,
  onClient,
  ...common
}: LinksOptions): Links & { endAll(why: string): void } {
  const sessions = new Map<string, { readonly link: SessionLink; readonly principal: number }>();
  const shared = new Map<number, ClientLink>();
  const introduce = (made: ClientLink, client: HttpClient): void => {
    void (async () => onClient(made.link, client))().catch(() =>
      made.end('it could not be served'),
    );
  };
  return {
    createSession(principal) {
      // Many clients never say that they leave.
      const unused =
        sessions.size < maxSessions
          ? undefined
          : [...sessions.values()].find(({ link }) => !link.isBusy());
      unused?.link.end('another session took its place');
      if (sessions.size >= maxSessions) return null;
      const id = randomBytes(16).toString('hex');
      const link = sessionLink(id, { ...common, onEnd: () => void sessions.delete(id) });
      sessions.set(id, { link, principal });
      introduce(link, { era: 'legacy', principal });
      return link;
    },
    session(id, principal) {
      const found = sessions.get(id);
      if (found?.principal !== principal) return undefined;
      // The one that was used last is the last to be given up.
      sessions.delete(id);
      sessions.set(id, found);
      return found.link;
    },
    shared(principal) {
      const there = shared.get(principal);
      if (there !== undefined) return there;
      const link = sharedLink({ ...common, onEnd: () => void shared.delete(principal) });
      shared.set(principal, link);
      introduce(link, { era: 'modern', principal });
      return link;
    },
    openShared: (principal) => shared.get(principal),
    endAll(why) {
      for (const { link } of [...sessions.values()]) link.end(why);
      for (const link of [...shared.values()]) link.end(why);
    },
  };
}
