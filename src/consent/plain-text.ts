/**
 * Text from outside, made fit for a record or a terminal: nothing in it is hidden and nothing in it
 * acts.
 */

/**
 * Control, format and unassigned characters, separators, whatever is drawn with no width, spaces
 * that only look like one, and marks that can be put over any letter. Marks that belong to a script
 * stay: Hindi and Thai cannot be read without.
 */
const HIDDEN =
  /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}|(?=\p{Script=Inherited})\p{M}/gu;

/** Most texts have nothing else, and the other expression is slow even on a short one. */
const PRINTABLE = /^[ -~]*$/;

/** Writes every character that cannot be seen, or that a terminal would act upon, as `\u{…}`. */
export const visible = (text: string): string =>
  PRINTABLE.test(text) ? text : text.replace(HIDDEN, (character) => `\\u{${codeOf(character)}}`);

const codeOf = (character: string): string => (character.codePointAt(0) ?? 0).toString(16);

/**
 * The beginning of a text, with the number of characters that are missing. Never cuts a character
 * in two.
 */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  const head = text.slice(0, max).replace(/[\uD800-\uDBFF]$/, '');
  return `${head}… [${(text.length - head.length).toLocaleString('en')} more characters]`;
}

/** One visible line of a bearable length. */
export const plainLine = (text: string, max = 500): string => visible(cut(text, max));
