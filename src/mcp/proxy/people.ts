/** How people are asked about the calls of one connection. */

import { isObject } from '../../core/json/json.ts';
import type { ApprovalAnswer, ApprovalPrompt, ApprovalQuestion } from '../../approvals/question.ts';
import { sourceOf } from '../../core/time/abort.ts';
import type { ClientFacts } from './client-facts.ts';
import { answerFrom, canElicit, CONSENT_KEY, consentForm } from './elicitation.ts';
import type { Exchange, Exchanges } from './exchange.ts';
import type { Outgoing } from '../outgoing.ts';
import { queuePrompt } from './queue-prompt.ts';
import type { Rounds } from './rounds.ts';
import { METHODS, notificationMessage, type RequestId, type WireMessage } from '../wire.ts';
import type { Clock } from '../../core/time/clock.ts';
import type { ApprovalStore } from '../../approvals/store/approval.ts';
import { askPeople } from '../../approvals/ask-people.ts';

/** How the people of a connection are asked. */
export interface PeopleSettings {
  readonly approvals: ApprovalStore;
  /** Channels beside the client's own. */
  readonly prompts: readonly ApprovalPrompt[];
  /** How long a client may take to come back with an answer. */
  readonly returnMs: number;
  /** How long a client that waits is kept waiting for a person. */
  readonly patienceMs: number;
  /** How long the queue is watched where no channel can ask. */
  readonly waitMs: number;
  readonly clock: Clock;
}

export interface PeopleParts {
  readonly exchanges: Exchanges;
  readonly rounds: Rounds;
  readonly client: Outgoing;
  readonly facts: ClientFacts;
  readonly connection: PeopleSettings;
  readonly toClient: (message: WireMessage, about: RequestId) => void;
}

/** How often the queue is read while a question is open. */
const POLL_MS = 250;

/** The client's own forms, whatever channels the host has, and the queue. */
export function peoplePrompt(parts: PeopleParts): ApprovalPrompt {
  const { exchanges, connection } = parts;
  const { approvals: store, clock, returnMs, waitMs, patienceMs, prompts } = connection;
  const argsOf = (callId: string) => {
    const args = exchanges.byCall(callId)?.params.arguments ?? {};
    return isObject(args) ? args : null;
  };
  const ask = askEverywhere({
    channels: [elicitation(parts), ...prompts],
    queue: queuePrompt({ store, clock, pollMs: POLL_MS, maxMs: returnMs }, argsOf),
    ...{ clock, waitMs },
    // A modern client gets the question as a result, so that it is not kept waiting.
    patienceMs: ({ callId }) => (exchanges.byCall(callId)?.isModern === true ? null : patienceMs),
    onWaiting: ({ callId }, beat) => heartbeat(parts, exchanges.byCall(callId), beat),
  });
  return async function people(question) {
    const exchange = exchanges.byCall(question.callId);
    if (exchange !== undefined) exchange.wasAsked = true;
    return ask(question);
  };
}

const elicitation =
  ({ exchanges, rounds, client, facts }: PeopleParts): ApprovalPrompt =>
  async (question) => {
    const exchange = exchanges.byCall(question.callId);
    if (exchange === undefined || exchange.request === null || !canElicit(exchange.capabilities))
      return null;
    const form = consentForm(question);
    const { signal } = question;
    if (exchange.isModern) {
      const asked = {
        [CONSENT_KEY]: { method: METHODS.elicit, params: { mode: 'form', ...form } },
      };
      return answerFrom(
        (await rounds.ask(exchange, asked, signal))[CONSENT_KEY],
        question,
        facts.name,
      );
    }
    const { result } = await client.request(METHODS.elicit, form, {
      abort: sourceOf(signal),
      about: exchange.request,
    });
    return answerFrom(result, question, facts.name);
  };

/** Progress so small that the first progress of the server is larger. */
function heartbeat({ toClient }: PeopleParts, exchange: Exchange | undefined, beat: number): void {
  const { meta, request = null } = exchange ?? {};
  if (meta?.progressToken === undefined || request === null) return;
  const progress = {
    progressToken: meta.progressToken,
    progress: beat / 1e9,
    message: 'waiting for somebody to decide',
  };
  toClient(notificationMessage(METHODS.progress, progress), request);
}

export interface AskParts {
  /** Channels that can ask a person now: the client's forms, a terminal. */
  readonly channels: readonly ApprovalPrompt[];
  readonly queue: ApprovalPrompt;
  readonly clock: Clock;
  /** How long the queue is watched where no channel can ask. */
  readonly waitMs: number;
  /** How long a question may take; `null` where the client does not wait for the answer. */
  readonly patienceMs: (question: ApprovalQuestion) => number | null;
  /** Called every `BEAT_MS` while a question is open, so that the client sees progress. */
  readonly onWaiting: (question: ApprovalQuestion, beat: number) => void;
}

/** Clients give up on a request after a minute without progress. */
const BEAT_MS = 10_000;

/**
 * Asks on all channels and in the queue at once. Answers `null` where no channel can ask or the
 * time is up; the call then waits in the queue.
 */
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

/** Channels that cannot ask answer within one turn of the loop; after that a question is open. */
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
