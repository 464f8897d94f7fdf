/** A question as lines for a terminal. */

import { cut, plainLine, visible } from './plain-text.ts';
import type { ApprovalQuestion } from '../approvals/question.ts';

export interface DescribeOptions {
  readonly maxTextLength: number;
  readonly maxLines: number;
  readonly columns: number;
}

type Described = Pick<ApprovalQuestion, 'toolName' | 'shown' | 'fingerprint' | 'expiresAt'>;

const GUTTER = '│  ';

/**
 * Tool, arguments, what the tool is about to do, and fingerprint. Every line begins with the same
 * mark and none is longer than the terminal is wide: a text that could choose where it is wrapped
 * could look like a line of ours. Long texts are cut one by one, so that one of them cannot push
 * the others out of sight.
 */
export function describeQuestion(
  question: Described,
  { maxTextLength, maxLines, columns }: DescribeOptions,
): string {
  const { toolName, shown, fingerprint, expiresAt } = question;
  const width = Math.max(20, columns - GUTTER.length - 1);
  const wrapped = (text: string) => wrap(text, width);
  const listed = (value: unknown, what: string): readonly string[] => {
    const all = JSON.stringify(
      value,
      (_name, each: unknown) => (typeof each === 'string' ? cut(each, maxTextLength) : each),
      2,
    )
      .split('\n')
      .flatMap((line) => wrapped(visible(line)));
    const more = all.length - maxLines;
    return [
      ...all.slice(0, maxLines),
      ...(more > 0
        ? wrapped(`NOT ALL IS SHOWN: ${more.toLocaleString('en')} more lines of ${what}`)
        : []),
    ];
  };
  const lines = [
    ...wrapped(`Tool: ${plainLine(toolName, 128)}`),
    ...(typeof shown.reason === 'string'
      ? wrapped(`Asked because: ${plainLine(shown.reason)}`)
      : []),
    'Arguments:',
    ...listed(shown.args ?? shown, 'arguments'),
    ...(Array.isArray(shown.requests) ? ['About to:', ...listed(shown.requests, 'requests')] : []),
    ...wrapped(`Fingerprint: ${plainLine(fingerprint)}`),
    ...(expiresAt === undefined ? [] : wrapped(`Open until: ${plainLine(expiresAt)}`)),
  ];
  return lines.map((line) => `${GUTTER}${line}\n`).join('');
}

/**
 * Cuts into pieces that fit. Whatever is not ASCII is taken to be two columns wide, as many of them
 * are.
 */
function wrap(text: string, width: number): readonly string[] {
  const pieces: string[] = [];
  let piece = '';
  let used = 0;
  for (const character of text) {
    const columns = character > '~' ? 2 : 1;
    if (used + columns > width) {
      pieces.push(piece);
      piece = '';
      used = 0;
    }
    piece += character;
    used += columns;
  }
  return [...pieces, piece];
}
