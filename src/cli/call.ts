/** `allium call`: one governed call from the shell. */

import { dirname, join } from 'node:path';
import { isProject } from '../config/artifact-project.ts';
import type { LoadedConfig } from '../config/index.ts';
import { AlliumError, isAlliumError, oneLine } from '../core/contract/errors.ts';
import { toWire } from '../core/wire/wire.ts';
import type {
  ApprovalPrompt,
  GovernedTools,
  TaskEvent,
  ToolProgress,
  ToolResult,
} from '../index.ts';
import { approvalIn, orFinding, shellWord } from './approvals/approvals-source.ts';
import type { Approval } from '../policy/index.ts';
import { readArguments } from './call-arguments.ts';
import { loggerFor } from './call-logger.ts';
import { type LogFlags, withLogOptions } from './io/flags.ts';
import { reporter } from './io/failure.ts';
import { type AddCommand, type CliIo, UsageError, writeLine } from './io/io.ts';
import { userName } from './approvals/kept-source.ts';
import { stateOf } from './receipts/receipts-source.ts';
import { safeText } from './io/text-table.ts';

interface CallFlags extends LogFlags {
  readonly args?: string;
  readonly argsFile?: string;
  readonly config: string;
  readonly session?: string;
  readonly resume?: string;
  readonly json?: boolean;
}

/** Sends one call through the stack of a file. */
export const addCall: AddCommand = (program, io, run) => {
  const command = program
    .command('call')
    .description('send one call through the stack and print what the model would read')
    .argument('[tool]', 'the tool')
    .argument('[input]', '- reads the arguments from standard input')
    .option('--args <json>', 'the arguments, as a JSON object')
    .option('--args-file <file>', 'a file with the arguments')
    .option('--config <file>', 'the file, or the folder it is in', '.')
    .option('--session <id>', 'the session the call belongs to')
    .option('--resume <id>', 'resume a call that was approved or denied, instead of sending one')
    .option('--json', 'print the whole result as JSON');
  withLogOptions(command)
    .addHelpText('after', EXAMPLES)
    .action((tool: string | undefined, input: string | undefined, flags: CallFlags) =>
      run(async () => {
        const send =
          flags.resume === undefined
            ? await sending(tool, input, flags, io)
            : resuming(flags.resume, tool, flags, io);
        if (flags.resume !== undefined) demandProject(flags, io);
        const { loadConfig } = await import('../config/index.ts');
        const config = await loadConfig(flags.config, { cwd: io.cwd, env: io.env });
        try {
          return await orFinding(async () => printed(await send(config), config, flags, io), io);
        } finally {
          await config.close();
        }
      }),
    );
};

type Send = (config: LoadedConfig) => Promise<Called>;

async function sending(
  tool: string | undefined,
  input: string | undefined,
  flags: CallFlags,
  io: CliIo,
): Promise<Send> {
  if (tool === undefined)
    throw new UsageError('name the tool to call, or a call that waits with --resume');
  const text = await readArguments(io, input, flags);
  const turn = flags.session === undefined ? {} : { turn: { sessionId: flags.session } };
  return (config) =>
    governedBy(config, flags, io, (governed) => {
      const call = () => governed.call({ name: tool, arguments: text }, { ...toldTo(io), ...turn });
      // Closing the dispatcher, which an interrupt does, ends the task.
      io.signal.addEventListener('abort', () => void governed.close(), { once: true });
      return callAndWait(
        governed,
        call,
        (id) => void io.stderr.write(`… ${safeText(id)} runs in the background; waiting for it\n`),
      );
    });
}

/** A new file, which is what loading would propose, is not the one that the call was made with. */
function demandProject({ config }: CallFlags, { cwd }: CliIo): void {
  if (config === '.' && !isProject(cwd))
    throw new UsageError(
      'there is no allium.yaml here: use --resume in the folder that the call was made in, or with --config and its file. A call of an MCP client is made again in the client',
    );
}

/** Tool, arguments and session are those of the call that waits. */
function resuming(given: string, tool: string | undefined, flags: CallFlags, io: CliIo): Send {
  const { args, argsFile, session } = flags;
  if ([tool, args, argsFile, session].some((each) => each !== undefined))
    throw new UsageError('--resume takes the call as it is: give no tool, arguments or session');
  return async (config) => {
    const { fileApprovals } = await import('../policy/index.ts');
    const approval = await approvalIn(
      fileApprovals({ dir: join(config.stateDir, 'approvals') }),
      given,
    );
    if (approval !== null) demandHere(approval, config);
    return governedBy(config, flags, io, (governed) =>
      ofCall(governed.resume(approval?.id ?? given, undefined, toldTo(io))),
    );
  };
}

/**
 * Before anything is resumed: a call of a client, or of a tool that is not here, would be used up
 * and not run.
 */
function demandHere({ id, route, toolName }: Approval, { tools, file }: LoadedConfig): void {
  const refused = (why: string) =>
    new AlliumError(
      'ERR_UNKNOWN_TOOL',
      `"${oneLine(id)}" was not resumed, and its approval is unchanged: ${why}`,
    );
  if (route === 'client') throw refused('make the same call again in the client that made it');
  if (tools.get(toolName) === undefined)
    throw refused(`${file} has no tool "${oneLine(toolName)}"`);
}

const ofCall = async (result: Promise<ToolResult>): Promise<Called> => ({
  result: await result,
  task: null,
});

