/**
 * Approvals for people: by the beginning of their id, as a row in a list or with everything that is
 * needed to decide, and what is said where nothing was decided or run.
 */

import { isAlliumError } from '../../core/contract/errors.ts';
import type { Approval, ApprovalState, ApprovalStore } from '../../policy/index.ts';
import { describeQuestion } from '../../consent/describe-question.ts';
import { isProject } from '../../config/artifact-project.ts';
import { isObject } from '../../core/json/json.ts';
import { lineOf } from '../io/failure.ts';
import { type CliIo, finding, UsageError } from '../io/io.ts';
import { type Column, safeText } from '../io/text-table.ts';
import { asked } from './kept-source.ts';

/**
 * The approval of that id, or the only one whose id begins like that, with or without `approval_`.
 */
export async function approvalIn(store: ApprovalStore, given: string): Promise<Approval | null> {
  const exact = await asked(() => store.get(given));
  if (exact !== null || given === '') return exact;
  const all = await asked(() => store.list({ ended: true }));
  const found = all.filter(({ id }) => id.startsWith(given) || id.startsWith(`approval_${given}`));
  if (found.length > 1)
    throw new UsageError(
      `${found.length} approvals begin with "${safeText(given)}"; write more of the id`,
    );
  return found[0] ?? null;
}

export const noApproval = (given: string, io: CliIo): number =>
  finding(io, `ERR_UNKNOWN_APPROVAL: there is no approval "${safeText(given)}"`);

const FINDINGS = [
  ...([
    'ERR_UNKNOWN_APPROVAL',
    'ERR_APPROVAL_PENDING',
    'ERR_APPROVAL_RESOLVED',
    'ERR_APPROVAL_EXPIRED',
  ] as const),
  ...(['ERR_APPROVALS_UNAVAILABLE', 'ERR_APPROVAL_CODE', 'ERR_UNKNOWN_TOOL'] as const),
] as const;

/**
 * Runs what decides about an approval, or takes it up. That it is too late for that is a finding,
 * and no mistake in the call.
 */
export async function orFinding(work: () => Promise<number>, io: CliIo): Promise<number> {
  try {
    return await work();
  } catch (error) {
    const code = FINDINGS.find((known) => isAlliumError(error, known));
    if (code === undefined || !(error instanceof Error)) throw error;
    io.stderr.write(`${lineOf(`allium: ${code}: ${error.message}`)}\n`);
    return 1;
  }
}

/** A word as a shell takes it for one. */
export const shellWord = (text: string): string =>
  /^[\w./:@-]+$/.test(text) ? text : `'${safeText(text).replaceAll("'", "'\\''")}'`;

export const COLUMNS: readonly Column[] = [
  { title: 'id', min: 24 },
  { title: 'state', min: 8 },
  { title: 'age', align: 'right' },
  { title: 'expires', min: 10 },
  { title: 'tool', min: 8 },
  { title: 'gate' },
  { title: 'session' },
];

export function rowOf(approval: Approval, state: ApprovalState, now: number): readonly string[] {
  const { id, requestedAt, expiresAt, toolName, gate, turn } = approval;
  return [
    id,
    stateText(approval, state),
    spanText(now - Date.parse(requestedAt)),
    isOpen(state) ? expiryText(expiresAt, now) : '',
    toolName,
    gate,
    turn.sessionId,
  ];
}

/** Of a call that is run or has ended nothing expires any more. */
const isOpen = (state: ApprovalState): boolean =>
  state === 'pending' || state === 'answered' || state === 'expired';

const expiryText = (expiresAt: string | null, now: number): string =>
  expiresAt === null ? 'never' : timeUntil(Date.parse(expiresAt) - now);

const timeUntil = (ms: number): string => (ms > 0 ? `in ${spanText(ms)}` : `${spanText(-ms)} ago`);

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
] as const;

/** The largest unit that says something. */
function spanText(ms: number): string {
  const [unit, size] = UNITS.find(([, length]) => ms >= length) ?? ['s', 1000];
  return `${Math.max(0, Math.floor(ms / size))}${unit}`;
}

