/**
 * How much text a span may carry. A tool's description, or a name a model made up, can be a
 * megabyte long.
 */

/** For names and codes. */
export const MAX_NAME = 128;
/** For descriptions and whatever a host attaches. */
export const MAX_TEXT = 1024;
/** For captured arguments and results. */
export const MAX_CONTENT = 32_768;
/** How many layers of a call become child spans. */
export const MAX_CHILDREN = 128;

/**
 * At most `max` characters, and never half of one: a lone surrogate is no valid UTF-8 and exporters
 * choke on it.
 */
export function clip(text: string, max: number): string {
  const cut = text.length > max ? text.slice(0, max) : text;
  return cut.isWellFormed() ? cut : cut.toWellFormed();
}
