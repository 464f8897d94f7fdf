/** One question on every channel there is. It never keeps a client waiting longer than clients wait. */

import type { ApprovalAnswer, ApprovalPrompt, ApprovalQuestion } from '../core/approval.ts';
import type { Clock } from '../core/clock.ts';
import { askPeople } from '../policy/approvals/ask-people.ts';

export interface AskParts {
  /** The client, a terminal: whoever can be asked right now. */
  readonly channels: readonly ApprovalPrompt[];
  readonly queue: ApprovalPrompt;
  readonly clock: Clock;
  /** How long the queue is watched where nobody else can be asked. */
  readonly waitMs: number;
  /** How long a question may take; `null` where the client does not wait for the answer. */
  readonly patienceMs: (question: ApprovalQuestion) => number | null;
  /** Told now and then while somebody is asked, so that a client sees that the call lives. */
  readonly onWaiting: (question: ApprovalQuestion, beat: number) => void;
}

/** Clients give up after a minute in which they hear nothing. */
const BEAT_MS = 10_000;

/** `null`, and with it a call that waits in the queue, where nobody can be asked or nobody answers in time. */
export function askEverywhere(parts: AskParts): ApprovalPrompt {
  return async function people(question) {
    const { clock, waitMs, patienceMs, channels, queue } = parts;
    const stop = new AbortController();
    const asked = { ...question, signal: AbortSignal.any([question.signal, stop.signal]) };
    const heart = beating(parts, question);
    try {
      const direct = askPeople(asked, channels, asked.signal).then(
        (answer) => (answer === null ? null : (answer.said as ApprovalAnswer)),
        () => null,
      );
      const first = await Promise.race([direct, soon()]);
      if (first === null && waitMs === 0) return null;
      if (first !== null && first !== PENDING) return first;
      const limit = first === null ? waitMs : patienceMs(question);
      const queued = queue(asked);
      const answers =
        first === null ? [queued] : [direct.then((answer) => answer ?? queued), queued];
      return await Promise.race([
        ...answers,
        ...(limit === null ? [] : [after(clock, limit, asked.signal)]),
      ]);
    } finally {
      heart();
      stop.abort();
    }
  };
}

const PENDING = Symbol('pending');

/** Whoever cannot ask anybody says so at once. */
const soon = (): Promise<typeof PENDING> =>
  new Promise((resolve) => setImmediate(() => resolve(PENDING)));

const after = (clock: Clock, ms: number, signal: AbortSignal): Promise<null> =>
  new Promise((resolve) => {
    const cancel = clock.after(ms, () => resolve(null));
    signal.addEventListener('abort', cancel, { once: true });
  });

function beating({ clock, onWaiting }: AskParts, question: ApprovalQuestion): () => void {
  let count = 0;
  let cancel = (): void => {};
  const beat = (): void => {
    cancel = clock.after(BEAT_MS, () => {
      onWaiting(question, (count += 1));
      beat();
    });
  };
  beat();
  return () => cancel();
}
