/**
 * What a name says about its value, and what a value looks like: the part of detection that is
 * judgement.
 */

import type { JsonObject } from '../core/json/json-value.ts';
import { looksOfText } from './characters.ts';

/** A single word of prose, as it stands behind `Authorization:` in a manual. */
export const isWord = (text: string): boolean => /^[A-Za-z]?[a-z]*$/.test(text);

/** As much of a value as its looks are judged by. */
const JUDGED = 96;

/**
 * Whether a value has the look of a generated secret: long enough, no blanks, of many different
 * characters, and not of words.
 */
export function isRandomLooking(whole: string): boolean {
  const text = whole.length > JUDGED ? whole.slice(0, JUDGED) : whole;
  if (text.length < 10 || /[\s<>{}()$[\]\\]/.test(text)) return false;
  const { digits, uppers, lowers, distinct } = looksOfText(text);
  const isMixed = lowers > 0 && uppers > 0;
  if (distinct < 7 || lowers + uppers === 0 || (digits === 0 && !(isMixed && text.length >= 16)))
    return false;
  if (
    text.length < 16 &&
    !isMixed &&
    !(text.length >= 12 && digits >= 2 && /^[a-z0-9]+$/i.test(text))
  )
    return false;
  return !PATH.test(text) && !isWordy(text);
}

/** A path or an address: its first part is a word. */
const PATH = /^(?:\.{0,2}\/(?:[a-z][a-z0-9_.-]*|[A-Z][a-z]+)?(?:\/|$)|[a-z][a-z+.-]{1,12}:\/\/)/;

/**
 * `parseTokenFromHeader2` is a name and not a value: its letters come in words. In one case, two
 * groups of digits tell.
 */
export function isWordy(text: string): boolean {
  const parts = text.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? [];
  if (parts.length === 0) return true;
  // Beside small letters, a run of capitals is an abbreviation at the most: `HTTP`, and not
  // `MRSYSION`.
  const longest = /[a-z]/.test(text) && /[A-Z]/.test(text) ? 3 : text.length;
  const lengths = parts.map((part) =>
    /[a-z]/.test(part) ? part.length : Math.min(part.length, longest),
  );
  const letters = lengths.reduce((sum, length) => sum + length, 0) / parts.length;
  const numbers = text.match(/\d+/g)?.length ?? 0;
  // Of a name most parts are words: one long part among pairs of letters is chance.
  const isMostlyShort = lengths.filter((length) => length < 3).length * 2 > parts.length;
  if (longest === 3)
    return !isMostlyShort && letters >= (numbers < 2 ? 3.2 : 4.5) && isSpoken(parts);
  return letters >= 3 && numbers < 2;
}

/**
 * Whether most letters stand in parts that can be said: a vowel, and no four consonants in a row.
 */
function isSpoken(parts: readonly string[]): boolean {
  const spoken = parts.filter(
    (part) => /[aeiouy]/i.test(part) && !/[bcdfghjklmnpqrstvwxz]{4}/i.test(part),
  );
  return spoken.join('').length * 5 >= parts.join('').length * 4;
}

