/** `allium pins`: the definitions that tools are held to, what changed, and accepting it. */

import {
  acceptPin,
  changesFromPin,
  type FilePins,
  filePins,
  forgetPin,
  type HeldDefinition,
  judgeDefinition,
  type Pin,
  type PinBook,
} from '../policy/index.ts';
import { confirmAtTerminal } from './io/controlling-terminal.ts';
import {
  type AddCommand,
  type CliIo,
  commandGroup,
  finding,
  UsageError,
  writeLine,
} from './io/io.ts';
import {
  asked,
  inFolder,
  keptIn,
  type KeptOptions,
  leftOut,
  userName,
} from './approvals/kept-source.ts';
import { jsonOf } from './receipts/receipts-format.ts';
import { renderTable, safeText } from './io/text-table.ts';

interface PlaceOptions extends KeptOptions {
  readonly source?: string;
}

interface PrintOptions extends PlaceOptions {
  readonly json?: true;
}

interface AcceptOptions extends PlaceOptions {
  readonly hash?: string;
}

const HELP = Object.freeze({
  pins: `
Examples:
  allium pins list                        what tools are held to, and what is quarantined
  allium pins show read_file              what has changed
  allium pins accept read_file            let it be called again`,
  list: `
Examples:
  allium pins list
  allium pins list --json | jq 'select(.state == "changed")'

Exit codes: 0 fine, 1 something is quarantined or a file holds no pins, 2 usage or a missing folder.`,
  show: `
Examples:
  allium pins show read_file
  allium pins show read_file --source github --json

Exit codes: 0 fine, 1 no such tool, 2 usage or a missing folder.`,
  accept: `
Examples:
  allium pins accept read_file
  allium pins accept read_file --hash sha256:3f0c…

What changed is shown at the terminal that this was started from, and accepted there; standard input is not read. With --hash nothing is
accepted but what "allium pins show" has shown. Exit codes: 0 accepted, 1 nothing waits, something else does, or nothing was confirmed, 2
usage, a missing folder, or no terminal.`,
  forget: `
Examples:
  allium pins forget read_file look

A tool that was forgotten is a new one for its source, and may be trusted as it is then: that is confirmed at the terminal. Exit codes: 0
all are forgotten, 1 one is not there or nothing was confirmed, 2 usage, a missing folder, or no terminal.`,
});

/** Adds the command with its subcommands. */
export const addPins: AddCommand = (program, io, run) => {
  const sub = commandGroup(
    program,
    'pins',
    'list, compare and accept the definitions that tools are held to',
    HELP,
    (command) => inFolder('pins')(command.option('--source <name>', 'only tools of this source')),
  );
  sub('list', 'what tools are held to, and what is quarantined')
    .option('--json', 'a JSON object a line')
    .action((options: PrintOptions) => run(() => listPins(options, io)));
  sub('show <tool>', 'what has changed about one tool')
    .option('--json', 'one JSON object, with the definitions')
    .action((tool: string, options: PrintOptions) => run(() => showPin(tool, options, io)));
  sub('accept <tool>', 'hold a tool to what it says now')
    .option('--hash <hash>', 'accept nothing else than this')
    .action((tool: string, options: AcceptOptions) => run(() => acceptTool(tool, options, io)));
  sub('forget <tool...>', 'take tools for new ones').action(
    (tools: readonly string[], options: PlaceOptions) => run(() => forgetTools(tools, options, io)),
  );
};

const storeOf = (options: PlaceOptions, io: CliIo): FilePins =>
  filePins({ dir: keptIn('pins', options, io) });

/** One tool of one source, as far as it is known. */
interface Entry {
  readonly toolName: string;
  readonly source: string;
  readonly state: 'pinned' | 'missing' | 'changed' | 'look_alike' | 'renamed' | 'waiting';
  readonly pin: Pin | null;
  readonly held: HeldDefinition | null;
  /** The tool whose pin the change is held to, where it is another one. */
  readonly like: string | null;
  readonly changes: readonly string[];
}

