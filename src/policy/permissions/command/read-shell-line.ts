/** Reads a line for bash or sh and lists every command in it, wherever it hides. */

import { type Assignment, type Command, forEachChild, type ParameterExpansionPart, parse, type Redirection, type SyntaxNode } from 'unbash';
import { type CommandConcern, finding, type Gathering } from './command-reading.ts';
import { assignmentWord, type CommandWord, commandWord } from './command-word.ts';
import { isHarmlessForPrograms, isHarmlessForShells } from './shell-variables.ts';

/** Longer lines are not read at all: nobody who is asked could read them either. */
export const MAX_LINE_LENGTH = 32_768;
/** Substitutions, groups and loops inside one another, lines inside `sh -c` included. */
const MAX_NESTING = 50;
/** The nodes of a syntax tree between two of those: words, parts, pipelines. */
export const NODES_PER_LEVEL = 12;
/** How many nodes lie above the deepest one that is looked at. */
export const MAX_DEPTH = MAX_NESTING * NODES_PER_LEVEL;

/** Anything but printable text, space, tab and newline: shells, terminals and people disagree about it. */
export const ODD_CHARACTERS = /[^\P{C}\t\n]|[^\P{Z} ]/u;
const NUMBERS_ONLY = /^[\d\s+\-*/%()<>=!&|^~?:,$[\]]*$/;
const PLAIN_INDEX = /^(?:\d+|@|\*)$/;
const BLANKS = /^(?:[ \t]|\\\n)*$/;
const BRACKET = /(?:[ \t]|\\\n)*\(/y;
const DESCRIPTOR = /^(?:\d+-?|-)$/;
const WRITES_NOTHING = new Set(['/dev/null', '/dev/stdout', '/dev/stderr']);
const NETWORK = /^\/+dev\/+(?:tcp|udp)(?:\/|$)/;

/** Takes each command that was found; the words of its program come first. */
type TakeCommand = (words: readonly CommandWord[], depth: number) => void;

interface Walk {
  readonly into: Gathering;
  readonly take: TakeCommand;
  /** What positions count in. Backquotes inside backquotes have a text of their own. */
  readonly source: string;
}

/** Adds what is in the line to `into`. What cannot be read for certain becomes a finding, never an exception. */
export function readShellLine(line: string, depth: number, into: Gathering, take: TakeCommand): void {
  if (line.length > MAX_LINE_LENGTH) return note(into, 'too_long');
  if (ODD_CHARACTERS.test(line)) note(into, 'odd_characters');
  try {
    visit(parse(line), depth, { into, take, source: line });
  } catch {
    note(into, 'unreadable');
  }
}

const note = (into: Gathering, code: CommandConcern): void => {
  into.findings.push(finding(code));
};

function visit(node: SyntaxNode, depth: number, outer: Walk): void {
  const walk = node.type === 'Script' && node.source !== undefined ? { ...outer, source: node.source } : outer;
  const { into } = walk;
  into.steps -= 1;
  if (into.steps < 0 || depth > MAX_DEPTH) return note(into, 'too_deep');
  const concern = concernOf(node);
  if (concern !== undefined) note(into, concern);
  if (node.type === 'Command') takeCommand(node, depth, walk);
  if (node.type === 'Redirect' || node.type === 'HereString' || node.type === 'HereDoc') readRedirect(node, into);
  forEachChild(node, (child) => visit(child, depth + 1, walk));
}

/** What is wrong with a node whatever it holds. */
function concernOf(node: SyntaxNode): CommandConcern | undefined {
  const always = ALWAYS_A_CONCERN.get(node.type);
  if (always !== undefined) return always;
  if (node.type === 'Script') return node.errors !== undefined && node.errors.length > 0 ? 'unreadable' : undefined;
  // Where a shell does not know $'…', the quote ends at \' and the rest of the line is read as commands.
  if (node.type === 'AnsiCQuoted') return node.text.includes("\\'") ? 'shells_differ' : undefined;
  if (node.type === 'ArithmeticExpansion') return NUMBERS_ONLY.test(node.text) ? undefined : 'evaluated_expansion';
  if (node.type === 'ParameterExpansion') return concernOfParameter(node);
  if (node.type === 'For') return isHarmlessForShells(node.name.value) ? undefined : 'variable_set';
  return 'script' in node && node.script === undefined ? 'unreadable' : undefined;
}

const ALWAYS_A_CONCERN: ReadonlyMap<SyntaxNode['type'], CommandConcern> = new Map<SyntaxNode['type'], CommandConcern>([
  ['TestCommand', 'shells_differ'],
  ['ArithmeticCommand', 'shells_differ'],
  ['ArithmeticFor', 'shells_differ'],
  ['ExtendedGlob', 'shells_differ'],
  ['Unknown', 'unreadable'],
  ['Function', 'function_defined'],
  ['Coproc', 'coprocess'],
  ['Select', 'shells_differ'],
]);

/** Indirection, prompts and everything arithmetic evaluate a variable's value, which may hold `a[$(…)]`. */
function concernOfParameter({ prefix, index, operation, text }: ParameterExpansionPart): CommandConcern | undefined {
  if (prefix === '!' || operation?.type === 'Transform') return 'evaluated_expansion';
  if (index !== undefined && !PLAIN_INDEX.test(index.text)) return 'evaluated_expansion';
  if (operation?.type === 'Slice' && !/:\s*\d+(?:\s*:\s*\d+)?\}$/.test(text)) return 'evaluated_expansion';
  return operation?.type === 'Default' && operation.operator.endsWith('=') ? 'variable_set' : undefined;
}

