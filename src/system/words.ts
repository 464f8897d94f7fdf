/** Lists of words, written as a text with blanks and line ends between them. */

export const words = (text: string): readonly string[] => text.trim().split(/\s+/);
