/**
 * `allium approvals`: the calls that wait for a person, and deciding about them. It runs nothing:
 * the program that made a call resumes it.
 */

import type { Command } from 'commander';
import { demandOpen } from '../../approvals/store/answer-approval.ts';
import { demandCode } from '../../approvals/store/approval-code.ts';
import {
  type Approval,
  answerApproval,
  approvalState,
  type FileApprovals,
  fileApprovals,
} from '../../policy/index.ts';
import { codeKey } from '../../receipts/key-files.ts';
import {
  approvalIn,
  COLUMNS,
  detailsOf,
  nextStep,
  noApproval,
  orFinding,
  rowOf,
  shellWord,
} from './approvals-source.ts';
import { colourFor } from '../io/colour.ts';
import { confirmAtTerminal } from '../io/controlling-terminal.ts';
import {
  type AddCommand,
  type CliIo,
  commandGroup,
  finding,
  UsageError,
  writeLine,
} from '../io/io.ts';
import { asked, inFolder, keptIn, type KeptOptions, leftOut, userName } from './kept-source.ts';
import { jsonOf } from '../receipts/receipts-format.ts';
import { renderTable, safeText } from '../io/text-table.ts';
import { keysBeside } from './approval-notices.ts';

interface PrintOptions extends KeptOptions {
  readonly json?: true;
  readonly all?: true;
}

interface AnswerOptions extends PrintOptions {
  readonly by?: string;
  readonly reason?: string;
  readonly args?: string;
  readonly result?: string;
  readonly always?: true;
  readonly code?: string;
  readonly anyArguments?: true;
}

const CODES =
  'Exit codes: 0 fine, 1 no such approval, a wrong code, or it was answered or has expired, 2 usage, a missing folder, or no terminal.';

const HELP = Object.freeze({
  approvals: `
Examples:
  allium approvals list                   what waits for a person
  allium approvals show 3f0c              what the call would do
  allium approvals approve 3f0c           let it run; asks at the terminal
  allium approvals deny 3f0c --reason 'not on a Friday'

The beginning of an id is enough where no other begins like that.`,
  list: `
Examples:
  allium approvals list
  allium approvals list --all --json | jq .id

Exit codes: 0 fine, 1 a file is no approval and was left out, 2 usage or a missing folder.`,
  show: `
Examples:
  allium approvals show 3f0c
  allium approvals show 3f0c --json

Nothing of the arguments is cut; characters that would act or hide are written \\u{…}. ${CODES}`,
  approve: `
Examples:
  allium approvals approve 3f0c
  allium approvals approve 3f0c --args '{"to":"bob","amount":5}'
  allium approvals approve 3f0c --result '{"paid":true}' --reason 'paid by hand'
  allium approvals approve 3f0c --code K7M2P-Q9RTX

The call is shown at the terminal that this was started from, and the answer is typed there; standard input is not read. Without a terminal
it takes the code that "notify" of allium.yaml told: five tries, then only a terminal will do. It prints how the call goes on. ${CODES}`,
  deny: `
Examples:
  allium approvals deny 3f0c --reason 'not on a Friday'
  allium approvals deny 3f0c --always

A no needs no terminal. The reason is shown to the model. ${CODES}`,
});

/** Adds the command with its subcommands. */
export const addApprovals: AddCommand = (program, io, run) => {
  const sub = commandGroup(
    program,
    'approvals',
    'list, explain, approve and deny calls that wait for a person',
    HELP,
    inFolder('approvals'),
  );
  sub('list', 'what waits, oldest first')
    .option('--all', 'also approvals whose call has ended')
    .option('--json', 'a JSON object a line')
    .action((options: PrintOptions) => run(() => listApprovals(options, io)));
  sub('show <id>', 'everything a person needs to decide')
    .option('--json', 'one JSON object')
    .action((id: string, options: PrintOptions) => run(() => showApproval(id, options, io)));
  answering(sub('approve <id>', 'let a call run'))
    .option('--args <json>', 'other arguments to run with')
    .option('--result <json>', 'what the call comes to, in the tool’s place: it does not run')
    .option('--code <code>', 'the code that "notify" told, where there is no terminal')
    .action((id: string, options: AnswerOptions) => run(() => answer(id, 'allow', options, io)));
  answering(sub('deny <id>', 'keep a call from running')).action(
    (id: string, options: AnswerOptions) => run(() => answer(id, 'reject', options, io)),
  );
};

const answering = (command: Command): Command =>
  command
    .option(
      '--by <name>',
      'who decides, for the record, before "@terminal", "@code" or "@command" (default: the name of the user)',
    )
    .option('--reason <text>', 'why')
    .option('--always', 'for this call and the same one later, where the approval offers it')
    .option(
      '--any-arguments',
      'with --always: for the tool, whatever its arguments; "approvals show" says what that covers',
    )
    .option('--json', 'print the approval as one JSON object');

const storeOf = (options: KeptOptions, io: CliIo): FileApprovals =>
  fileApprovals({ dir: keptIn('approvals', options, io) });

async function listApprovals(options: PrintOptions, io: CliIo): Promise<number> {
  const store = storeOf(options, io);
  const approvals = await asked(() => store.list({ ended: options.all === true }));
  const problems = await asked(() => store.problems());
  if (options.json === true)
    for (const approval of approvals) await writeLine(io.stdout, jsonOf(withState(approval)));
  else if (approvals.length > 0) await writeLine(io.stdout, tableOf(approvals, io));
  return leftOut(problems, io);
}

