/** Passwords and tokens in the options of well-known commands. */

import type { Lead, Look } from './credentials.ts';
import { isPlaceholder } from './names.ts';
import { A_LOOK, type Reading, spend } from './reading.ts';

/**
 * What a command takes a password or a token by. The secret is group 1, at the end of the match.
 */
const OPTION_VALUE = String.raw`(?:'([^'\n]{1,200})|"([^"\n]{1,200})|([^\s"';|&<>]{1,200}))`;
const option = (names: string, glue = '[ =]+') =>
  new RegExp(String.raw`(?<=\s)(?:${names})${glue}${OPTION_VALUE}`, 'g');
const pair = (names: string, between = ':') =>
  new RegExp(
    String.raw`(?<=\s)(?:${names})[ =]*["']?[^\s"'${between}]{0,80}${between}([^\s"'|]{1,200})`,
    'g',
  );
const P = option('-p|--password|--pass|--passwd');
const GLUED_P = option('-p', '');

const COMMANDS: Readonly<Record<string, readonly RegExp[]>> = {
  curl: [
    pair('-u|--user|-U|--proxy-user'),
    option('--oauth2-bearer|--pass|--proxy-pass|--tlspassword'),
  ],
  wget: [option('--password|--http-password|--ftp-password|--proxy-password', '[= ]')],
  http: [pair('-a|--auth')],
  mysql: [GLUED_P, option('--password', '=')],
  mysqldump: [GLUED_P],
  mysqladmin: [GLUED_P],
  mariadb: [GLUED_P],
  mongosh: [P],
  mongo: [P],
  mongodump: [P],
  mongorestore: [P],
  sshpass: [option('-p', '[ ]?')],
  docker: [P],
  podman: [P],
  helm: [P],
  oras: [P],
  skopeo: [pair('--creds|--src-creds|--dest-creds'), P],
  'redis-cli': [option('-a|--pass|--askpass')],
  ldapsearch: [option('-w')],
  ldapadd: [option('-w')],
  ldapmodify: [option('-w')],
  smbclient: [pair('-U|--user', '%')],
  rpcclient: [pair('-U|--user', '%')],
  htpasswd: [/(?<=\s-[a-zA-Z]*b[a-zA-Z]*\s+\S{1,120}\s+\S{1,80}\s+)([^\s|;&]{1,200})/g],
  sqlcmd: [option('-P', '[ ]?')],
  bcp: [option('-P', '[ ]?')],
  sqlplus: [/(?<=\s)[\w$#]{1,40}\/([^\s@/"']{1,100})(?=@|\s|$)/g],
  cqlsh: [P],
  influx: [option('-password|--password|-t|--token')],
  psql: [/(?:password=)([^\s"';&]{1,200})/g],
  zip: [option('-P')],
  unzip: [option('-P')],
  '7z': [GLUED_P],
  gpg: [option('--passphrase')],
  openssl: [
    /(?<=\s-K[ ])([0-9a-fA-F]{32,64})/g,
    /(?:pass(?:in|out)?[ =]+|-k[ ]+)(?:pass:)?([^\s"'|;&]{3,200})/g,
  ],
  az: [option('-p|--password|--account-key|--sas-token|--connection-string|--client-secret')],
  aws: [
    /(?:aws_secret_access_key|aws_session_token|--secret-string|--password|--master-user-password)[ =]+["']?([^\s"'|;&]{4,400})/g,
  ],
  gcloud: [option('--password|--access-token')],
  kubectl: [
    option('--token|--password|--docker-password'),
    /--from-literal[ =]["']?[\w.-]{1,80}=([^\s"'|;&]{3,400})/g,
  ],
  oc: [option('--token|-p|--password')],
  vault: [
    /(?<=vault login\s+)(?:-method=\S+\s+)?(?:token=)?([\w.-]{16,200})/g,
    /(?<=\s)(?:password|token|secret)=([^\s"'|;&]{3,200})/g,
  ],
  twine: [P],
  nuget: [option('-ApiKey|-k|--api-key|-Password')],
  dotnet: [option('-k|--api-key|-p|--password')],
  svn: [option('--password')],
  lftp: [pair('-u', ',')],
  ipmitool: [option('-P')],
  mosquitto_pub: [option('-P|--pw')],
  mosquitto_sub: [option('-P|--pw')],
  keytool: [option('-storepass|-keypass|-srcstorepass|-deststorepass')],
  jarsigner: [option('-storepass|-keypass')],
  signtool: [option('/p')],
  xfreerdp: [option('/p', ':')],
  rabbitmqctl: [/(?<=(?:add_user|change_password)\s+\S{1,80}\s+)([^\s"'|;&]{3,200})/g],
  doctl: [option('-t|--access-token')],
  flyctl: [option('-t|--access-token')],
  heroku: [option('--token')],
  npm: [/(?<=_authToken[= ])["']?([^\s"'|;&]{8,200})/g],
  consul: [option('-token')],
  nomad: [option('-token')],
  snowsql: [option('--password')],
  ansible: [option('--vault-password|--become-password')],
  snmpwalk: [option('-A|-X')],
  net: [/\/user:\S{1,80}\s+([^\s/*]{3,100})/gi, /\\\\\S{1,120}\s+([^\s/*]{3,100})(?=\s+\/user:)/gi],
  cmdkey: [option('/pass', ':')],
  restic: [option('--password')],
  rclone: [/(?<=\s(?:pass|password)[ =])([^\s"';|&]{4,200})/g],
  fastlane: [option('--password')],
};

/**
 * Up to the end of a command: the line, with `\` at its end the next one too, or the next command
 * in it.
 */
const COMMAND_LINE = /(?:[^\n|;&\\]|\\[\s\S]|&(?!&)){0,600}/y;

/** What may stand before the name of a program, and which of it may stand behind one. */
const BLANK = 1;
const SIGN = 2;
const KINDS = new Uint8Array(65_536);
for (const char of '/"\'`$(|;&>') KINDS[char.charCodeAt(0)] = SIGN;
for (const char of ' \t\n\r\f\v') KINDS[char.charCodeAt(0)] = BLANK;

/** Programs by the words that start them. */
const PROGRAMS: ReadonlyMap<string, string> = new Map(
  Object.keys(COMMANDS).flatMap((name) =>
    [name, `${name}.exe`].map((word) => [word, name] as const),
  ),
);
const LONGEST = Math.max(...Array.from(PROGRAMS.keys(), ({ length }) => length));

/**
 * One where a program has this length, this first and this last character: most words are told from
 * all programs by these.
 */
const OUTLINES = new Uint8Array((LONGEST + 1) << 10);
const outlineOf = (length: number, first: number, last: number): number =>
  (length << 10) | ((first & 31) << 5) | (last & 31);
for (const word of PROGRAMS.keys())
  OUTLINES[outlineOf(word.length, word.charCodeAt(0), word.charCodeAt(word.length - 1))] = 1;

interface Program {
  readonly name: string;
  readonly end: number;
}

/**
 * The last program that is named between two places. Word for word from the end: most words before
 * an option are none.
 */
function programBefore({ text, codes }: Reading, from: number, to: number): Program | null {
  // The blank behind the word that is read; a sign stands behind no program, so that there is none
  // until the next blank.
  let end = -1;
  for (let at = to - 1; at >= from - 1; at -= 1) {
    const kind = at < from ? SIGN : (KINDS[codes[at] ?? 0] ?? 0);
    if (kind === 0) continue;
    const length = end - at - 1;
    if (
      length > 0 &&
      length <= LONGEST &&
      OUTLINES[outlineOf(length, codes[at + 1] ?? 0, codes[end - 1] ?? 0)] === 1
    ) {
      const name = PROGRAMS.get(text.slice(at + 1, end));
      if (name !== undefined) return { name, end };
    }
    end = kind === BLANK ? at : -1;
  }
  return null;
}

/** As far before an option as its command may stand. */
const REACH = 400;

const DASH = 45;
const BLANKS = 33;
/**
 * Two dashes with a blank or a third one behind them are no option: a dash in prose, the signature
 * of a changelog, a rule.
 */
const isDash = (codes: Uint16Array, end: number): boolean =>
  codes[end - 1] === DASH &&
  codes[end - 2] === DASH &&
  ((codes[end] ?? 0) < BLANKS || codes[end] === DASH);

/** Reads the command that an option belongs to, once. */
const commandLine: Look = (reading, start, end, emit) => {
  if (start < reading.line || isDash(reading.codes, end)) return;
  const named = programBefore(reading, Math.max(reading.line, start - REACH), end);
  if (named === null) {
    reading.line = end;
    return;
  }
  spend(reading.effort, start, A_LOOK);
  const from = named.end;
  COMMAND_LINE.lastIndex = from;
  const line = COMMAND_LINE.exec(reading.text)?.[0] ?? '';
  reading.line = Math.max(end, from + line.length);
  for (const pattern of COMMANDS[named.name] ?? []) {
    for (const match of line.matchAll(pattern)) {
      spend(reading.effort, start, A_LOOK);
      const secret = match.slice(1).find((group) => group !== undefined) ?? '';
      const at = from + match.index + match[0].lastIndexOf(secret);
      if (isGiven(secret)) emit(at, at + secret.length, 'password');
    }
  }
};

/**
 * What is given on a command line and not left to be filled in: `-p` alone, a variable, a file, a
 * port or a folder is none.
 */
const isGiven = (value: string): boolean =>
  value.length >= 4 &&
  !/^[-$@/.~<{%]|^\d{1,5}(?::\d|$)|^\[redacted/.test(value) &&
  !isPlaceholder(value) &&
  !isWordOfManual(value);
const isWordOfManual = (value: string): boolean =>
  /^[A-Z]+$/.test(value) ||
  (/^[a-z]+$/.test(value) && /pass|word|token|secret|key|file|port|name|user/.test(value));

/** What begins the options that take secrets, and the commands that take them without one. */
const LEADS = [
  ' -p',
  ' -P',
  ' -u',
  ' -U',
  ' -a',
  ' -w',
  ' -k',
  ' -A',
  ' -X',
  ' -t',
  ' -b',
  ' -nb',
  ' -bc',
  ' -s',
  ' --',
  ' -K',
  'rclone ',
  ' /p',
  ' /user:',
  'sqlplus ',
  'rabbitmqctl ',
  'vault login ',
];

export const COMMAND_LEADS: readonly Lead[] = Object.freeze(
  LEADS.map((word) => ({ word, anyCase: false, look: commandLine })),
);
