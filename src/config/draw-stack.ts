/** The stack of a file, drawn for people. */

import { oneLine } from '../core/contract/errors.ts';
import type { ToolFate } from './tool-fates.ts';
import type {
  LayerDescription,
  StackDescription,
  ToolChange,
  ToolDescription,
} from './describe-stack.ts';

export function drawStack({ file, isFolder, layers, advice, tools }: StackDescription): string {
  const width = Math.max('executor'.length, ...layers.map(({ name }) => name.length));
  const digits = String(layers.length).length;
  const rows = layers.map((layer, index) => {
    const place = String(index + 1).padStart(digits);
    return `  ${place}  ${layer.name.padEnd(width)}  ${notesOf(layer)}`.trimEnd();
  });
  return [
    isFolder === true ? `${file} (no allium.yaml: its tool files and hooks)` : file,
    '',
    'call ↓  result ↑',
    ...rows,
    `  ${' '.repeat(digits)}  executor`,
    '',
    ...(advice.length === 0 ? ['The order breaks no rule.'] : advice.map((line) => `! ${line}`)),
    '',
    ...(tools.length === 0 ? ['No tools.'] : ['Tools', ...tools.flatMap(drawTool)]),
  ].join('\n');
}

const notesOf = ({ traits, only, except }: LayerDescription): string =>
  [
    ...traits,
    ...(only === undefined
      ? []
      : [only.length === 0 ? 'for no tool' : `only ${only.map(oneLine).join(', ')}`]),
    ...(except === undefined || except.length === 0
      ? []
      : [`except ${except.map(oneLine).join(', ')}`]),
  ].join('; ');

/** Names and descriptions may come from anywhere: none of them may act upon a terminal. */
const drawTool = ({
  name,
  description,
  server,
  fate,
  changes,
}: ToolDescription): readonly string[] => [
  `  ${oneLine(name)}: ${excerpt(oneLine(description))}`,
  ...(server === undefined ? [] : [`    of the server ${oneLine(server)}`]),
  ...drawFate(fate),
  ...(changes.length === 0 ? ['    shown as it is'] : changes.flatMap(drawChange)),
];

/** Servers describe their tools at length; `--json` has all of it. */
const excerpt = (text: string): string =>
  text.length > 160 ? `${text.slice(0, 160).toWellFormed()}…` : text;

function drawFate({ outcome, by, rule, unless = [] }: ToolFate): readonly string[] {
  const decided = by === undefined ? ': no layer decides about it' : ` by ${oneLine(rule ?? by)}`;
  return [
    `    ${WORDS[outcome]}${decided}`,
    ...unless.map((what) => `      unless ${oneLine(what)} says otherwise`),
  ];
}

const WORDS: Readonly<Record<ToolFate['outcome'], string>> = {
  allowed: 'allowed',
  asked: 'a person is asked',
  refused: 'refused',
  hidden: 'hidden',
};

function drawChange({ layer, adds, removes, changes, hides }: ToolChange): readonly string[] {
  if (hides) return [`    ${layer} hides it`];
  return [
    ...adds.map(
      (added) =>
        `    ${layer} adds ${oneLine(added.name)}${added.required ? ' (required)' : ''}${added.description === '' ? '' : `: ${oneLine(added.description)}`}`,
    ),
    ...removes.map((name) => `    ${layer} takes away ${oneLine(name)}`),
    ...(changes ? [`    ${layer} changes its description or its schema`] : []),
  ];
}
