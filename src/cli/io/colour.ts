/** Whether a stream gets colours, and the one way to add them. */

import { styleText } from 'node:util';

/**
 * Colours for a terminal, none in a pipe. `FORCE_COLOR` decides first (`0` and `false` mean none),
 * then a non-empty `NO_COLOR`, as in Node itself.
 */
export function colourFor(
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  const { FORCE_COLOR: force, NO_COLOR: none, TERM: term } = env;
  if (force !== undefined) return force !== '0' && force !== 'false';
  if (none !== undefined && none !== '') return false;
  return stream.isTTY === true && term !== 'dumb';
}

/**
 * Text in a style, where there are colours. Make foreign text safe before, or it can end the style.
 */
export const paint = (
  colour: boolean,
  style: Parameters<typeof styleText>[0],
  text: string,
): string =>
  // Newer versions of Node look at standard output themselves, which need not be the stream that is
  // written to.
  colour ? styleText(style, text, { validateStream: false }) : text;
