/**
 * Advice for people who write tools: what models use well, and what keeps a tool from doing too
 * much.
 */

import { isObject } from '../../core/json/json.ts';
import type { ArtifactProblem, Position, ScriptText, ToolArtifact } from '../artifact.ts';
import type { Argument, Expression } from '../../starlark/ast.ts';
import { columnOf, lineOf } from '../../starlark/position.ts';
import { statementsOf } from './check-scripts.ts';
import { words } from '../../system/words.ts';

const VERBS: ReadonlySet<string> = new Set(
  [
    'abort accept activate add allow analyse analyze announce answer append apply approve archive ask assign attach authenticate authorize await',
    'backup ban begin bind block book build bump buy calculate call cancel capture categorize charge check checkout choose classify clean clear clone',
    'close collect combine commit compare compile complete compress compute configure confirm connect convert copy count create cut debug decline',
    'decode decompress decrypt delegate delete deny deploy describe detach detect diff disable disconnect discover dismiss display download draft drop',
    'dump duplicate echo edit embed emit enable encode encrypt end enqueue ensure estimate evaluate exec execute expand explain export extract fetch',
    'fill filter find finish fix flag flush follow forecast format forward generate get give grant grep group guess hash hide highlight import index',
    'infer insert inspect install interpret invalidate invite invoke join kill label launch leave lint list load locate lock log look lookup make',
    'map mark match measure merge migrate modify monitor mount move mute navigate normalize notify open order organize parse pause pay perform pick',
    'pin ping place plan play plot poll pop post predict prepare press preview print process profile promote propose provision publish pull purge push',
    'put query quote rank read rebase rebuild recall receive recommend record recover redact redeem reduce refactor refresh refund register reject',
    'release reload remind remove rename render reopen reorder repair replace replay reply report request reschedule reserve reset resize resolve',
    'restart restore resume retrieve retry return reveal revert review revoke roll rollback rotate route run sample save scan schedule score scrape',
    'scroll search select sell send serve set share ship show sign simulate skip sort split spawn stage star start stat stop store stream submit',
    'subscribe suggest summarise summarize suspend swap switch sync tag tail take test think tidy toggle touch trace track train transcribe transfer',
    'transform translate trigger trim truncate try type unblock uninstall unlock unpack unpublish unsubscribe update upgrade upload use validate',
    'verify view visit wait wake walk warn watch withdraw write zip',
  ]
    .join(' ')
    .split(' '),
);

/** Not every verb there is: a word that is missing costs somebody a warning. */
const isVerb = (word: string): boolean => VERBS.has(word);

interface ScriptCall extends Position {
  /** `fs.read`, or the name of a function. */
  readonly callee: string;
  readonly args: readonly Argument[];
}

interface ScriptUse {
  readonly calls: readonly ScriptCall[];
  /** Somewhere it takes a part that has an end, such as `text[:100]`. */
  readonly cuts: boolean;
}

/** Everything in the script, whether it is ever reached or not. */
function usesOf(script: ScriptText): ScriptUse {
  const calls: ScriptCall[] = [];
  let cuts = false;
  const pending: unknown[] = [statementsOf(script) ?? []];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (Array.isArray(node)) pending.push(...(node as unknown[]).toReversed());
    if (!isObject(node)) continue;
    // Nodes are told apart by their kind; nothing else in a tree has one of these.
    const expression = node as unknown as Expression;
    if (expression.kind === 'call') {
      const { callee, args, start: position } = expression;
      calls.push({
        callee: calleeOf(callee),
        args,
        line: lineOf(position),
        column: columnOf(position),
      });
    }
    if (node.kind === 'slice' && node.high !== null) cuts = true;
    pending.push(
      ...Object.values(node).filter((member) => typeof member === 'object' && member !== null),
    );
  }
  return { calls: calls.sort((a, b) => a.line - b.line || a.column - b.column), cuts };
}

function calleeOf(callee: Expression): string {
  if (callee.kind === 'name') return callee.name;
  return callee.kind === 'dot' && callee.object.kind === 'name'
    ? `${callee.object.name}.${callee.name}`
    : '';
}

/** The text of a literal, or `null` for whatever is only known when it runs. */
const literalOf = (expression: Expression | undefined): string | null =>
  expression?.kind === 'literal' && typeof expression.value === 'string' ? expression.value : null;

