/** Programs of developers, and what makes them run others. */

import type { ProgramRow } from './program-row.ts';
import { words } from '../../system/words.ts';

/** Rows; the reader of the table is `fitsRow`. */
export const PROGRAMS_FOR_DEVELOPMENT: readonly ProgramRow[] = Object.freeze([
  {
    programs: ['git'],
    can: 'run aliases, hooks, helpers and whatever the configuration of another repository names',
    known: words(
      '--no-pager -P --version -v --help -h --no-optional-locks --literal-pathspecs status log diff show branch tag rev-parse rev-list ls-files ls-tree ls-remote cat-file blame describe shortlog reflog stash add rm mv restore reset commit checkout switch fetch pull push merge cherry-pick revert remote merge-base name-rev for-each-ref show-ref symbolic-ref check-ignore count-objects diff-tree diff-index diff-files whatchanged grep version init clean apply notes',
    ),
    asked: 'git -c core.pager=x log',
    passes: 'git --no-pager log --oneline',
  },
  {
    programs: ['git'],
    can: 'be given programs for transport, comparing and editing, or a file to write',
    long: words(
      'upload-pack receive-pack exec ext-diff textconv open-files-in-pager template output config strategy edit-description',
    ),
    short: 'O',
    pattern: /::/,
    asked: 'git fetch --upload-p=x origin',
    passes: 'git fetch origin',
  },
  {
    programs: ['npm', 'cnpm'],
    can: 'run scripts of the project and of packages',
    known: words(
      'ls list ll view info outdated search ping whoami root prefix help explain why fund -v --version',
    ),
    asked: 'npm run x',
    passes: 'npm ls',
  },
  {
    programs: ['npm', 'pnpm', 'yarn'],
    can: 'be given another shell or configuration',
    long: words(
      'script-shell userconfig globalconfig node-options prefix dir cwd shell git editor viewer browser pager init-module',
    ),
    short: 'C',
    asked: 'npm ls --userconfig=x',
    passes: 'npm ls',
  },
  {
    programs: ['pnpm'],
    can: 'run scripts of the project and of packages',
    known: words('ls list ll why outdated root bin licenses -v --version'),
    asked: 'pnpm exec x',
    passes: 'pnpm why a',
  },
  {
    programs: ['yarn', 'yarnpkg'],
    can: 'run scripts of the project and of packages',
    known: words('list info why licenses -v --version'),
    asked: 'yarn x',
    passes: 'yarn why a',
  },
  {
    programs: ['pip', 'pipx', 'uv', 'conda', 'poetry'],
    can: 'run code of packages',
    known: words('list show freeze check help -V --version'),
    asked: 'pip install x',
    passes: 'pip list',
  },
  {
    programs: ['pip', 'uv', 'poetry'],
    can: 'be given another interpreter, proxy or configuration',
    long: words('python log config directory project'),
    asked: 'pip list --python=x',
    passes: 'pip list',
  },
  {
    programs: ['cargo'],
    can: 'build and run code, also from subcommands anybody can install',
    known: words('search version help -V --version'),
    asked: 'cargo run',
    passes: 'cargo --version',
  },
  {
    programs: ['go'],
    can: 'build and run code',
    known: words('version help'),
    asked: 'go run x',
    passes: 'go version',
  },
  {
    programs: words('gem bundle composer mix rebar stack cabal dotnet swift mvn gradle'),
    can: 'run code of packages and projects',
    known: words('help -v --version'),
    asked: 'bundle exec x',
    passes: 'bundle --version',
  },
  {
    programs: words('cc gcc g++ c++ clang clang++ cpp ld gold lld'),
    can: 'be given a wrapper, a plugin or other tools',
    words: words('-wrapper -load -Xclang -Xlinker -plugin'),
    pattern: /^(?:-f(?:pass-)?plugin|-B|--?specs|@|-fuse-ld|-Wl,|--ld-path|--prefix|--driver)/,
    asked: 'gcc -wrapper x a.c',
    passes: 'gcc -c a.c',
  },
  {
    programs: words('nm ar ranlib strip objdump objcopy readelf'),
    can: 'load a plugin or read options from a file',
    long: ['plugin'],
    pattern: /^@/,
    asked: 'nm --plugin=x a',
    passes: 'nm a',
  },
  {
    programs: words(`
      eslint prettier jest mocha vitest pytest py.test stylelint tsc mypy ruff
    `),
    can: 'load code it is pointed at',
    short: 'crpf',
    long: words(
      'config require plugin rulesdir parser resolve-plugins-relative-to rootdir root globalSetup setupFiles runner reporter environment format import loader confcutdir project',
    ),
    asked: 'eslint --rulesdir=x y',
    passes: 'eslint y',
  },
  {
    programs: ['pandoc'],
    can: 'run filters and write files',
    short: 'FLo',
    long: words('filter lua-filter output pdf-engine defaults extract-media to from'),
    asked: 'pandoc -F x y',
    passes: 'pandoc y',
  },
]);