async function entriesIn(store: FilePins, { source }: PlaceOptions): Promise<readonly Entry[]> {
  const books = await asked(() => store.list());
  return books.filter((book) => source === undefined || book.source === source).flatMap(entriesOf);
}

function entriesOf(book: PinBook): readonly Entry[] {
  const names = new Set([...book.pins, ...book.held].map(({ toolName }) => toolName));
  return [...names].map((toolName) => {
    const pin = book.pins.find((each) => each.toolName === toolName) ?? null;
    const held = book.held.find((each) => each.toolName === toolName) ?? null;
    const base = { toolName, source: book.source, pin, held };
    if (held === null)
      return {
        ...base,
        state: book.missing.includes(toolName) ? 'missing' : 'pinned',
        like: null,
        changes: [],
      };
    const judgement = judgeDefinition(book, held.definition);
    const { verdict } = judgement;
    const state =
      verdict === 'changed' || verdict === 'look_alike' || verdict === 'renamed'
        ? verdict
        : 'waiting';
    const like =
      judgement.pin === null || judgement.pin.toolName === toolName ? null : judgement.pin.toolName;
    return { ...base, state, like, changes: changesFromPin(judgement, held.definition) };
  });
}

const COLUMNS = [
  { title: 'TOOL' },
  { title: 'SOURCE' },
  { title: 'STATE' },
  { title: 'SINCE' },
  { title: 'ACCEPTED BY' },
];

async function listPins(options: PrintOptions, io: CliIo): Promise<number> {
  const store = storeOf(options, io);
  const entries = await entriesIn(store, options);
  const problems = await asked(() => store.problems());
  if (options.json === true)
    for (const entry of entries) await writeLine(io.stdout, jsonOf(summaryOf(entry)));
  else if (entries.length > 0)
    await writeLine(io.stdout, renderTable(COLUMNS, entries.map(cellsOf)));
  const code = leftOut(
    problems,
    io,
    'every tool of the same source is quarantined while such a file is there',
  );
  return entries.some(({ held }) => held !== null) ? 1 : code;
}

const cellsOf = ({ toolName, source, state, pin, held }: Entry): readonly string[] => [
  toolName,
  source,
  state,
  held?.seenAt ?? pin?.pinnedAt ?? '',
  pin === null ? '' : (pin.acceptedBy ?? '(first use)'),
];

const summaryOf = ({ toolName, source, state, pin, held, like, changes }: Entry) => ({
  toolName,
  source,
  state,
  like,
  hash: held?.hash ?? pin?.hash ?? null,
  pinnedHash: pin?.hash ?? null,
  pinnedAt: pin?.pinnedAt ?? null,
  acceptedBy: pin?.acceptedBy ?? null,
  seenAt: held?.seenAt ?? null,
  changes,
});

async function showPin(tool: string, options: PrintOptions, io: CliIo): Promise<number> {
  const entry = await entryOf(tool, storeOf(options, io), options);
  if (entry === null) return missing(tool, io);
  const { pin, held } = entry;
  const whole = {
    ...summaryOf(entry),
    pinned: pin?.definition ?? null,
    waiting: held?.definition ?? null,
  };
  await writeLine(io.stdout, options.json === true ? jsonOf(whole) : detailsOf(entry));
  return 0;
}

function detailsOf({ toolName, source, state, pin, held, like, changes }: Entry): string {
  const name = safeText(toolName);
  const lines = [
    `${name} of ${safeText(source)}: ${state}${like === null ? '' : `, like ${safeText(like)}`}`,
  ];
  if (pin !== null)
    lines.push(
      `  pinned  ${pin.hash}  ${pin.pinnedAt}  ${pin.acceptedBy === null ? 'on first use' : `by ${safeText(pin.acceptedBy)}`}`,
    );
  if (held === null) return lines.join('\n');
  lines.push(`  waits   ${held.hash}  ${held.seenAt}`);
  // They are safe already.
  lines.push(
    ...(changes.length > 0 ? changes : [safeText(JSON.stringify(held.definition))]).map(
      (line) => `  ${line}`,
    ),
  );
  return [
    ...lines,
    `to accept it: allium pins accept ${word(toolName)} --source ${word(source)} --hash ${held.hash}`,
  ].join('\n');
}

