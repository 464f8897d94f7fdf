import { describe, expect, it } from 'vitest';
import { literalWord } from '../../../src/permissions/command/command-word.ts';
import { compareLines, fuzzShells, judgedLine, type LineJudge } from './fuzz-shells.ts';
import { EXPECTED_SHELLS, openShells } from './run-in-shells.ts';
import { howMany } from '../../how-many.fixture.ts';

const runner = openShells();
const absent = runner.missing.filter((name) => EXPECTED_SHELLS.includes(name));
runner.close();
if (absent.length > 0)
  process.stderr.write(
    `lines are not run in ${absent.join(', ')}: apt-get install dash busybox mksh yash\n`,
  );

/**
 * Reads a line as the policy does, after what one shell makes of one sign was taken for what all of
 * them do.
 */
const believing =
  (sign: string | RegExp, meaning: string): LineJudge =>
  (line) =>
    judgedLine(line.replace(sign, meaning));

/** What a first attempt would do: separators, then blanks. */
const splitting: LineJudge = (line) => {
  const commands = line.split(/&&|\|\||[;|\n]/).map((part) => part.trim().split(/\s+/));
  return commands.every(([program = '']) => /^p[abcf]$/.test(program))
    ? commands.map((words) => words.map(literalWord))
    : null;
};

describe('fuzzShells', () => {
  it('has every shell that lines are to be compared in', () => {
    expect(process.env.CI === 'true' ? absent : []).toEqual([]);
  });

  it('finds no shell that runs something else than was judged', { timeout: 120_000 }, () => {
    // Ends by itself on a busy machine, with fewer lines.
    const figures = fuzzShells({ seed: 20_260_101, lines: howMany(120, 400), seconds: 8 });

    expect(figures.differences).toEqual([]);
    expect(figures.allowed).toBeGreaterThanOrEqual(50);
    expect(figures.judged).toBeGreaterThan(figures.allowed);
    for (const { started } of Object.values(figures.shells))
      expect(started).toBeGreaterThan(figures.allowed / 2);
  });

  it.each<[string, LineJudge, string]>([
    ['words that are split at blanks', splitting, "pa 'b c' $(px)"],
    ['braces', believing('{a,b}', 'a b'), 'pa {a,b}'],
    ["$'…'", believing("$'", "'"), "pa $'a b'"],
    ["\\' inside $'…'", believing("$'\\' ; px #'", "'a'"), "pa $'\\' ; px #'"],
    ['&>', believing('&>', '>'), 'pf &> /dev/null && pb'],
    ['>&', believing('>& f3', '2>&1'), 'pa >& f3'],
    ['|&', believing('|&', '|'), 'pa |& pb'],
    ['a quote inside "${x-…}"', believing(/"\$\{q-.*\}"/, '"$q"'), `pa "\${q-'}"; px; pa "'}"`],
    ['$[', believing('$[1]', 'b'), 'pa $[1]'],
    ['two digits before a redirection', believing('10>', '>'), 'pa 10>/dev/null'],
    ['function', believing(/function.*/, 'pb'), 'pa; function px { pb; }; px'],
    ['[[', believing(/\[\[.*\]\]/, 'pa'), '[[ a ]] && pb'],
    ['<<<', believing('<<< b', '< f1'), 'pa <<< b'],
    ['a home folder behind "="', believing('=~', '=/nowhere'), 'pa x=~'],
    ['+=', believing('q+=1', 'q=1'), 'q+=1 || pb'],
    ['a backslash at the end', believing(/\\$/, ''), 'pa b \\'],
    ['test with numbers', believing(/\[ .* \]/, 'pa'), "[ 'a[$(px)]' -eq 0 ]"],
  ])('finds a judge that believes one shell about %s', (_name, judge, line) => {
    expect(judge(line)).not.toBeNull();
    expect(compareLines([line], judge).differences).not.toEqual([]);
    expect(judgedLine(line)).toBeNull();
  });

  it('finds a judge that lets a file be written', () => {
    const { differences } = compareLines(['pa > f3'], believing('> f3', '> /dev/null'));

    expect(differences[0]).toContain('writes a file');
    expect(judgedLine('pa > f3')).toBeNull();
  });
});
