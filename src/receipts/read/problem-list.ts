/**
 * The problems of a verification in the order of the lines, also where it takes a while to know of
 * one.
 */

/** What can be wrong. `docs/receipts.md` says what each means. */
export type ProblemKind =
  | 'malformed'
  | 'hash'
  | 'chain'
  | 'sequence'
  | 'checkpoint'
  | 'signature'
  | 'unknown_key'
  | 'unsigned'
  | 'segment'
  | 'name'
  | 'torn_line'
  | 'truncated'
  | 'head_missing'
  | 'head_unreadable'
  | 'after_end'
  | 'session_missing'
  | 'index_missing'
  | 'index_cut'
  | 'empty'
  | 'too_few'
  | 'unreadable'
  | 'more';

/** Something that is wrong, and where. */
export interface ReceiptProblem {
  readonly file: string;
  readonly line: number;
  readonly kind: ProblemKind;
  readonly message: string;
}

/** What is wrong with a line. */
export type Problem = readonly [kind: ProblemKind, message: string];

/** Takes problems down. */
export interface ProblemList {
  readonly problems: readonly ReceiptProblem[];
  tell(file: string, line: number, problem: Problem): void;
  /** Keeps the place of a problem that may turn out to be none. `ask` must not reject. */
  tellLater(file: string, line: number, ask: () => Promise<Problem | null>): void;
  /** Waits until at most so many answers are missing. */
  settle(missing: number): Promise<void>;
}

const MAX_PROBLEMS = 1000;

/** An empty list. It holds a thousand problems, and then says that there are more. */
export function createProblemList(): ProblemList {
  const problems: ReceiptProblem[] = [];
  const waiting: (ReceiptProblem | Promise<ReceiptProblem | null>)[] = [];
  /** Problems that are certain: what comes behind more of them than are kept cannot matter. */
  let certain = 0;
  const keep = (problem: ReceiptProblem): void => {
    if (problems.length < MAX_PROBLEMS) return void problems.push(problem);
    const { file, line } = problem;
    if (problems.length === MAX_PROBLEMS)
      problems.push({ file, line, kind: 'more', message: 'there are more problems from here on' });
  };
  return {
    problems,
    tell(file, line, [kind, message]) {
      if (certain > MAX_PROBLEMS) return;
      certain += 1;
      const problem = { file, line, kind, message };
      if (waiting.length === 0) keep(problem);
      else waiting.push(problem);
    },
    tellLater(file, line, ask) {
      if (certain > MAX_PROBLEMS) return;
      waiting.push(
        ask().then((problem) =>
          problem === null ? null : { file, line, kind: problem[0], message: problem[1] },
        ),
      );
    },
    async settle(missing) {
      while (waiting.length > missing) {
        const problem = await waiting.shift();
        if (problem !== undefined && problem !== null) keep(problem);
      }
    },
  };
}

/** What is wrong with a signed line. `isSigned` is `null` where its key was not given. */
export function signatureProblem(
  what: 'checkpoint' | 'entry',
  isSigned: boolean | null,
): Problem | null {
  if (isSigned === null)
    return ['unknown_key', `the ${what} was signed with a key that was not given`];
  return isSigned ? null : ['signature', `the ${what} was not signed with the key it names`];
}
