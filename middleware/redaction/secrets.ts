/** The hand-made set of secret detectors. */

import { anchorFinder } from './anchors.ts';
import type { Detector, Emit } from './detector.ts';
import { NAME_WORDS, type NamedProgress, namedValue } from './named-values.ts';
import { type KeyProgress, privateKey } from './private-keys.ts';
import { TOKEN_RULES, type TokenRule } from './token-rules.ts';

/** What stands before an AWS secret, which is forty characters like any other. */
const NEAR_AWS = ['aws', 'secret', 'akia', 'asia'];

/** What must not be read twice in the same text, however many words lead there. */
interface Progress {
  readonly named: NamedProgress;
  readonly keys: KeyProgress;
  awsSeen: number;
}

type Look = (text: string, start: number, end: number, emit: Emit, progress: Progress) => void;

const LOOKS: readonly (readonly [anchor: string, look: Look])[] = [
  ...TOKEN_RULES.flatMap((rule) => rule.anchors.map((anchor) => [anchor, tokenAt(rule)] as const)),
  ...NAME_WORDS.map((word): readonly [string, Look] => [
    word,
    (text, start, end, emit, { named }) => namedValue(text, start, end, emit, named),
  ]),
  ...NEAR_AWS.map((word) => [word, awsSecret] as const),
  ['-----BEGIN', (text, start, _end, emit, { keys }) => privateKey(text, start, emit, keys)],
];

const finder = anchorFinder(LOOKS.map(([anchor]) => anchor));
/** `pwd=abc` is the shortest that can hold anything. */
const MIN_TEXT = 7;

/** Tokens by their form, private keys, and values whose name tells what they are. */
export const secretDetector: Detector = Object.freeze<Detector>({
  group: 'secrets',
  mayHold: (text) => text.length >= MIN_TEXT && finder.isIn(text),
  find(text, emit) {
    let progress: Progress | null = null;
    finder.find(text, (index, start) => {
      progress ??= { named: { done: 0 }, keys: { done: 0, footerEnd: 0 }, awsSeen: 0 };
      const [anchor, look] = LOOKS[index] ?? [];
      if (anchor !== undefined) look?.(text, start, start + anchor.length, emit, progress);
    });
  },
});

function tokenAt({ label, pattern, accepts }: TokenRule): Look {
  return (text, start, _end, emit) => {
    pattern.lastIndex = start;
    const match = pattern.exec(text);
    if (match === null) return;
    const end = start + match[0].length;
    const from = match[1] === undefined ? start : end - match[1].length;
    if (accepts === undefined || accepts(text.slice(from, end))) emit(from, end, label);
  };
}

/** How far before a secret a word may stand that tells what it is. */
const REACH = 100;
const RUN = 40;
const FORTY = /(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])/g;

/** Forty characters of base64 are an AWS secret only where something before them says so; a Git commit is forty too. */
function awsSecret(text: string, _start: number, end: number, emit: Emit, progress: Progress): void {
  // One character more on each side tells whether a run goes on there.
  const from = Math.max(end, progress.awsSeen - RUN - 2);
  const part = text.slice(from, end + REACH + RUN + 2);
  progress.awsSeen = from + part.length;
  for (const { 0: run, index } of part.matchAll(FORTY)) {
    if (/[a-z]/.test(run) && /[A-Z]/.test(run) && /\d/.test(run)) emit(from + index, from + index + RUN, 'aws');
  }
}
