/** `allium call`: one governed call from the shell. */

import type { LoadedConfig } from '../config/index.ts';
import { isAlliumError } from '../core/errors.ts';
import { toWire } from '../core/wire.ts';
import type { ApprovalPrompt, ToolProgress, ToolResult } from '../index.ts';
import { readArguments } from './call-arguments.ts';
import { type CliIo, writeLine } from './io.ts';
import type { AddCommand } from './run-cli.ts';
import { safeText } from './text-table.ts';

interface CallFlags {
  readonly args?: string;
  readonly argsFile?: string;
  readonly config: string;
  readonly session?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** Sends one call through the stack of a file. */
export const addCall: AddCommand = (program, io, run) => {
  program
    .command('call')
    .description('send one call through the stack and print what the model would read')
    .argument('<tool>', 'the tool')
    .argument('[input]', '- reads the arguments from standard input')
    .option('--args <json>', 'the arguments, as a JSON object')
    .option('--args-file <file>', 'a file with the arguments')
    .option('--config <file>', 'the file, or the folder it is in', '.')
    .option('--session <id>', 'the session the call belongs to')
    .option('--yes', 'approve the call unseen, where somebody would be asked')
    .option('--json', 'print the whole result as JSON')
    .addHelpText('after', EXAMPLES)
    .action((tool: string, input: string | undefined, flags: CallFlags) =>
      run(async () => {
        const text = await readArguments(io, input, flags);
        const { loadConfig } = await import('../config/index.ts');
        const config = await loadConfig(flags.config, { cwd: io.cwd, env: io.env });
        let result: ToolResult;
        try {
          result = await callOnce(config, tool, text, flags, io);
        } finally {
          await config.close();
        }
        await writeLine(
          io.stdout,
          flags.json === true ? JSON.stringify(toWire(result), null, 2) : textFor(io.stdout, result.renderedResult),
        );
        if (io.signal.aborted) return 130;
        return result.ok ? 0 : 1;
      }),
    );
};

const EXAMPLES = `
Examples:
  allium call add --args '{"a":1,"b":2,"reason":"a first try"}'
  echo '{"text":"hello","reason":"a note"}' | allium call write_note - --yes
  allium call write_note --args-file note.json --session review --json

Where somebody has to be asked, the question is put on the terminal. Without one the call ends as approval_required.
Exit code: 0 when the call is ok, 1 when it was refused or failed, 2 when the command or the file is wrong.`;

async function callOnce(config: LoadedConfig, tool: string, text: string, flags: CallFlags, io: CliIo): Promise<ToolResult> {
  // What a host would have thrown is a result here: it is what the caller wants to see.
  const governed = config.govern({ prompts: [await promptFor(flags, io)], onUnknownTool: 'repair', onInvalidArgs: 'repair' });
  try {
    return await governed.call(
      { name: tool, arguments: text },
      {
        signal: io.signal,
        onProgress: (progress) => void io.stderr.write(`${progressLine(progress)}\n`),
        ...(flags.session === undefined ? {} : { turn: { sessionId: flags.session } }),
      },
    );
  } catch (thrown) {
    if (isAlliumError(thrown, 'ERR_CALL_REFUSED') && thrown.result !== undefined) return thrown.result;
    throw thrown;
  }
}

async function promptFor({ yes }: CallFlags, { stdin, stderr }: CliIo): Promise<ApprovalPrompt> {
  if (yes === true) return () => ({ decision: 'allow_once', decidedBy: 'allium call --yes' });
  const { terminalPrompt } = await import('../../middleware/index.ts');
  return terminalPrompt({ input: stdin, output: stderr });
}

/** As it is in a pipe. At a terminal a tool's words must not act upon it. */
const textFor = ({ isTTY }: CliIo['stdout'], text: string): string => (isTTY === true ? text.split('\n').map(safeText).join('\n') : text);

function progressLine({ progress, total, message }: ToolProgress): string {
  const count = progress === undefined ? '' : `${progress}${total === undefined ? '' : `/${total}`}`;
  return `… ${[count, safeText(message ?? '')].filter((part) => part !== '').join(' ')}`;
}
