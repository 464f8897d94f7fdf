/**
 * What a stack does to a call, and how that must look to the client, at the server and in the
 * receipts.
 */

import type { Answer, Connection, Outcome, Question } from './driver.ts';
import type { Peer, ServerName } from './peers.ts';
import type { PlannedCall, ServerPlan } from './server-plans.ts';

/** What a finding is about. */
export type Aspect = 'result' | 'effect' | 'receipt' | 'question' | 'process';
export type Find = (about: Aspect, problem: string) => void;

/** A receipt that must be there. */
export interface Expected {
  readonly tool: string;
  readonly status: string;
  readonly executed: readonly ('no' | 'yes' | 'unknown')[];
  /**
   * A call whose client went away while somebody was asked may have left nothing but the question.
   */
  readonly isOptional?: boolean;
}

/** One behaviour at one server. */
export interface Scene {
  readonly onElicit?: (question: Question) => Answer | Promise<Answer>;
  run(connection: Connection, find: Find): Promise<void>;
  /** In the order of the calls. Those of calls that waited for an answer are left out. */
  readonly receipts: readonly Expected[];
  /** Lets go of whatever holds the server. */
  end?(): void;
  /** What can only be said when all processes have ended. */
  afterwards?(find: Find): void;
}

export interface Behaviour {
  readonly name: string;
  /** The stack inside `auditLog`, as lines of YAML. */
  readonly layers: readonly string[];
  /** @default all servers */
  readonly only?: readonly ServerName[];
  /** Called before the server starts. */
  open(peer: Peer, plan: ServerPlan): Scene;
}

export const ORIGINAL = 'original-7f3a91';
export const EDITED = 'edited-7f3a91';

/** Somebody is asked about every call. */
export const ASK = ['- consent: { default: ask }'];

export const ok = ({ tool }: PlannedCall): Expected => ({ tool, status: 'ok', executed: ['yes'] });
export const refused = ({ tool }: PlannedCall, status: string): Expected => ({
  tool,
  status,
  executed: ['no'],
});

/** Whether it is a result at all, and tells where it is another one than it should be. */
export function isResult(
  outcome: Outcome,
  isError: boolean,
  find: Find,
): outcome is Outcome & { readonly kind: 'result' } {
  if (outcome.kind === 'error') {
    // What a client throws away never reaches the model.
    find('result', `the client threw: ${outcome.message.slice(0, 120)}`);
    return false;
  }
  if (outcome.isError !== isError)
    find('result', isError ? 'is no error' : `is an error: ${outcome.text.slice(0, 120)}`);
  if (outcome.text.trim() === '') find('result', 'has no text');
  return true;
}

/** Compares what was left at the server. */
export function expectEffects(
  peer: Peer,
  plan: ServerPlan,
  texts: readonly string[],
  find: Find,
): void {
  const seen = plan.effects(peer);
  if (seen !== null && JSON.stringify(seen) !== JSON.stringify(texts))
    find('effect', `${seen.length} instead of ${texts.length}, or another`);
}
