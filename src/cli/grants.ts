/** `allium grants`: the standing approvals of a folder, and taking them back. */

import { describeGrant, type FileGrants, fileGrants, type Grant } from '../policy/index.ts';
import { confirmAtTerminal } from './io/controlling-terminal.ts';
import { type AddCommand, type CliIo, commandGroup, finding, writeLine } from './io/io.ts';
import {
  asked,
  inFolder,
  keptIn,
  type KeptOptions,
  leftOut,
  userName,
} from './approvals/kept-source.ts';
import { jsonOf } from './receipts/receipts-format.ts';
import { safeText } from './io/text-table.ts';

interface PrintOptions extends KeptOptions {
  readonly json?: true;
  readonly all?: true;
}

const HELP = Object.freeze({
  grants: `
Examples:
  allium grants list                      what is allowed and rejected without asking
  allium grants show 3f0c…                everything about one grant
  allium grants revoke 3f0c…              ask again from now on`,
  list: `
Examples:
  allium grants list
  allium grants list --all --json | jq .id

Exit codes: 0 fine, 1 a file is no grant and was left out, 2 usage or a missing folder.`,
  show: `
Examples:
  allium grants show 3f0c…
  allium grants show 3f0c… --json

Exit codes: 0 fine, 1 no such grant, 2 usage or a missing folder.`,
  revoke: `
Examples:
  allium grants revoke 3f0c… 77aa…

A grant that was revoked is not used again, by no process. One that rejects is revoked at the terminal that this was started from. Exit
codes: 0 all are revoked, 1 one is not there, was revoked before or was not confirmed, 2 usage, a missing folder, or no terminal.`,
});

/** Adds the command with its subcommands. */
export const addGrants: AddCommand = (program, io, run) => {
  const sub = commandGroup(
    program,
    'grants',
    'list, explain and revoke standing approvals',
    HELP,
    inFolder('grants'),
  );
  sub('list', 'what is allowed and rejected without asking, oldest first')
    .option('--all', 'also grants that have expired, were revoked or are used up')
    .option('--json', 'a JSON object a line')
    .action((options: PrintOptions) => run(() => listGrants(options, io)));
  sub('show <id>', 'everything about one grant')
    .option('--json', 'one JSON object')
    .action((id: string, options: PrintOptions) => run(() => showGrant(id, options, io)));
  sub('revoke <id...>', 'take grants back').action((ids: readonly string[], options: KeptOptions) =>
    run(() => revokeGrants(ids, options, io)),
  );
};

const storeOf = (options: KeptOptions, io: CliIo): FileGrants =>
  fileGrants({ dir: keptIn('grants', options, io) });

async function listGrants(options: PrintOptions, io: CliIo): Promise<number> {
  const store = storeOf(options, io);
  const grants = await asked(() => store.list({ ended: options.all === true }));
  const problems = await asked(() => store.problems());
  for (const grant of grants)
    await writeLine(io.stdout, options.json === true ? jsonOf(grant) : lineOf(grant));
  return leftOut(
    problems,
    io,
    'no grant of the same tool is used while such a file is there; remove it',
  );
}

async function showGrant(id: string, options: PrintOptions, io: CliIo): Promise<number> {
  const grant = await asked(() => storeOf(options, io).get(id));
  if (grant === null) return missing(id, io);
  await writeLine(io.stdout, options.json === true ? jsonOf(grant) : detailsOf(grant));
  return 0;
}

async function revokeGrants(
  ids: readonly string[],
  options: KeptOptions,
  io: CliIo,
): Promise<number> {
  const store = storeOf(options, io);
  let code = 0;
  const found = (await Promise.all(ids.map((id) => asked(() => store.get(id))))).filter(
    (grant) => grant !== null,
  );
  const widens = found.some(({ decision }) => decision === 'reject');
  if (widens && !(await confirmed(found, io))) return finding(io, 'nothing was revoked');
  const by = `${userName()}@${widens ? 'terminal' : 'command'}`;
  for (const id of ids) {
    if (await asked(() => store.revoke(id, by)))
      await writeLine(io.stdout, `revoked ${safeText(id)}`);
    else code = missing(id, io);
  }
  return code;
}

/**
 * Without a grant that rejects, a call may run that could not before: that takes a person. Asking
 * more often does not.
 */
const confirmed = (grants: readonly Grant[], io: CliIo): Promise<boolean> =>
  confirmAtTerminal(
    {
      what: 'revoking a grant that rejects',
      shown: () => grants.map(lineOf).join('\n'),
      action: `revoke ${grants.length === 1 ? 'it' : 'them'}`,
    },
    io,
  );

const missing = (id: string, io: CliIo): number =>
  finding(io, `there is no grant "${safeText(id)}", or it was revoked before`);

const lineOf = (grant: Grant): string =>
  `${safeText(grant.id)}  ${safeText(describeGrant(grant, Date.now()))}`;

function detailsOf(grant: Grant): string {
  const fields = Object.entries(grant).filter(([, value]) => value !== null);
  const shown = fields.map(
    ([name, value]) =>
      `  ${name.padEnd(10)}  ${safeText(typeof value === 'string' ? value : JSON.stringify(value))}`,
  );
  return [safeText(describeGrant(grant, Date.now())), ...shown].join('\n');
}