async function printed(
  { result, task }: Called,
  config: LoadedConfig,
  flags: CallFlags,
  io: CliIo,
): Promise<number> {
  const whole = () =>
    JSON.stringify(task === null ? toWire(result) : { ...toWire(result), task }, null, 2);
  const text =
    flags.json === true ? whole() : textFor(io.stdout, task?.content ?? result.renderedResult);
  await writeLine(io.stdout, text);
  if (io.signal.aborted) return 130;
  if (result.interruption !== undefined)
    io.stderr.write(nextSteps(result.interruption.id, config, flags, io));
  return result.ok && (task === null || task.status === 'completed') ? 0 : 1;
}

/**
 * How to go on, as it can be typed in the same folder. How to approve is for a person: it is said
 * to a terminal only.
 */
function nextSteps(
  id: string,
  { stateDir }: LoadedConfig,
  { config }: CallFlags,
  io: CliIo,
): string {
  const dir = join(stateDir, 'approvals');
  const place = dir === join(stateOf({}, io), 'approvals') ? '' : ` --dir ${shellWord(dir)}`;
  const file = config === '.' ? '' : ` --config ${shellWord(config)}`;
  const resume = `  allium call --resume ${shellWord(id)}${file}\n`;
  if (io.stderr.isTTY !== true)
    return `allium: ${safeText(id)} waits: a person must decide about it first. Then:\n${resume}`;
  const approve = `  allium approvals approve ${shellWord(id)}${place}\n`;
  return `allium: ${safeText(id)} waits for a decision. Next:\n${approve}${resume}`;
}

const EXAMPLES = `
Examples:
  allium call add --args '{"a":1,"b":2,"reason":"a first try"}'
  echo '{"text":"hello","reason":"a note"}' | allium call write_note -
  allium call write_note --args-file note.json --session review --json
  allium call --resume 3f0c
  allium call get_greeting --args '{"name":"Ada"}' -v

Where a person has to be asked, the question is put on the terminal. Without one the call ends as approval_required, and waits: a person
decides about it with "allium approvals", and --resume resumes it, once. A call that came from an MCP client is not resumed here. A tool that runs in the background is waited for, and what it came to is printed.
Exit code: 0 when the call is ok, 1 when it was refused, failed or could not be resumed, 2 when the command or the file is wrong.`;

async function governedBy(
  config: LoadedConfig,
  flags: LogFlags,
  io: CliIo,
  send: (governed: GovernedTools) => Promise<Called>,
): Promise<Called> {
  const { withRoute } = await import('../approvals/store/approval.ts');
  const { approvalNotices } = await import('./approvals/approval-notices.ts');
  const report = reporter(io);
  const { notify, stateDir, file } = config;
  const approvals = approvalNotices({
    notify,
    stateDir,
    folder: dirname(file),
    env: io.env,
    report,
  });
  const governed = config.govern({
    approvals: withRoute(approvals.store, 'command'),
    prompts: [await promptFor(io)],
    logger: loggerFor(io, flags),
    // What a host would have thrown is a result here: it is what the caller wants to see.
    onUnknownTool: 'repair',
    onInvalidArgs: 'repair',
  });
  try {
    return await send(governed);
  } catch (thrown) {
    if (isAlliumError(thrown, 'ERR_CALL_REFUSED') && thrown.result !== undefined)
      return { result: thrown.result, task: null };
    throw thrown;
  } finally {
    await approvals.settled();
  }
}

const toldTo = (io: CliIo) => ({
  signal: io.signal,
  onProgress: (progress: ToolProgress) => void io.stderr.write(`${progressLine(progress)}\n`),
});

async function promptFor({ stdin, stderr }: CliIo): Promise<ApprovalPrompt> {
  const { terminalPrompt } = await import('../../middleware/index.ts');
  return terminalPrompt({ input: stdin, output: stderr, decidedBy: `${userName()}@terminal` });
}

/** As it is in a pipe. At a terminal a tool's words must not act upon it. */
const textFor = ({ isTTY }: CliIo['stdout'], text: string): string =>
  isTTY === true ? text.split('\n').map(safeText).join('\n') : text;

function progressLine({ progress, total, message }: ToolProgress): string {
  const count =
    progress === undefined ? '' : `${progress}${total === undefined ? '' : `/${total}`}`;
  return `… ${[count, safeText(message ?? '')].filter((part) => part !== '').join(' ')}`;
}

/** What a call came to, and how its task ended where it started one. */
interface Called {
  readonly result: ToolResult;
  readonly task: TaskEvent | null;
}

/**
 * Makes a call and waits for the task that it starts, if it starts one. `onStarted` hears of the
 * task.
 */
async function callAndWait(
  governed: GovernedTools,
  call: () => Promise<ToolResult>,
  onStarted: (taskId: string) => void,
): Promise<Called> {
  let newest: TaskEvent | null = null;
  let tell = (): void => {};
  const stop = governed.on('task', (event) => {
    if (newest === null) onStarted(event.task_id);
    newest = event;
    tell();
  });
  const isOver = (): boolean => newest === null || newest.status !== 'running';
  try {
    const result = await call();
    if (!isOver())
      await new Promise<void>((resolve) => {
        tell = () => isOver() && resolve();
      });
    return { result, task: newest };
  } finally {
    stop();
  }
}