function tableOf(approvals: readonly Approval[], io: CliIo): string {
  const { columns: width } = io.stdout;
  const now = Date.now();
  const rows = approvals.map((approval) => rowOf(approval, approvalState(approval, now), now));
  return renderTable(COLUMNS, rows, {
    colour: colourFor(io.stdout, io.env),
    ...(width === undefined ? {} : { width }),
  });
}

/** Of a code only how often it was tried is printed: its hash stays in the approval file. */
function withState({ code, ...approval }: Approval): object {
  return {
    ...approval,
    ...(code === undefined ? {} : { codeTries: code.tries }),
    state: approvalState(approval, Date.now()),
  };
}

async function showApproval(given: string, options: PrintOptions, io: CliIo): Promise<number> {
  const approval = await approvalIn(storeOf(options, io), given);
  if (approval === null) return noApproval(given, io);
  const state = approvalState(approval, Date.now());
  const next = nextFor(approval, state, options, io);
  const columns = io.stdout.columns === undefined || io.stdout.columns < 1 ? 80 : io.stdout.columns;
  await writeLine(
    io.stdout,
    options.json === true ? jsonOf(withState(approval)) : detailsOf(approval, state, columns, next),
  );
  return 0;
}

/** What can be typed next. */
function nextFor(
  approval: Approval,
  state: string,
  { dir }: KeptOptions,
  io: CliIo,
): readonly string[] {
  const place = dir === undefined ? '' : ` --dir ${shellWord(dir)}`;
  const command = (verb: string) => `allium approvals ${verb} ${shellWord(approval.id)}${place}`;
  if (state === 'pending') return [command('approve'), command('deny')];
  return state === 'ended' || state === 'taken' ? [] : [nextStep(approval, io.cwd)];
}

const KEPT_LATER =
  '\nThe answer for always is kept when the call is resumed: until then it counts for no other.';

/** Through which of the things that only a person has a decision came. */
type Channel = 'terminal' | 'code' | 'command';

async function answer(
  given: string,
  word: 'allow' | 'reject',
  options: AnswerOptions,
  io: CliIo,
): Promise<number> {
  const store = storeOf(options, io);
  const approval = await approvalIn(store, given);
  if (approval === null) return noApproval(given, io);
  const { id } = approval;
  const decision = `${word}_${options.always === true ? 'always' : 'once'}`;
  if (options.always === true && !approval.options.includes(decision))
    throw new UsageError(
      `approval "${safeText(id)}" cannot be answered for always: the answer would not be kept`,
    );
  if (options.anyArguments === true && options.always !== true)
    throw new UsageError('--any-arguments needs --always');
  const reply = decisionOf(decision, options);
  return orFinding(async () => {
    demandOpen(approval, approvalState(approval, Date.now()), decision);
    const channel = word === 'reject' ? 'command' : await personFor(approval, reply, options, io);
    if (channel === null)
      return finding(io, `nothing was decided, and ${safeText(id)} still waits`);
    // Behind the last @ stands the channel, whatever name was given.
    const decidedBy = `${options.by ?? userName()}@${channel}`;
    const answered = await asked(() => answerApproval(store, id, { ...reply, decidedBy }));
    const done = `${word === 'allow' ? 'approved' : 'denied'} ${safeText(id)}; next: ${nextStep(approval, io.cwd)}${options.always === true ? KEPT_LATER : ''}`;
    await writeLine(io.stdout, options.json === true ? jsonOf(withState(answered)) : done);
    return 0;
  }, io);
}

/**
 * Approving takes something that an agent has not: the terminal, or a code.
 * `null` for a person who says no.
 */
async function personFor(
  approval: Approval,
  reply: object,
  options: AnswerOptions,
  io: CliIo,
): Promise<Channel | null> {
  const { code } = options;
  if (code !== undefined) {
    const key = () => codeKey(keysBeside(keptIn('approvals', options, io)));
    await demandCode(storeOf(options, io), approval.id, code, key);
    return 'code';
  }
  // Made by `decisionOf`, of plain members.
  const { decision: _decision, ...changes } = reply as Record<string, unknown>;
  const edited =
    Object.keys(changes).length === 0 ? [] : [`with ${safeText(JSON.stringify(changes))}`];
  const isConfirmed = await confirmAtTerminal(
    {
      what: 'approving a call without --code',
      shown: (columns) => [detailsOf(approval, 'pending', columns, []), ...edited].join('\n'),
      action: `approve this call of ${safeText(approval.toolName)}${furtherCalls(options)}`,
    },
    io,
  );
  return isConfirmed ? 'terminal' : null;
}

function furtherCalls({ always, anyArguments }: AnswerOptions): string {
  if (anyArguments === true)
    return ', now and whenever this tool is called, whatever its arguments';
  return always === true ? ', now and whenever it is made again' : '';
}

function decisionOf(
  decision: string,
  { reason, args, result, anyArguments }: AnswerOptions,
): object {
  if (args !== undefined && result !== undefined)
    throw new UsageError('give --args or --result, not both');
  if (anyArguments === true && (args ?? result) !== undefined)
    throw new UsageError('--any-arguments goes with neither --args nor --result');
  return {
    decision,
    ...(reason === undefined ? {} : { reason }),
    ...(anyArguments === undefined ? {} : { anyArguments }),
    ...(args === undefined ? {} : { args: parsed('--args', args, true) }),
    ...(result === undefined ? {} : { result: parsed('--result', result, false) }),
  };
}

/** Never says what was typed: it may be secret. */
function parsed(option: string, text: string, isObjectWanted: boolean): unknown {
  const wrong = () =>
    new UsageError(`${option}: must be ${isObjectWanted ? 'a JSON object' : 'JSON'}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw wrong();
  }
  if (isObjectWanted && (typeof value !== 'object' || value === null || Array.isArray(value)))
    throw wrong();
  return value;
}
