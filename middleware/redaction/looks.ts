/** What a value or a name looks like: the part of detection that is judgement. */

/** A single word of prose, as it stands behind `Authorization:` in a manual. */
export const isWord = (text: string): boolean => /^[A-Za-z]?[a-z]*$/.test(text);

/** Whether a value has the look of a generated secret: long enough, no blanks, and of many different characters. */
export function isRandomLooking(text: string): boolean {
  if (text.length < 10 || /[\s<>{}()$]/.test(text) || !/[A-Za-z]/.test(text)) return false;
  const mixed = /[a-z]/.test(text) && /[A-Z]/.test(text);
  const hasDigit = /\d/.test(text);
  if (!hasDigit && !(mixed && text.length >= 20)) return false;
  if (text.length < 16 && !mixed) return false;
  return !/^(?:\.{0,2}\/|[a-z]{2,12}:\/\/)/.test(text) && new Set(text.slice(0, 64)).size >= 8;
}

const PLACEHOLDER =
  /^(?:[*x.\-_#•]+|<.*>|\$\{?[\w.({].*|\{\{.*|%[({].*|string|required|optional|null|none|nil|true|false|undefined|number|boolean|process\.env\b.*|os\.environ\b.*|env\b[.([].*)$/i;

/** What stands where a secret would stand, in examples and schemas. */
export const isPlaceholder = (text: string): boolean => text.length <= 128 && PLACEHOLDER.test(text);

/** What the name of a member or a variable says about its value. */
export type Family = 'password' | 'secret';

const PASSWORD = /(?:password|passwd|passphrase|passcode|pwd)$|^(?:[a-z]{0,8}[^a-z0-9])?pass$/;
const SECRET =
  /(?:secret|token|(?:api|access|secret|private|signing|encryption|auth|account|shared|master)key|credentials?|authorization|bearer|cookie)$/;
/** Positions in a list are called tokens too, and hiding them would end the list. */
const POSITION = /(?:page|next|previous|prev|continuation|sync|resume|change|cursor)token$/;

const families = new Map<string, Family | null>();
const MAX_FAMILIES = 2_000;

/** Whether a name tells that its value is secret: `password` whatever it is, `secret` where it also looks like one. */
export function familyOf(name: string): Family | null {
  if (name.length < 3 || name.length > 128) return null;
  const known = families.get(name);
  if (known !== undefined) return known;
  const family = judge(name);
  if (families.size >= MAX_FAMILIES) families.clear();
  families.set(name, family);
  return family;
}

function judge(name: string): Family | null {
  const lower = name.toLowerCase();
  const plain = lower.replace(/[^a-z0-9]/g, '');
  if (PASSWORD.test(plain) || PASSWORD.test(lower)) return 'password';
  return SECRET.test(plain) && !POSITION.test(plain) ? 'secret' : null;
}

/** Whether a value under a telling name is worth hiding. */
export const isHidden = (family: Family, value: string): boolean =>
  family === 'password'
    ? value.length > 2 && /[A-Za-z0-9]/.test(value) && !isPlaceholder(value)
    : isRandomLooking(value.replace(/^(?:bearer|basic|token)\s+/i, ''));