/** As a shell takes it for one word; what is written out as `\\u{…}` has to be typed by hand. */
const word = (text: string): string =>
  /^[\w.@:-]+$/.test(text) ? text : `'${safeText(text).replaceAll("'", "'\\''")}'`;

async function acceptTool(tool: string, options: AcceptOptions, io: CliIo): Promise<number> {
  const store = storeOf(options, io);
  const entry = await entryOf(tool, store, options);
  if (entry === null || entry.held === null)
    return entry === null ? missing(tool, io) : nothing(tool, io);
  // Without a hash it is what was just looked at: what comes meanwhile was seen by nobody.
  const { hash = entry.held.hash } = options;
  if (hash !== entry.held.hash) return nothing(tool, io);
  if (
    !(await confirmed(
      'accepting a definition',
      [entry],
      `hold ${safeText(tool)} to what it says now`,
      io,
    ))
  )
    return finding(io, NOT_CHANGED);
  let isDone = false;
  const change = (book: PinBook | null) => {
    const after =
      book === null
        ? null
        : acceptPin(book, tool, { acceptedBy: `${userName()}@terminal`, hash }, Date.now());
    isDone = after !== null;
    return after;
  };
  await asked(() => store.update(entry.source, change));
  if (!isDone) return nothing(tool, io);
  await writeLine(io.stdout, `accepted ${safeText(tool)} of ${safeText(entry.source)}: ${hash}`);
  return 0;
}

async function forgetTools(
  tools: readonly string[],
  options: PlaceOptions,
  io: CliIo,
): Promise<number> {
  const store = storeOf(options, io);
  const found: Entry[] = [];
  for (const tool of tools) {
    const entry = await entryOf(tool, store, options);
    if (entry === null) missing(tool, io);
    else found.push(entry);
  }
  if (found.length === 0) return 1;
  // A tool that was forgotten is trusted at its next use, whatever it says then.
  if (
    !(await confirmed(
      'forgetting a tool',
      found,
      `trust ${found.length === 1 ? 'it' : 'them'} anew`,
      io,
    ))
  )
    return finding(io, NOT_CHANGED);
  for (const { toolName, source } of found) {
    await asked(() =>
      store.update(source, (book) => (book === null ? null : forgetPin(book, toolName))),
    );
    await writeLine(io.stdout, `forgot ${safeText(toolName)} of ${safeText(source)}`);
  }
  return found.length === tools.length ? 0 : 1;
}

const NOT_CHANGED = 'nothing was changed';

/** Trusting a definition lets its tool run, so that it takes a person, like approving a call. */
const confirmed = (
  what: string,
  entries: readonly Entry[],
  action: string,
  io: CliIo,
): Promise<boolean> =>
  confirmAtTerminal({ what, action, shown: () => entries.map(detailsOf).join('\n') }, io);

async function entryOf(
  tool: string,
  store: FilePins,
  options: PlaceOptions,
): Promise<Entry | null> {
  const found = (await entriesIn(store, options)).filter(({ toolName }) => toolName === tool);
  if (found.length < 2) return found[0] ?? null;
  throw new UsageError(
    `"${tool}" is a tool of ${found.map(({ source }) => `"${source}"`).join(' and ')}; say which with --source`,
  );
}

const missing = (tool: string, io: CliIo): number =>
  finding(io, `nothing is known about a tool "${safeText(tool)}"`);

const nothing = (tool: string, io: CliIo): number =>
  finding(io, `nothing waits to be accepted for "${safeText(tool)}", or something else than that`);
