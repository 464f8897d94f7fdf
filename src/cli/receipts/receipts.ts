/** `allium receipts`: what there is to ask of receipt files. */

import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { signingKey } from '../../receipts/key-files.ts';
import { pruneReceipts } from '../../receipts/write/prune-receipts.ts';
import { type AddCommand, type CliIo, commandGroup, UsageError, writeLine } from '../io/io.ts';
import { safeText } from '../io/text-table.ts';
import {
  type ExportOptions,
  exportReceipts,
  type ListOptions,
  listReceipts,
  tailCommand,
  type TailCommandOptions,
} from './receipts-list.ts';
import { type MatchOptions, matchReceipts } from './receipts-match.ts';
import { showCall, type ShowOptions } from './receipts-show.ts';
import { countFrom, placeOf, type PlaceOptions, stateOf, timeFrom } from './receipts-source.ts';
import { statsCommand, type StatsOptions } from './receipts-stats.ts';
import { verifyCommand, type VerifyCommandOptions, witnessFrom } from './receipts-verify.ts';
import { jsonOf } from './receipts-format.ts';

const CODES = `
Exit codes: 0 fine, 1 damaged lines were left out, 2 usage or a missing file.`;
const QUICK = `
With --call, --session or a --tool without *, only lines that hold the name are looked at: damage elsewhere goes unseen.`;

const HELP = Object.freeze({
  receipts: `
Examples:
  allium receipts list --since 2h         what was called in the last two hours
  allium receipts show call_17            everything about one call
  allium receipts match --args '{"a":1}'  which calls had exactly these arguments
  allium receipts verify                  whether the files are as they were written
  allium receipts tail -f                 what is being called now`,
  list: `
Examples:
  allium receipts list --status consent_denied --since 3d
  allium receipts list --tool 'write_*' --limit 20
  allium receipts list --call call_17 --json
  allium receipts list --executed unknown
  allium receipts list --blocked-by consent --decided-by 'ada@*'
  allium receipts list --server files --rule 'consent rule 2 *'
  allium receipts list ./receipts/session-1-f00dcafe.jsonl --csv > calls.csv
${QUICK}${CODES}`,
  show: `
Examples:
  allium receipts show call_17
  allium receipts show 0199f7c2                                        the beginning of an id, where no other call begins so
  allium receipts show 'file:///app/.allium/receipts/s-1-f00dcafe.jsonl#seq=1'     the URI that a result carries
  allium receipts show 's-1-f00dcafe.jsonl#seq=1'                      what a result of "allium proxy" carries
  allium receipts show call_17 ./receipts --json

A URI names one line; an id, every line about that call. With a path, a URI is looked for in the file of its name there.

Exit codes: 0 fine, 1 no such call or damaged lines, 2 usage, a beginning that fits several calls, or a missing file.`,
  match: `
Examples:
  allium receipts match --args '{"path":"notes/list.txt"}'
  allium receipts match --args '{"path":"notes/list.txt"}' --tool 'write_*' --since 3d
  allium receipts match --args-file -               the arguments from standard input: they do not show in the history of a shell

Receipts hold no arguments, only hashes: of the arguments as they were requested, as they were approved, and as the tool got them. "as" says
which of them are of exactly these. Order and spaces do not count. Leave out what was left out of the hash ("redact" of auditLog).
Hashes are made with the key of the state folder (keys/receipts-hmac.key): without it receipts cannot be compared, and that is said.

Exit codes: 0 found, 1 none is of these arguments, 2 usage, a missing file, or none was found and some could not be compared.`,
  tail: `
Examples:
  allium receipts tail -n 50
  allium receipts tail --follow --json | jq .tool_name

Ctrl-C is how --follow ends: the exit code is 130. Lines that cannot be read are passed over.`,
  verify: `
Examples:
  allium receipts verify
  allium receipts verify ./copy --public-key ./receipts-ed25519.pub.pem
  allium receipts verify --at-least 1200
  allium receipts verify --at-least 12:sha256:…   what an earlier "index" line said

Without a key changes inside a file are found, but not a file that was written anew. The index tells which sessions there must be.
Keep the "index" line elsewhere and give it to --at-least: that the newest sessions were removed together with the end of the index, or that
everything was put back to an earlier state, cannot be told from the files.

Exit codes: 0 nothing is wrong, 1 a problem was found, 2 usage or a missing file.`,
  prune: `
Examples:
  allium receipts prune --before 90d
  allium receipts prune --session 0199f7c2
  allium receipts prune --before 2026-01-01 --session 0199f7c2

Whole sessions are removed, and the index says so with a signature: "verify" does not miss them. A session that is being written to, or that
is not as it was signed, stays.

Exit codes: 0 fine, 1 a session that fits was left as it is, 2 usage or a missing file.`,
  stats: `
Examples:
  allium receipts stats
  allium receipts stats --since 7d --tool 'read_*' --json

Durations are within 1 % from a microsecond to a month. Names beyond the first 1,000 of a kind are counted together.
${CODES}`,
  export: `
Examples:
  allium receipts export --format csv --out calls.csv
  allium receipts export --format json --since 2026-01-01 --until 2026-02-01 > january.json

The file appears when it is whole, and replaces one that is there. In CSV, cells that a spreadsheet would run get an apostrophe.
${CODES}`,
});

/** Adds the command with its subcommands. */
export const addReceipts: AddCommand = (program, io, run) => {
  const sub = commandGroup(
    program,
    'receipts',
    'ask receipt files, and verify them',
    HELP,
    (command) =>
      command
        .argument(
          '[path]',
          'a receipt file or a folder of them (default: "receipts" in the state folder)',
        )
        .option('--state <dir>', 'the state folder (default: $ALLIUM_STATE_DIR, or .allium)'),
  );
  addQueries(sub, io, run);
  addChecks(sub, io, run);
  addSums(sub, io, run);
};

