/** How people are asked about the calls of one connection. */

import type { ApprovalPrompt } from '../core/approval.ts';
import { isObject } from '../core/json.ts';
import { sourceOf } from '../core/signal.ts';
import { askEverywhere } from './ask-everywhere.ts';
import type { ClientFacts } from './client-facts.ts';
import type { ConnectionParts } from './connection.ts';
import { answerFrom, canElicit, CONSENT_KEY, consentForm } from './elicitation.ts';
import type { Exchange, Exchanges } from './exchange.ts';
import type { Outgoing } from './outgoing.ts';
import { queuePrompt } from './queue-prompt.ts';
import type { Rounds } from './rounds.ts';
import { notificationMessage, type RequestId, type WireMessage } from './wire.ts';

export interface PeopleParts {
  readonly exchanges: Exchanges;
  readonly rounds: Rounds;
  readonly client: Outgoing;
  readonly facts: ClientFacts;
  readonly connection: ConnectionParts;
  readonly toClient: (message: WireMessage, about: RequestId) => void;
}

/** How often the queue is looked at while somebody is asked. */
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
    // Who gets the question as a result waits for nothing.
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
        [CONSENT_KEY]: { method: 'elicitation/create', params: { mode: 'form', ...form } },
      };
      return answerFrom(
        (await rounds.ask(exchange, asked, signal))[CONSENT_KEY],
        question,
        facts.name,
      );
    }
    const { result } = await client.request('elicitation/create', form, {
      abort: sourceOf(signal),
      about: exchange.request,
    });
    return answerFrom(result, question, facts.name);
  };

/** So small that whatever the server reports is more. */
function heartbeat({ toClient }: PeopleParts, exchange: Exchange | undefined, beat: number): void {
  const { meta, request = null } = exchange ?? {};
  if (meta?.progressToken === undefined || request === null) return;
  const progress = {
    progressToken: meta.progressToken,
    progress: beat / 1e9,
    message: 'waiting for somebody to decide',
  };
  toClient(notificationMessage('notifications/progress', progress), request);
}
