/** The steps of a scenario, done on a stack of this process. */

import { type GovernedTools, type ToolRequest, type ToolResult, toWire } from '../../src/index.ts';
import { answerApproval, type ApprovalStore } from '../../src/policy/index.ts';
import { settle, type TestClock } from '../test-kit.ts';
import type { CallStep, DecisionStep, Setup, Step } from './scenario.ts';
import type { Reply } from './subject.ts';
import { thrownAs } from './thrown-as.ts';

/** One scenario under way. */
export interface Session {
  governed: GovernedTools;
  readonly clock: TestClock;
  readonly approvals: ApprovalStore;
  readonly begun: Map<string, { readonly ending: Promise<Reply>; readonly abort: AbortController }>;
  /** The last question about each call, by the call's id. */
  readonly questions: Map<string, string>;
  /** A new stack over the same stores, as another process has it. */
  readonly restart: (changes: Setup) => GovernedTools;
  calls: number;
}

/**
 * How long a step may take by the real clock. Files and processes need some, on a busy machine
 * much; nothing else does.
 */
const PATIENCE_MS = 30_000;

/** Does one step and tells what came of it. */
export async function doStep(step: Step, session: Session): Promise<Reply> {
  const { governed, clock, begun } = session;
  if ('call' in step) return callStep(step, session);
  if ('advance' in step) return done(clock.advance(step.advance));
  if ('abort' in step) return done(settled(() => begun.get(step.abort)?.abort.abort()));
  if ('result' in step)
    return (await endingWithin(begun.get(step.result)?.ending)) ?? { pending: true };
  if ('parallel' in step) return parallelStep(step, session);
  if ('batch' in step) return batchStep(step, session);
  if ('resume' in step) return resumeStep(step, session);
  if ('answer' in step) return answerStep(step, session);
  if ('restart' in step)
    return replyTo(async () =>
      done(settled(() => void (session.governed = session.restart(step.restart)))),
    );
  if ('advertise' in step) {
    const { advertise: turn, select } = step;
    return replyTo(async () => {
      const shown = governed.advertise({
        turn: { ...TURN, ...turn },
        ...(select === undefined ? {} : { select }),
      });
      return { value: shown.map((tool) => toWire(tool)) };
    });
  }
  if ('observe' in step) {
    const { observe: name, args = {}, output, id = nextId(session) } = step;
    return replyTo(
      governed
        .observe({ name, arguments: args, id }, output, { turn: TURN })
        .then(valueFor(session)),
    );
  }
  return endOf(done(governed.close()), step, session);
}

const TURN = Object.freeze({ iteration: 1, sessionId: 'session-1' });

async function callStep(step: CallStep, session: Session): Promise<Reply> {
  const abort = new AbortController();
  const request = requestFrom(step, session);
  const ending = session.governed.call(request, {
    turn: { ...TURN, ...step.turn },
    signal: abort.signal,
  });
  return endOf(replyTo(ending.then(valueFor(session))), step, session, abort);
}

async function batchStep(
  step: Extract<Step, { batch: unknown }>,
  session: Session,
): Promise<Reply> {
  const abort = new AbortController();
  const { turn = {}, maxConcurrent } = step;
  const requests = step.batch.map((one) => requestFrom(one, session));
  const options = {
    turn: { ...TURN, ...turn },
    signal: abort.signal,
    ...(maxConcurrent === undefined ? {} : { maxConcurrent }),
  };
  const ending = session.governed
    .batch(requests, options)
    .then((results) => ({ values: results.map(valueFor(session)) }));
  return endOf(replyTo(ending), step, session, abort);
}

/**
 * Answers what was asked last about a call. A call that nobody was asked about names an approval
 * that is not there.
 */
async function resumeStep(
  step: Extract<Step, { resume: string }>,
  session: Session,
): Promise<Reply> {
  const abort = new AbortController();
  const { resume: callId, decision } = step;
  // What is no decision is for `resume` to refuse.
  const given = decision as Parameters<GovernedTools['resume']>[1];
  const ending = session.governed.resume(session.questions.get(callId) ?? callId, given, {
    signal: abort.signal,
  });
  return endOf(replyTo(ending.then(valueFor(session))), step, session, abort);
}

const answerStep = (
  { answer: callId, decision }: DecisionStep & { readonly answer: string },
  session: Session,
): Promise<Reply> =>
  replyTo(async () => {
    const { approvals, questions, clock } = session;
    return done(
      answerApproval(approvals, questions.get(callId) ?? callId, decision ?? {}, { clock }),
    );
  });

/** Waits for the end, unless the step was only begun. */
async function endOf(
  ending: Promise<Reply>,
  { begin }: { readonly begin?: string },
  { begun }: Session,
  abort = new AbortController(),
): Promise<Reply> {
  if (begin === undefined) return (await endingWithin(ending)) ?? { pending: true };
  begun.set(begin, { ending, abort });
  return done(settled(() => {}));
}

/** Begun together, in their order, before any of them can end. */
async function parallelStep(
  step: Extract<Step, { parallel: unknown }>,
  session: Session,
): Promise<Reply> {
  const calls = Array.from({ length: step.times ?? 1 }, () => step.parallel).flat();
  return {
    values: await Promise.all(
      calls.map((one) => ('resume' in one ? resumeStep(one, session) : callStep(one, session))),
    ),
  };
}

function requestFrom({ call: name, args = {}, raw, id }: CallStep, session: Session): ToolRequest {
  return { name, arguments: raw ?? args, id: id ?? nextId(session) };
}

const nextId = (session: Session): string => `call-${(session.calls += 1)}`;

const valueFor =
  ({ questions }: Session) =>
  (result: ToolResult): Reply => {
    if (result.interruption !== undefined) questions.set(result.toolCallId, result.interruption.id);
    return { value: toWire(result) };
  };

async function replyTo(work: Promise<Reply> | (() => Promise<Reply>)): Promise<Reply> {
  try {
    return await (typeof work === 'function' ? work() : work);
  } catch (error) {
    return { throws: thrownAs(error) };
  }
}

async function done(work: Promise<unknown>): Promise<Reply> {
  await work;
  return { done: true };
}

async function settled(act: () => void): Promise<void> {
  act();
  await settle();
}

/** `null` for a call that only time would end. */
export async function endingWithin(ending: Promise<Reply> | undefined): Promise<Reply | null> {
  if (ending === undefined) return { throws: { message: 'no call was begun under this name' } };
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), PATIENCE_MS);
  });
  return Promise.race([ending, late]).finally(() => clearTimeout(timer));
}
