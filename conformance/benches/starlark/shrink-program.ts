/** Makes a program that shows something smaller, as long as it still shows it. */

const TOKEN = /\n[ ]*|[ \t]+|\s|\w+|"[^"\n]*"|'[^'\n]*'|[^\s\w]/g;
const MAX_TRIES = 600;

/** Drops lines, then tokens, in ever smaller pieces. `shows` must be true of the source itself. */
export async function shrinkProgram(
  source: string,
  shows: (source: string) => Promise<boolean>,
): Promise<string> {
  const budget = { tries: MAX_TRIES };
  const lines = await dropPieces(source.split('\n'), '\n', shows, budget);
  const tokens = await dropPieces(lines.match(TOKEN) ?? [], '', shows, budget);
  return tokens;
}

async function dropPieces(
  pieces: readonly string[],
  glue: string,
  shows: (source: string) => Promise<boolean>,
  budget: { tries: number },
): Promise<string> {
  let current = pieces;
  for (let size = Math.ceil(current.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < current.length && budget.tries > 0; ) {
      const candidate = current.filter((_, index) => index < at || index >= at + size);
      budget.tries -= 1;
      if (await shows(candidate.join(glue))) current = candidate;
      else at += size;
    }
  }
  return current.join(glue);
}
