/** The hand-made set of secret detectors. */

import { anchorFinder } from './anchors.ts';
import type { Detector, Emit } from './detector.ts';
import { NAME_WORDS, namedValues } from './named-values.ts';
import { privateKeys } from './private-keys.ts';
import { TOKEN_RULES, type TokenRule } from './token-rules.ts';

/** What stands before an AWS secret, which is forty characters like any other. */
const NEAR_AWS = ['aws', 'secret', 'akia', 'asia'];

type Look = (text: string, start: number, end: number, emit: Emit) => void;

/** Looks into one text, from anchor to anchor. Holds what must not be done twice for the same text. */
function openLooks(): readonly (readonly [anchor: string, look: Look])[] {
  const pemAt = privateKeys();
  const awsAt = awsSecrets();
  const namedAt = namedValues();
  return [
    ...TOKEN_RULES.flatMap((rule) => rule.anchors.map((anchor) => [anchor, tokenAt(rule)] as const)),
    ...NAME_WORDS.map((word) => [word, namedAt] as const),
    ...NEAR_AWS.map((word) => [word, awsAt] as const),
    ['-----BEGIN', pemAt] as const,
  ];
}

const finder = anchorFinder(openLooks().map(([anchor]) => anchor));
const lengths = openLooks().map(([anchor]) => anchor.length);
/** `pwd=abc` is the shortest that can hold anything. */
const MIN_TEXT = 7;

/** Tokens by their form, private keys, and values whose name tells what they are. */
export const secretDetector: Detector = Object.freeze<Detector>({
  group: 'secrets',
  mayHold: (text) => text.length >= MIN_TEXT,
  find(text, emit) {
    let looks: ReturnType<typeof openLooks> | null = null;
    finder.find(text, (anchor, start) => {
      looks ??= openLooks();
      looks[anchor]?.[1](text, start, start + (lengths[anchor] ?? 0), emit);
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

const REACH = 100;
const FORTY = /(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])/g;

/** Forty characters of base64 are an AWS secret only where something before them says so; a Git commit is forty too. */
function awsSecrets(): Look {
  let seen = 0;
  return (text, _start, end, emit) => {
    // Every stretch is read once, however many words stand before it; one character more tells whether a run goes on.
    const from = Math.max(end, seen - 42);
    const part = text.slice(from, end + REACH + 42);
    seen = from + part.length;
    for (const { 0: run, index } of part.matchAll(FORTY)) {
      if (/[a-z]/.test(run) && /[A-Z]/.test(run) && /\d/.test(run)) emit(from + index, from + index + 40, 'aws');
    }
  };
}
