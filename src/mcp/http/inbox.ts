/**
 * The receiving half of a link whose messages arrive in many HTTP requests: kept until somebody
 * listens, and told one end.
 */

import type { Frame, Link, LinkHandlers } from '../proxy/link.ts';
import type { RequestId } from '../wire.ts';

export interface Inbox {
  push(frame: Frame): void;
  /** Something came that goes nowhere; with the id of a request whose sender can be told. */
  complain(problem: string, id?: RequestId): void;
  start(handlers: LinkHandlers): void;
  pause(): void;
  resume(): void;
  /** Resolves as soon as more is wanted. Whoever reads from a socket waits for it first. */
  ready(): Promise<void>;
  end(why: string): void;
  isOpen(): boolean;
}

export function createInbox(): Inbox {
  const early: Frame[] = [];
  const waiting: (() => void)[] = [];
  let handlers: LinkHandlers | null = null;
  let isPaused = false;
  let ended: string | null = null;

  const release = (): void => {
    for (const go of waiting.splice(0)) go();
  };
  return {
    push(frame) {
      if (ended !== null) return;
      if (handlers === null) early.push(frame);
      else handlers.onFrame(frame);
    },
    complain(problem, id) {
      if (ended === null) handlers?.onGarbage(problem, id);
    },
    start(given) {
      handlers = given;
      for (const frame of early.splice(0)) given.onFrame(frame);
      if (ended !== null) given.onClose(ended);
    },
    pause: () => void (isPaused = true),
    resume() {
      isPaused = false;
      release();
    },
    ready: () =>
      isPaused && ended === null
        ? new Promise((resolve) => waiting.push(resolve))
        : Promise.resolve(),
    end(why) {
      if (ended !== null) return;
      ended = why;
      release();
      handlers?.onClose(why);
    },
    isOpen: () => ended === null,
  };
}

/** A link over HTTP that receives through this inbox. */
export const inboxLink = (
  inbox: Inbox,
  sending: Pick<Link, 'send' | 'onDrain' | 'close'>,
): Link => ({
  transport: 'tcp',
  start: async (handlers) => inbox.start(handlers),
  pause: () => inbox.pause(),
  resume: () => inbox.resume(),
  ...sending,
});