/** Adds some of the subcommands. */
type AddSome = (
  sub: ReturnType<typeof commandGroup>,
  io: CliIo,
  run: Parameters<AddCommand>[2],
) => void;

/** The subcommands that look for receipts. */
const addQueries: AddSome = (sub, io, run) => {
  withFilters(sub('list', 'receipts that fit, newest last'))
    .option('--json', 'a JSON object a line')
    .option('--csv', 'CSV with every field')
    .action((path: string | undefined, options: ListOptions) =>
      run(() => listReceipts(path, options, io)),
    );
  sub('show <call>', 'everything about one call: its id, the beginning of it, or a receipt URI')
    .option('--json', 'a JSON object a line, with file and line')
    .action((call: string, path: string | undefined, options: ShowOptions) =>
      run(() => showCall(call, path, options, io)),
    );
  withFilters(sub('match', 'receipts of exactly these arguments'))
    .option('--args <json>', 'the arguments, as a JSON object')
    .option('--args-file <file>', 'a file with the arguments; - is standard input')
    .option('--json', 'a JSON object a line, with file, line and "as"')
    .action((path: string | undefined, options: MatchOptions) =>
      run(() => matchReceipts(path, options, io)),
    );
  sub('tail', 'the last receipts, and those that come')
    .option('-n, --lines <count>', 'how many', countFrom, 20)
    .option('-f, --follow', 'go on until Ctrl-C')
    .option('--json', 'a JSON object a line')
    .action((path: string | undefined, options: TailCommandOptions) =>
      run(() => tailCommand(path, options, io)),
    );
};

/** The subcommands that hold files to what was signed. */
const addChecks: AddSome = (sub, io, run) => {
  sub('verify', 'whether files are as they were written')
    .option(
      '--public-key <file>',
      'the key to check signatures with (default: the one in the state folder)',
    )
    .option(
      '--at-least <witness>',
      'how many receipts there must be, or <count>:<head> of an earlier "index" line or file',
      witnessFrom,
    )
    .option('--json', 'the report as one JSON object')
    .action((path: string | undefined, options: VerifyCommandOptions) =>
      run(() => verifyCommand(path, options, io)),
    );
  sub('prune', 'remove whole sessions, and sign that it was done')
    .option('--before <time>', 'sessions last signed before then: a date, or 90d', (text) =>
      timeFrom(text),
    )
    .option('--session <id>', 'only this session')
    .option('--json', 'a JSON object a line')
    .action((path: string | undefined, options: PruneCommandOptions) =>
      run(() => pruneCommand(path, options, io)),
    );
};

/** The subcommands that put many receipts into one answer. */
const addSums: AddSome = (sub, io, run) => {
  withFilters(sub('stats', 'counts and durations'))
    .option('--json', 'one JSON object')
    .action((path: string | undefined, options: StatsOptions) =>
      run(() => statsCommand(path, options, io)),
    );
  withFilters(sub('export', 'receipts that fit, as one file'))
    .addOption(
      new Option('--format <format>', 'how').choices(['json', 'csv']).makeOptionMandatory(),
    )
    .option('--out <file>', 'where to (default: stdout)')
    .action((path: string | undefined, options: ExportOptions) =>
      run(() => exportReceipts(path, options, io)),
    );
};

const withFilters = (command: Command): Command =>
  command
    .option('--session <id>', 'only this session')
    .option('--tool <name>', 'only this tool; * stands for anything')
    .option('--status <status>', 'only this status')
    .option('--call <id>', 'only this call')
    .addOption(
      new Option(
        '--executed <ran>',
        'only calls whose tool ran, did not run, or may have run',
      ).choices(['yes', 'no', 'unknown']),
    )
    .option('--blocked-by <layer>', 'only calls that this layer turned away; * stands for anything')
    .option(
      '--decided-by <who>',
      'only calls that this person or rule decided about; * stands for anything',
    )
    .option('--server <name>', 'only calls to tools of this MCP server; * stands for anything')
    .option(
      '--rule <rule>',
      'only calls that this rule decided about, as "show" names it; * stands for anything',
    )
    .option('--since <time>', 'from then on: a date, or 2h, 3d', (text) => timeFrom(text))
    .option('--until <time>', 'before then', (text) => timeFrom(text))
    .option('--limit <count>', 'only the newest so many of those that fit', countFrom);

/** Options of `prune`. */
interface PruneCommandOptions extends PlaceOptions {
  readonly before?: number;
  readonly session?: string;
  readonly json?: true;
}

/** Removes sessions, and prints each with what became of it. */
async function pruneCommand(
  path: string | undefined,
  options: PruneCommandOptions,
  io: CliIo,
): Promise<number> {
  const { before, session, json } = options;
  // Without either, everything would go.
  if (before === undefined && session === undefined)
    throw new UsageError('name what goes: --before <time>, --session <id>, or both');
  const place = placeOf(path, options, io);
  const signer = signingKey(join(stateOf(options, io), 'keys'));
  const chosen = {
    ...(before === undefined ? {} : { before }),
    ...(session === undefined ? {} : { session }),
  };
  const pruned = await pruneReceipts(place, { ...chosen, signer });
  for (const one of pruned) {
    const { chain, count, kept } = one;
    const text =
      kept === null
        ? `${safeText(chain)}: removed, ${count} ${count === 1 ? 'receipt' : 'receipts'}`
        : `${safeText(chain)}: left as it is: ${kept}`;
    await writeLine(io.stdout, json === true ? jsonOf(one) : text);
  }
  if (pruned.length === 0 && json !== true) await writeLine(io.stdout, 'no session fits');
  return pruned.some(({ kept }) => kept !== null) ? 1 : 0;
}
