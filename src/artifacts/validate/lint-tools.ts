/** Advice for people who write tools: what models use well, and what keeps a tool from doing too much. */

import { isObject } from '../../core/json.ts';
import type { ArtifactProblem, Position, ToolArtifact } from '../artifact.ts';
import { literalOf, type ScriptCall, usesOf } from './script-calls.ts';
import { isVerb } from './verbs.ts';

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
const READS: ReadonlySet<string> = new Set([
  'fs.read',
  'fs.list',
  'exec.run',
  'http.get',
  'http.post',
]);
const LIMITS: ReadonlySet<string> = new Set(['limit', 'max_bytes', 'max_output_bytes']);
const EFFECTS: ReadonlySet<string> = new Set(['fs.write', 'exec.run', 'http.post']);
const SHELLS =
  /^(?:.*\/)?(?:a|ba|da|fi|k|z|tc|c)?sh$|^(?:.*\/)?(?:cmd|powershell|pwsh)(?:\.exe)?$/i;

function lintScript(
  { grants, annotations }: ToolArtifact,
  { calls, cuts }: ReturnType<typeof usesOf>,
  advise: Advise,
): void {
  // A script that cuts anything is trusted to cut the right thing: following values is the business of running it.
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