/** Every piece of advice has a name. */
export const LINT_RULES = Object.freeze({
  'no-handler': 'A tool has no script: a host has to bind it.',
  'no-description': 'A tool has no body, and a model learns nothing but its name.',
  'verb-first-name': 'A name is snake_case and begins with what the tool does.',
  'flat-parameters':
    'Parameters are plain values and lists of them: models fill in nested ones badly.',
  'bounded-output': 'What a script reads is cut before it is answered.',
  'raw-shell': 'No tool hands a model a shell, or the choice of the program.',
  'honest-annotations': 'A tool that says it only reads does not write, send or run anything.',
  'fired-event': 'A hook is for an event that something fires.',
  'has-verdict': 'A hook returns what it decided.',
} as const);

type Advise = (rule: keyof typeof LINT_RULES, message: string, at?: Position) => void;

/** Warnings about one tool. `isBound`: a host will supply what it does. */
export function lintTool(tool: ToolArtifact, isBound: boolean): readonly ArtifactProblem[] {
  const { file, line, column, name } = tool;
  const problems: ArtifactProblem[] = [];
  const advise: Advise = (rule, message, at = { line, column }) =>
    void problems.push({
      file,
      line: at.line,
      column: at.column,
      severity: 'warning',
      rule,
      message: `tool "${name}" ${message}`,
    });
  if (tool.script === undefined && !isBound) advise('no-handler', 'has no script handler');
  if (tool.body === '')
    advise('no-description', 'has no description: write what it does below the frontmatter');
  lintName(name, advise);
  for (const parameter of tool.parameters) {
    if (isNested(parameter.schema))
      advise(
        'flat-parameters',
        `parameter "${parameter.name}" is nested; give each part a parameter of its own`,
      );
  }
  if (tool.grants.shell === true)
    advise('raw-shell', 'is granted a shell; run one program with its arguments instead');
  if (tool.script !== undefined) lintScript(tool, usesOf(tool.script), advise);
  return problems;
}

const SNAKE_CASE = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;

function lintName(name: string, advise: Advise): void {
  if (!SNAKE_CASE.test(name)) advise('verb-first-name', 'should be called in snake_case');
  else if (!isVerb(name.split('_')[0] ?? ''))
    advise('verb-first-name', 'should begin with a verb, such as read_, list_ or send_');
}

function isNested(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  const { type, items } = schema;
  return (
    type === 'object' ||
    (type === 'array' && isObject(items) && (items.type === 'object' || items.type === 'array'))
  );
}

/** What can answer with more than anybody asked for. */
const READS: ReadonlySet<string> = new Set(words('fs.read fs.list exec.run http.get http.post'));
const LIMITS: ReadonlySet<string> = new Set(['limit', 'max_bytes', 'max_output_bytes']);
const EFFECTS: ReadonlySet<string> = new Set(['fs.write', 'exec.run', 'http.post']);
const SHELLS =
  /^(?:.*\/)?(?:a|ba|da|fi|k|z|tc|c)?sh$|^(?:.*\/)?(?:cmd|powershell|pwsh)(?:\.exe)?$/i;

function lintScript(
  { grants, annotations }: ToolArtifact,
  { calls, cuts }: ReturnType<typeof usesOf>,
  advise: Advise,
): void {
  // A script that cuts anything is trusted to cut the right thing: following values is the business
  // of running it.
  const isCut =
    cuts ||
    grants.maxOutputBytes !== undefined ||
    calls.some(({ callee }) => callee === 'string.truncate');
  for (const call of calls) {
    const { callee, args } = call;
    const isLimited = isCut || args.some(({ kind, name }) => kind === 'named' && LIMITS.has(name));
    if (READS.has(callee) && !isLimited)
      advise(
        'bounded-output',
        `answers with whatever ${callee} gives; cut it with string.truncate, a slice or grants.max_output_bytes`,
        call,
      );
    if (callee === 'exec.run') lintCommand(call, advise);
    if (annotations.readOnly === true && EFFECTS.has(callee))
      advise('honest-annotations', `says it only reads, and calls ${callee}`, call);
  }
}

function lintCommand(call: ScriptCall, advise: Advise): void {
  const given = call.args.find(({ kind, name }, index) =>
    kind === 'named' ? name === 'cmd' : kind === 'positional' && index === 0,
  );
  const program = literalOf(given?.value);
  if (program === null)
    advise(
      'raw-shell',
      'lets its caller choose the program that exec.run starts; name it in the script',
      call,
    );
  else if (SHELLS.test(program))
    advise(
      'raw-shell',
      `starts a shell (${program}); run the program itself with its arguments`,
      call,
    );
}