function stateText({ ended, reply }: Approval, state: ApprovalState): string {
  if (state === 'ended') return ended?.status ?? state;
  return state === 'answered' ? (reply?.decision ?? state) : state;
}

/** Nothing is cut: who decides must be able to see all of it. */
const ALL = { maxTextLength: Number.MAX_SAFE_INTEGER, maxLines: Number.MAX_SAFE_INTEGER };

/** Every line of it is safe for a terminal. */
export function detailsOf(
  approval: Approval,
  state: ApprovalState,
  columns: number,
  next: readonly string[],
): string {
  const { id, toolName, shown, fingerprint, expiresAt } = approval;
  const question = {
    toolName,
    shown: shown ?? {},
    fingerprint,
    ...(expiresAt === null || !isOpen(state) ? {} : { expiresAt }),
  };
  return [
    `${safeText(id)}  ${MEANING[state]}`,
    shown === null
      ? 'The arguments are no longer kept.'
      : describeQuestion(question, { ...ALL, columns }).trimEnd(),
    ...fieldsOf(approval).map(([name, value]) => `  ${name.padEnd(10)}  ${safeText(value)}`),
    ...(next.length === 0 ? [] : ['Next:', ...next.map((line) => `  ${line}`)]),
  ].join('\n');
}

const MEANING: Readonly<Record<ApprovalState, string>> = {
  pending: 'waits for a decision',
  answered: 'was answered, and the call was not resumed yet',
  expired: 'has expired: it was not decided, or not resumed, in time',
  taken: 'is being run',
  lost: 'was resumed by a process that died: whether the tool ran is not known',
  ended: 'has ended',
};

/** What an answer for always would cover. */
function alwaysIn({ shown }: Approval): readonly (readonly [string, string])[] {
  const always = shown?.always;
  if (!isObject(always)) return [];
  const [exact, open] = [always.exact, always.anyArguments];
  return [
    ...(typeof exact === 'string' ? [['--always', exact] as const] : []),
    ...(typeof open === 'string' ? [['--any-arguments', open] as const] : []),
  ];
}

function fieldsOf(approval: Approval): readonly (readonly [string, string])[] {
  const { policy, earlier, reply, ended } = approval;
  const fields: readonly (readonly [string, string | null])[] = [
    ['kind', approval.kind],
    ['asked by', approval.gate],
    ['asked at', approval.requestedAt],
    ['session', approval.turn.sessionId],
    ['call', approval.callId],
    ['answers', approval.options.join(', ')],
    ...alwaysIn(approval),
    ['definition', approval.definition],
    ['rules', policy === '' ? null : policy],
    ['receipt', approval.receiptUri],
    ...earlier.map(
      (each) =>
        [
          'before',
          `${each.decision} by ${each.decidedBy} at ${each.decidedAt} (${each.gate})`,
        ] as const,
    ),
    [
      'answered',
      reply === null ? null : `${reply.decision} by ${reply.decidedBy} at ${reply.decidedAt}`,
    ],
    ['because', reply?.reason ?? null],
    ['edited', reply?.args === undefined ? null : JSON.stringify(reply.args)],
    ['result', reply?.supplied === undefined ? null : JSON.stringify(reply.supplied.value)],
    [
      'ended',
      ended === null ? null : `${ended.status} at ${ended.at}, executed: ${ended.executed}`,
    ],
  ];
  return fields.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
}

/**
 * How a call goes on once its approval is decided, which depends on the route that the call came in
 * by.
 */
export function nextStep({ id, route, gate }: Approval, cwd: string): string {
  // A copy of a question that a client still waits for.
  if (gate === 'queue') return 'nothing: the call goes on by itself';
  if (route === 'client') return 'make the same call again in the client';
  // The stack of a call is not kept with its approval. Without a file here the command would only
  // say that there is none.
  const place = isProject(cwd) ? '' : ' --config <the file that the call was made with>';
  const resume = `allium call --resume ${shellWord(id)}${place}`;
  return route === 'command'
    ? resume
    : `the program that made the call resumes it; for a tool of allium.yaml: ${resume}`;
}