function takeCommand(command: Command, depth: number, { into, take, source }: Walk): void {
  const { name, prefix, args } = command;
  if (hasGaps(command, source)) note(into, 'unreadable');
  const isHarmless = name === undefined ? isHarmlessForShells : isHarmlessForPrograms;
  for (const item of prefix) {
    if (item.type === 'Assignment' && !(isHarmless(item.name) && isPlain(item))) note(into, 'variable_set');
  }
  if (name === undefined) return;
  const words = args.map((word) => (word.type === 'Word' ? commandWord(word) : assignmentWord(word)));
  take([commandWord(name), ...words], depth);
}

/** The parser forgives what it does not expect, such as a lone bracket. What it left out of a command, a shell may not leave out. */
function hasGaps({ prefix, name, suffix }: Command, source: string): boolean {
  const parts = [...prefix, ...(name === undefined ? [] : [name]), ...suffix];
  return parts.some(({ end }, index) => {
    const next = parts[index + 1];
    BRACKET.lastIndex = end;
    return next === undefined ? BRACKET.test(source) : !BLANKS.test(source.slice(end, next.pos));
  });
}

/** An index is evaluated as arithmetic, also the one of an element in brackets. */
const isPlain = ({ index, value }: Assignment): boolean =>
  index === undefined && (value.type === 'Word' || !value.elements.some(({ text }) => text.startsWith('[')));

function readRedirect(redirect: Redirection, into: Gathering): void {
  if (redirect.descriptor?.type === 'FileDescriptorVariable') note(into, 'variable_set');
  if (redirect.type === 'HereDoc') return redirect.closing === undefined ? note(into, 'unreadable') : undefined;
  if (redirect.target === undefined) return note(into, 'unreadable');
  if (redirect.type === 'HereString') return;
  const { literal } = commandWord(redirect.target);
  const duplicates = redirect.operator === '>&' || redirect.operator === '<&';
  if (literal !== null && NETWORK.test(literal)) return note(into, 'network_redirect');
  if (duplicates && literal !== null && DESCRIPTOR.test(literal)) return;
  if (redirect.operator === '<') return literal === null && !isSubstitution(redirect) ? note(into, 'redirect_not_literal') : undefined;
  if (redirect.operator === '<&') return note(into, 'redirect_not_literal');
  if (literal !== null && WRITES_NOTHING.has(literal)) return;
  into.writes.push(literal);
  note(into, 'file_written');
}

/** `< <(command)`: the command is listed like any other, and what it prints is read. */
const isSubstitution = ({ target }: Extract<Redirection, { type: 'Redirect' }>): boolean =>
  target?.parts?.length === 1 && target.parts[0]?.type === 'ProcessSubstitution';