const PLACEHOLDER = new RegExp(
  [
    /^[*x.\-_#•?…]+$/,
    /^[~^v]?\d+(?:\.\d+)+(?:[-+].*)?$/,
    /^[<[({%].*[>\])}%]$/,
    /^[$%@!#]?[{(<].*$/,
    /^\$[\w.({].*$/,
    /^%[\w.]+%?$/,
    /^(?:x{3,}|\*{2,}|\.{3})/,
    /(?:x{4,}|\*{3,}|\.{3}|…)$/,
    /^(?:string|required|optional|null|none|nil|true|false|undefined|number|boolean|any|unknown|never|void|object|array|value|text|hidden|bytes|str|int|empty|redacted|masked|unset|default|disabled|enabled|auto|prompt|ask|stdin|env|file)$/,
    /^(?:secrets?|passwords?|passwd|passphrase|pass|pwd|token|key|credentials?|apikey|api[-_ ]key|test|testing|foo|bar|baz|foobar|qux|example|sample|demo|dummy|fake|mock|changeme|change[-_ ]?it|change[-_ ]this|replace[-_ ]?me|todo|tbd|n\/a|na|user|username|admin|root|guest|postgres|mysql|abc|xyz|asdf|123|1234|12345|123456)$/,
    /^(?:your|my|the|some|a|an|new|old|current|insert|enter|put|add|use|set|get|replace|paste|provide|change|example|sample|dummy|fake|test)[-_ .]?(?:own|super|very|real|new|old|secret|password|passwd|pass|token|api|access|client|auth|private|user|key|value|here|it|this|me|in|to|with|a|the|an|your|my|strong|random|long|secure|name|string|code)*(?:[-_ .]?(?:own|super|very|real|new|old|secret|password|passwd|pass|token|api|access|client|auth|private|user|key|value|here|it|this|me|in|to|with|a|the|an|your|my|strong|random|long|secure|name|string|code))*[-_ .!\d]{0,3}$/,
    /^(?:process\.env|os\.environ|os\.getenv|getenv|env|import\.meta|settings|config|secrets|vars|var|local|data|options|opts|props|this|self|args|params|req|request|ctx|context|await|new|function|async|lambda|return|typeof)\b.*$/,
    /^(?:op|vault|ssm|arn|aws|gcp|azure|file|env|ref|keyring|secret|https?):(?:\/\/)?.*$/,
  ]
    .map(({ source }) => `(?:${source})`)
    .join('|'),
  'i',
);

/** What stands where a secret would stand, in examples, schemas and programs. */
export const isPlaceholder = (text: string): boolean =>
  text.length <= 128 && PLACEHOLDER.test(text);

/** Labels and messages of forms: what a program says about a password is not one. */
const TOLD =
  /(?:^|\s)(?:password|passwort|passphrase|token|secret|key|enter|your|please|required|must|invalid|the|is|are|a|an|to|and|of|or|for|in|not|no|reset|forgot|new|old|confirm|change|show|hide|with|when|if|this|that|be|from|de|la|el|der|die|das)(?:\s|[.,:;!?]|$)/i;
export const isTold = (text: string): boolean =>
  /\s/.test(text)
    ? TOLD.test(text) || text.trim().split(/\s+/).length > 4
    : /^[A-Z][a-z]+$/.test(text) || /[^\x20-\x7e]/.test(text);

/** What the name of a member or a variable says about its value. */
export type Family = 'password' | 'secret' | 'phrase' | 'key';

const PASSWORD =
  /(?:password|passwd|passphrase|passcode|passwort|pwd|requirepass|masterauth|storepass|keypass|userpass|dbpass|smtppass|bindpw|rootpw|psk)$/;
const KEY_KINDS =
  'api|access|secret|private|signing|encryption|auth|account|shared|master|service|admin|license|licence|app|application|write|read|ingest|ingestion|integration|rest|server|deploy|client|hmac|subscription|function|user|team|session|cipher|aes|jwt|webhook|security|live|crypt|unseal|recovery|root|fernet|salt';
const SECRET = new RegExp(
  `(?:secret|token|(?:${KEY_KINDS})keys?|key(?:base|data)|credentials?|authorization|bearer|cookie|apikey|connectionstring|connstr|databaseurl|dsn|webhookurl|webhook|jwt|sastoken|signature|sessionid|sessid|privkey|auth|salt|artapi)$`,
);
/** Twelve words and more that stand for a key. */
const PHRASE = /(?:mnemonic|(?:seed|recovery|backup|secret|wallet)phrase)$/;
/**
 * Positions in a list are called tokens too, and hiding them would end the list; counts and kinds
 * of tokens are no tokens.
 */
const POSITION =
  /(?:page|next|previous|prev|continuation|sync|resume|change|cursor|start|eos|bos|pad|unk|sep|cls|mask|end|first|last|max|min|num|total|input|output|cached|completion|prompt)token$|publickey$|nopasswd$|^(?:old)?pwd$/;
/** Words before `key` that say where something is kept. */
const KEPT_UNDER: ReadonlySet<string> = new Set(
  'public primary foreign cache partition sort row hash object idempotency group index lookup item map dict unique composite natural surrogate range react list translation i18n message route query shift ctrl control alt meta arrow hot press host ssh gpg pgp rsa storage s3 file image blob state event registry schema config setting property field column json yaml prop attr data base join order filter label tag name short long any every each no by on of the this is has get set to from with a an one new old same last first next other known release signature openpgp pubkey'.split(
    ' ',
  ),
);

const families = new Map<string, Family | null>();
const MAX_FAMILIES = 2_000;

/**
 * Whether a name tells that its value is secret: `password` whatever it is, `secret` where it also
 * looks like one, `key` only where it can be nothing else, `phrase` for words that stand for a key.
 */
export function familyOf(name: string): Family | null {
  if (name.length < 3 || name.length > 128) return null;
  const known = families.get(name);
  if (known !== undefined) return known;
  const family = judge(name);
  if (families.size >= MAX_FAMILIES) families.clear();
  families.set(name, family);
  return family;
}

/**
 * A member is called by its name; the `value` of a list of variables is called by the `name` beside
 * it.
 */
export function familyIn(value: JsonObject, name: string): Family | null {
  if (name !== 'value') return familyOf(name);
  const beside = Object.hasOwn(value, 'name')
    ? value['name']
    : Object.hasOwn(value, 'key')
      ? value['key']
      : null;
  return typeof beside === 'string' ? familyOf(beside) : null;
}

/** What is said of which secret it is, behind its name. */
const SUFFIX =
  /[-_.](?:base|value|text|prod|production|dev|staging|test|live|primary|secondary|private)$|[-_.]?v?\d{1,2}$/i;

function judge(name: string): Family | null {
  const short = name.replace(SUFFIX, '');
  const words =
    short.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+/g)?.map((word) => word.toLowerCase()) ?? [];
  const plain = words.join('');
  const [before = '', last = ''] = words.slice(-2).length === 2 ? words.slice(-2) : ['', words[0]];
  // `PWD` is where a process works; in a connection string it is written otherwise.
  if (name === 'PWD' || name === 'OLDPWD' || (POSITION.test(plain) && plain !== 'pwd')) return null;
  if (PASSWORD.test(plain) || last === 'pass' || last === 'pw') return 'password';
  if (SECRET.test(plain) || last === 'pat') return 'secret';
  if (PHRASE.test(plain)) return 'phrase';
  if (last !== 'key') return null;
  return words.length === 1 || !KEPT_UNDER.has(before) ? 'key' : null;
}

/** Of a public key or a certificate. */
const FINGERPRINT = /^(?:[0-9a-f]{2}:){7}|^SHA256:/i;

/** Whether a value under a telling name is worth hiding. */
export function isHidden(family: Family, value: string): boolean {
  if (family === 'phrase') return /^(?:[a-z]{3,8}\s+){11,23}[a-z]{3,8}$/.test(value);
  if (family === 'password')
    return (
      value.length > 2 &&
      /[A-Za-z0-9]/.test(value) &&
      !isPlaceholder(value) &&
      !FINGERPRINT.test(value)
    );
  const isLikely =
    family === 'key'
      ? isBareKey(value)
      : isRandomLooking(value.replace(/^(?:bearer|basic|token|apikey)\s+/i, '')) || isTyped(value);
  return isLikely && !isPlaceholder(value) && !FINGERPRINT.test(value);
}

/** What can be nothing but a key: a commit or a digest is hex of another length. */
const isBareKey = (value: string): boolean =>
  value.length >= 20 &&
  isRandomLooking(value) &&
  (!/^[0-9a-f]+$/.test(value) || value.length === 32) &&
  /\d.*\d/.test(value);

/** What a person thought up: letters, digits and a sign, without a blank. */
const isTyped = (value: string): boolean =>
  /^[\w.!@#$%^*?~+-]{8,40}$/.test(value) &&
  /[A-Za-z].*\d|\d.*[A-Za-z]/.test(value) &&
  /[!@#%^*?~]/.test(value);

/** What a marker calls a value that was found by its name. */
export const labelOfName = (family: Family): 'password' | 'secret' =>
  family === 'password' ? 'password' : 'secret';
