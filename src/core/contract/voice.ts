/**
 * What allium says to a model, told from what a tool says: lines of a tool's text that look like
 * lines of ours get a backslash.
 */

/**
 * Ends a line for some reader: a model, a terminal, Python's `splitlines`, Java's `readLine`. A
 * backspace takes back what stands before it.
 */
const LINE_END = /[\n\r\v\f\b\u0085\u2028\u2029\u001c-\u001e]/;

/**
 * An opening bracket of any kind that a frame may begin with, or a sequence for terminals. Most
 * texts have few that begin a line.
 */
const SIGN = /(?![({])[\p{Ps}\u001b\u009b]/u;

/** Does not show at the beginning of a line, and does not end one. */
const UNSHOWN =
  /^(?![\n\r\v\f\b\u0085\u2028\u2029\u001c-\u001e])[\\\p{C}\p{Z}\p{M}\p{Default_Ignorable_Code_Point}]$/u;

/** The lines that frame a result in `observation`. */
const FRAME = /^(?![({])\p{Ps}(?:resu[l1i]t[o0]f|err[o0]rfr[o0]m|end[o0]f|b[l1i][o0]cked:)/u;

/**
 * Those, and the notes that layers put under a text: that it was cut, where it goes on, that it was
 * asked for before.
 */
const FRAME_OR_NOTE =
  /^(?![({])\p{Ps}(?:resu[l1i]t[o0]f|err[o0]rfr[o0]m|end[o0]f|b[l1i][o0]cked:|cut:|n[o0]te:|withhe[l1i]d:|bytes\d)/u;

/** A bracket with a plain character behind it that begins none of these lines. */
const NO_FRAME = /^[^\u001b\u009b](?![rebcnw\\])[!-~]/iu;

/** No pattern of ours is longer. */
const HEAD_LENGTH = 12;

/** Colours and titles of a terminal. */
const ESCAPE_SEQUENCE =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[^[\]]/y;

/**
 * Letters of other scripts that look like letters of our lines. The colon of Armenian, Hebrew and
 * of ratios is one to the eye.
 */
const LOOK_ALIKES = new Map(
  Object.entries({
    ...{
      а: 'a',
      с: 'c',
      ԁ: 'd',
      е: 'e',
      к: 'k',
      м: 'm',
      о: 'o',
      ѕ: 's',
      т: 't',
      у: 'y',
      г: 'r',
      һ: 'h',
      ѡ: 'w',
      в: 'b',
      п: 'n',
      і: 'i',
    },
    ...{
      α: 'a',
      ϲ: 'c',
      ε: 'e',
      κ: 'k',
      ο: 'o',
      σ: 'o',
      τ: 't',
      υ: 'u',
      ν: 'v',
      ρ: 'p',
      ι: 'i',
      η: 'n',
      ϝ: 'f',
    },
    ...{
      օ: 'o',
      ս: 'u',
      ո: 'n',
      ց: 'g',
      ք: 'f',
      ı: 'i',
      ɩ: 'i',
      ʟ: 'l',
      ɡ: 'g',
      ƒ: 'f',
      '∶': ':',
      '։': ':',
      '׃': ':',
      ː: ':',
      '꞉': ':',
    },
    ...{ '|': 'l', '¦': 'l' },
  }),
);

/**
 * A tool's text with a backslash in front of every line that could be taken for a frame of ours,
 * also in look-alike characters, behind invisible ones or between other line ends than `\n`. A line
 * that begins with backslashes gets one more, so that nothing is lost: the same text gives the same
 * bytes, and every text another one. A line of ours that stands in the middle of a line is no line
 * of ours.
 */
export const quoteFrames = (text: string): string => quoted(text, FRAME);

/**
 * The same for text that a note of ours is put under: lines that look like notes are marked as
 * well.
 */
export const quoteVoice = (text: string): string => quoted(text, FRAME_OR_NOTE);

/**
 * Where lines begin with a sign, behind nothing that shows. What is between two signs is gone
 * through once.
 */
function* candidatesIn(text: string, first: number, isPlain: boolean): Generator<number> {
  let past = 0;
  for (let at = first; at !== -1; at = signFrom(text, past, isPlain)) {
    if (NO_FRAME.test(text.slice(at, at + 2))) {
      past = at + 1;
      continue;
    }
    const start = /[!-[\]-~]/.test(text.charAt(at - 1)) ? at : shownFrom(text, at, past);
    if (start === 0 || (start > past && LINE_END.test(text.charAt(start - 1)))) yield start;
    past = at + 1;
  }
}

function signFrom(text: string, from: number, isPlain: boolean): number {
  if (isPlain) return text.indexOf('[', from);
  for (let at = from; at < text.length; at += 1) if (isSign(text.charCodeAt(at))) return at;
  return -1;
}

/**
 * Of each character whether it is a sign: 1 for no, 2 for yes, 0 as long as it was not asked for.
 * All signs have one unit.
 */
const asked = new Uint8Array(65_536);

function isSign(code: number): boolean {
  const known = asked[code] ?? 0;
  if (known !== 0) return known === 2;
  asked[code] = SIGN.test(String.fromCharCode(code)) ? 2 : 1;
  return asked[code] === 2;
}

/** Where what does not show in front of a place begins, `past` at the earliest. */
function shownFrom(text: string, at: number, past: number): number {
  let start = at;
  while (start > past) {
    const isPair = start - 2 >= past && (text.codePointAt(start - 2) ?? 0) > 0xffff;
    const before = isPair ? start - 2 : start - 1;
    if (!UNSHOWN.test(text.slice(before, start))) break;
    start = before;
  }
  return start;
}

function quoted(text: string, ours: RegExp): string {
  // Plain ASCII, which most texts are, has one bracket of the kind.
  const isPlain = Buffer.byteLength(text) === text.length && !text.includes('\u001b');
  const first = signFrom(text, 0, isPlain);
  if (first === -1) return text;
  let quotedText = '';
  let from = 0;
  for (const index of candidatesIn(text, first, isPlain)) {
    if (!ours.test(headOf(text, index))) continue;
    quotedText += `${text.slice(from, index)}\\`;
    from = index;
  }
  return from === 0 && quotedText === '' ? text : quotedText + text.slice(from);
}

/**
 * The beginning of a line as a reader takes it: without what does not show, backslashes, spaces and
 * marks, in plain small letters.
 */
function headOf(text: string, start: number): string {
  let head = '';
  for (let at = start; at < text.length && head.length < HEAD_LENGTH; ) {
    ESCAPE_SEQUENCE.lastIndex = at;
    const sequence = ESCAPE_SEQUENCE.exec(text);
    if (sequence !== null) {
      at += sequence[0].length;
      continue;
    }
    const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
    if (LINE_END.test(character)) break;
    at += character.length;
    head += visiblePart(character, head === '');
  }
  return head;
}

const UNSEEN = /[\p{C}\p{Z}\p{M}\s\p{Default_Ignorable_Code_Point}]/gu;

function visiblePart(character: string, isFirst: boolean): string {
  // Most texts are plain ones, and every list in JSON begins with a bracket.
  if (/[!-~]/.test(character) && character !== '\\')
    return character === '|' ? 'l' : character.toLowerCase();
  if (/[\0- \u007f-\u00a0]/.test(character)) return '';
  const plain = character.normalize('NFKD').replace(UNSEEN, '').toLowerCase();
  if (isFirst && plain === '\\') return '';
  return Array.from(plain, (one) => LOOK_ALIKES.get(one) ?? one).join('');
}

/**
 * A name as it stands in a frame: no bracket, dash or line end of its own, so that it cannot close
 * the frame it is named in.
 */
export const nameInFrame = (name: string): string =>
  PLAIN_NAME.test(name)
    ? name
    : name.replace(
        /[\p{Ps}\p{Pe}\p{Pd}\p{Z}\p{C}\p{M}\p{Default_Ignorable_Code_Point}]+/gu,
        keptInNames,
      );

const PLAIN_NAME = /^[\w.-]+$/;

/**
 * Hyphens are part of names; a run of anything else that could end a frame is shown as one question
 * mark, and spaces as one space.
 */
const keptInNames = (found: string): string =>
  /^-+$/.test(found) ? found : /^ +$/.test(found) ? ' ' : '?';
