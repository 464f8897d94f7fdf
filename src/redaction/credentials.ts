/**
 * Credentials that stand in a place made for them: URLs, headers, password files and the options of
 * commands.
 */

import { BASE64_RUN, looksGenerated, OPAQUE_RUN } from './characters.ts';
import type { Emit } from './detector.ts';
import { isPlaceholder, isRandomLooking, isWord } from './names.ts';
import { A_JUDGEMENT, A_LOOK, A_WORD, looksOf, type Reading, runEnd, spend } from './reading.ts';

/** Looks at what a word leads to, and spends the effort that this takes beyond a glance. */
export type Look = (reading: Reading, start: number, end: number, emit: Emit) => void;

const USER_INFO = /:\/\/([^/\s:@"'`<>()[\]{}\\|*]{0,256})(?::([^/\s@"'`<>\\]{1,512}))?@/y;

const MAX_USER_INFO = 770;
const AT = 64;
const ENDS_HOST = new Uint8Array(128);
for (const char of '/ \t\n\r"\'`<>\\') ENDS_HOST[char.charCodeAt(0)] = 1;

/**
 * Whether an at sign stands before the end of the host: most addresses have none, and need no
 * expression.
 */
function isSigned(codes: Uint16Array, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) {
    const code = codes[at] ?? 0;
    if (code === AT) return true;
    if (ENDS_HOST[code] === 1) return false;
  }
  return false;
}

/** `scheme://user:password@host`, and `scheme://token@host` where the name alone looks like one. */
const urlPassword: Look = ({ text, codes, effort }, start, after, emit) => {
  if (!isSigned(codes, after, Math.min(text.length, after + MAX_USER_INFO))) return;
  spend(effort, start, A_LOOK);
  USER_INFO.lastIndex = start;
  const match = USER_INFO.exec(text);
  if (match === null) return;
  const [whole, user = '', password] = match;
  const end = start + whole.length - 1;
  if (password !== undefined) {
    if (!isPlaceholder(password) || /^\[[a-z]+:/.test(password))
      emit(end - password.length, end, 'url-password');
    else if (isRandomLooking(user)) emit(start + 3, start + 3 + user.length, 'url-password');
  } else if (
    user.length >= 16 &&
    /https?$/.test(text.slice(Math.max(0, start - 5), start)) &&
    isRandomLooking(user)
  )
    emit(start + 3, end, 'url-password');
};

const HEADER =
  /["'\\]{0,3}\s{0,3}[:=,]\s{0,3}["'\\]{0,3}(?:(?:bearer|basic|token|digest|negotiate|apikey|api-key|ssws|key|bot|oauth|genie?key|splunk|sso-key|discogs|nlauth)\s{1,3}(?:token\s?=\s?|key\s?=\s?)?["'\\]{0,3})?/iy;

/** `Authorization: Bearer …`, with or without a scheme. */
const authorization: Look = (reading, start, end, emit) => {
  if (start < reading.value) return;
  spend(reading.effort, start, A_WORD);
  HEADER.lastIndex = end;
  if (!HEADER.test(reading.text)) return;
  const from = HEADER.lastIndex;
  const to = runEnd(reading, OPAQUE_RUN, from);
  if (to - from < 6) return;
  spend(reading.effort, start, A_LOOK);
  const secret = reading.text.slice(from, Math.min(to, from + 256));
  if (isWord(secret) || isPlaceholder(secret) || isCode(secret) || !/[A-Za-z0-9]{4}/.test(secret))
    return;
  reading.value = to;
  emit(from, to, 'authorization');
};

/** `headers.authorization = config.token` hands something on and holds nothing. */
const isCode = (value: string): boolean =>
  /^[A-Za-z_$][\w$]*(?:[.:-]+[A-Za-z_$]*)*[.:-]?$/.test(value) && !/\d/.test(value);

const SCHEME_GAP = /\s{1,3}/y;

const bearer: Look = (reading, start, end, emit) => {
  SCHEME_GAP.lastIndex = end;
  if (start < reading.value || !SCHEME_GAP.test(reading.text)) return;
  const from = SCHEME_GAP.lastIndex;
  const to = runEnd(reading, OPAQUE_RUN, from);
  spend(reading.effort, start, A_WORD);
  if (to - from < 16 || !looksGenerated(looksOf(reading, from, to), 'mixed')) return;
  spend(reading.effort, start, A_JUDGEMENT);
  if (!isRandomLooking(reading.text.slice(from, Math.min(to, from + 256)))) return;
  reading.value = to;
  emit(from, to, 'authorization');
};

const basic: Look = (reading, start, end, emit) => {
  SCHEME_GAP.lastIndex = end;
  if (start < reading.value || !SCHEME_GAP.test(reading.text)) return;
  const from = SCHEME_GAP.lastIndex;
  const to = runEnd(reading, BASE64_RUN, from);
  spend(reading.effort, start, A_WORD);
  if (to - from < 8 || to - from > 1_024) return;
  spend(reading.effort, start, A_LOOK);
  const pair = Buffer.from(reading.text.slice(from, to), 'base64').toString('latin1');
  if (!/^[\x20-\x7e]*:[\x20-\x7e]*$/.test(pair) || isPlaceholder(pair.slice(pair.indexOf(':') + 1)))
    return;
  reading.value = to;
  emit(from, to, 'authorization');
};

const COOKIES = /["'\\]{0,3}\s{0,3}:\s{0,3}["'\\]{0,3}([^\n\r"'`]{6,4096})/y;
const COOKIE = /([\w.!#$%&*+^`|~-]{1,128})=([^;,\s"'\\]{8,})/g;

/**
 * The values of a `Cookie` or `Set-Cookie` line that look like sessions; attributes and settings
 * stay.
 */
const cookie: Look = (reading, start, end, emit) => {
  const { text, effort } = reading;
  COOKIES.lastIndex = end;
  if (start < reading.line) return;
  spend(effort, start, A_WORD);
  const match = COOKIES.exec(text);
  if (match === null) return;
  spend(effort, start, A_LOOK);
  const [whole, line = ''] = match;
  const from = end + whole.length - line.length;
  reading.line = from + line.length;
  for (const { 0: pair, 1: name = '', 2: value = '', index } of line.matchAll(COOKIE)) {
    if (
      /^(?:expires|max-age|path|domain|samesite|version)$/i.test(name) ||
      !(isRandomLooking(value) || value.length >= 32)
    )
      continue;
    emit(from + index + name.length + 1, from + index + pair.length, 'cookie');
  }
};

const IDENTIFIED =
  /(?:by|with\s{1,3}['"]?\w{1,40}['"]?\s{1,3}(?:by|as))\s{1,3}(?:password\s{1,3})?['"]([^'"\n]{3,200})/iy;

/** `CREATE USER … IDENTIFIED BY '…'`. */
const identifiedBy: Look = ({ text, effort }, start, end, emit) => {
  spend(effort, start, A_LOOK);
  IDENTIFIED.lastIndex = end;
  const match = IDENTIFIED.exec(text);
  const [whole = '', secret = ''] = match ?? [];
  if (match !== null && !isPlaceholder(secret))
    emit(end + whole.length - secret.length, end + whole.length, 'password');
};

const CRYPT =
  /\$(?:1|2[abxy]?|5|6|7|y|gy|apr1|argon2(?:id?|d)|scrypt|pbkdf2(?:-sha\d{1,3})?)\$[\w./$,=+-]{20,200}/y;

/**
 * Hashes of passwords as `/etc/shadow` and `htpasswd` hold them: short ones are guessed within a
 * day.
 */
const crypt: Look = (reading, start, _end, emit) => {
  const { text, effort } = reading;
  spend(effort, start, A_WORD);
  CRYPT.lastIndex = start;
  if (start < reading.value || !CRYPT.test(text)) return;
  reading.value = CRYPT.lastIndex;
  emit(start, CRYPT.lastIndex, 'password-hash');
};

/** `host:port:database:user:password`, one a line. */
const PGPASS = /:\d{2,5}:[\w*-]{1,60}:[\w.*-]{1,60}:([^\s:]{4,200})(?=\s|$)/y;
const pgpass: Look = ({ text, effort }, start, _end, emit) => {
  spend(effort, start, A_WORD);
  PGPASS.lastIndex = start;
  const [whole = '', secret = ''] = PGPASS.exec(text) ?? [];
  if (secret !== '' && !isPlaceholder(secret) && /[A-Za-z]/.test(secret))
    emit(start + whole.length - secret.length, start + whole.length, 'password');
};

const match = (
  pattern: RegExp,
  label: string,
  judge: (secret: string) => boolean = (secret) => !isPlaceholder(secret),
): Look => {
  return ({ text, effort }, start, _end, emit) => {
    spend(effort, start, A_WORD);
    pattern.lastIndex = start;
    const [whole = '', secret = ''] = pattern.exec(text) ?? [];
    if (secret !== '' && judge(secret))
      emit(start + whole.length - secret.length, start + whole.length, label);
  };
};

/** `user:password@tcp(host)` of Go: the password stands before the sign it is found by. */
const goAddress: Look = ({ text, effort }, start, _end, emit) => {
  spend(effort, start, A_WORD);
  let from = start;
  while (from > 0 && start - from < 200 && !/[\s"'`@/]/.test(text.charAt(from - 1))) from -= 1;
  const colon = text.indexOf(':', from);
  if (colon !== -1 && colon < start - 2) emit(colon + 1, start, 'url-password');
};

/** `echo '…' | docker login --password-stdin`: the password stands before the option. */
const PIPED =
  /(?:echo|printf)\s+(?:-n\s+|'%s'\s+|"%s"\s+)?(?:'([^'\n]{3,200})'|"([^"\n$]{3,200})"|([^\s"'|$]{3,200}))\s*\|[^|\n]{0,200}$/;
const pipedPassword: Look = (reading, start, end, emit) => {
  const { text, effort } = reading;
  spend(effort, start, A_LOOK);
  const before = text.slice(Math.max(reading.piped, start - 400), start);
  const from = start - before.length + before.lastIndexOf('\n') + 1;
  reading.piped = end;
  const found = PIPED.exec(text.slice(from, start));
  const secret = found?.[1] ?? found?.[2] ?? found?.[3] ?? '';
  const value = secret.slice(secret.indexOf(':') + 1);
  const at =
    from + (found?.index ?? 0) + (found?.[0].indexOf(secret) ?? 0) + secret.length - value.length;
  if (value !== '' && !isPlaceholder(value)) emit(at, at + value.length, 'password');
};

/** A word that leads to credentials. `anyCase` for what people write in their own way. */
export interface Lead {
  readonly word: string;
  readonly anyCase: boolean;
  readonly look: Look;
}

const leads = (words: string, look: Look, anyCase = false): readonly Lead[] =>
  words.split(' ').map((word) => ({ word, anyCase, look }));

export const CREDENTIALS: readonly Lead[] = Object.freeze([
  ...leads('://', urlPassword),
  ...leads(
    'authorization x-api-key x-auth-token x-access-token private-token api-key apikey x-vault-token',
    authorization,
    true,
  ),
  ...leads(
    'ocp-apim-subscription-key dd-api-key dd-application-key x-goog-api-key x-functions-key',
    authorization,
    true,
  ),
  ...leads('bearer', bearer, true),
  ...leads('basic', basic, true),
  ...leads('cookie', cookie, true),
  { word: 'identified ', anyCase: true, look: identifiedBy },
  ...leads('$1$ $2a$ $2b$ $2y$ $2x$ $5$ $6$ $7$ $y$ $gy$ $apr1$ $argon2 $scrypt$ $pbkdf2', crypt),
  ...leads(':5432: :5433: :5434: :6432: :3306:', pgpass),
  ...leads('@tcp( @unix(', goAddress),
  ...leads('--password-stdin chpasswd', pipedPassword),
  ...leads(
    'chpasswd:',
    match(
      /chpasswd:\s{1,8}(?:list|users):\s{0,3}\|?\s{0,8}[\w.-]{1,40}:([^\s]{4,200})/y,
      'password',
    ),
  ),
  ...leads('thin:', match(/thin:[\w$#]{1,40}\/([^\s@"']{3,200})(?=@)/y, 'url-password')),
  ...leads(
    'http-basic.',
    match(/http-basic\.[\w-]{1,60}\s{1,3}\S{1,80}\s{1,3}([^\s"';|&]{4,200})/y, 'password'),
  ),
  ...leads(
    'SecureString',
    match(/SecureString\s{1,3}(?:-String\s{1,3})?["']([^"'\n$]{4,200})/y, 'password'),
  ),
  ...leads(
    'CONTRIBSYS__COM',
    match(/CONTRIBSYS__COM["']?\s{0,3}[=:]\s{0,3}["']?([0-9a-f]{8}:[0-9a-f]{8})/y, 'secret'),
  ),
  { word: ': PSK ', anyCase: false, look: match(/: PSK ["']([^"'\n]{4,200})/y, 'password') },
  { word: '\t*\t"', anyCase: false, look: match(/\t\*\t"([^"\n]{4,200})/y, 'password') },
]);
