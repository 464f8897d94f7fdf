/**
 * Programs that look after systems, and programs that developers use, and what makes them run
 * others.
 */

import { words } from '../../system/words.ts';
import type { ProgramRow } from './program-row.ts';

const NETWORK: readonly ProgramRow[] = [
  {
    programs: ['curl'],
    can: 'read options from a file, load an engine or write files',
    short: 'oOKDcJwT',
    long: words(
      'output remote-name config dump-header cookie-jar trace engine libcurl stderr output-dir write-out remote-header-name upload-file hsts alt-svc etag-save unix-socket abstract-unix-socket',
    ),
    asked: 'curl -sSLo x https://a.example',
    passes: 'curl -sS https://a.example',
  },
  {
    programs: ['scp', 'sftp'],
    can: 'start another program to connect with',
    short: 'SoFDJbs',
    asked: 'scp -oProxyCommand=x a b:',
    passes: 'scp a b',
  },
  {
    programs: ['tcpdump', 'tshark', 'dumpcap'],
    can: 'run a program on what it captured, or write files',
    short: 'zwZ',
    long: words('postrotate-command'),
    asked: 'tcpdump -z x',
    passes: 'tcpdump -n',
  },
  {
    programs: ['nmap'],
    can: 'run scripts and write files',
    short: 'Aos',
    long: words('script datadir servicedb versiondb resume stylesheet interactive'),
    asked: 'nmap --script=x y',
    passes: 'nmap -p80 y',
  },
  {
    programs: ['openssl'],
    can: 'load engines, providers and configuration',
    words: words('-engine -provider -provider-path -config -out -writerand -keyform'),
    known: words('version ciphers x509 dgst rand verify list -v'),
    asked: 'openssl dgst -engine x',
    passes: 'openssl version',
  },
  {
    programs: ['ip'],
    can: 'run a program in another namespace or read commands from a file',
    pattern: /^(?:n|ne|net|netn|netns|v|vr|vrf)$/,
    short: 'bnf',
    long: words('batch netns force'),
    words: words('-batch -netns'),
    asked: 'ip netns exec a x',
    passes: 'ip addr',
  },
  {
    programs: words('iptables ip6tables arptables ebtables'),
    can: 'run another loader of modules',
    short: 'M',
    long: ['modprobe'],
    asked: 'iptables --modprobe=x -L',
    passes: 'iptables -L',
  },
];

const SYSTEMS: readonly ProgramRow[] = [
  {
    programs: ['docker', 'podman', 'nerdctl'],
    can: 'run programs in containers, with the rights of their daemon',
    known: words('ps images logs inspect version top port history -v --version'),
    asked: 'docker run x',
    passes: 'docker ps -a',
  },
  {
    programs: ['kubectl', 'oc'],
    can: 'run programs in pods and plugins beside it',
    known: words('get describe logs version explain api-resources api-versions top'),
    asked: 'kubectl exec a -- x',
    passes: 'kubectl get pods',
  },
  {
    programs: ['kubectl', 'oc'],
    can: 'run the login helper of another configuration',
    long: ['kubeconfig'],
    asked: 'kubectl get pods --kubeconfig=x',
    passes: 'kubectl get pods',
  },
  {
    programs: ['gh', 'glab'],
    can: 'run extensions and aliases',
    known: words('pr issue release run workflow label search status version --version'),
    asked: 'gh extension exec x',
    passes: 'gh pr list',
  },
  {
    programs: ['systemctl'],
    can: 'start, stop and edit services',
    known: words(
      'status list-units list-unit-files is-active is-enabled show cat --version --no-pager',
    ),
    short: 'HM',
    long: words('host machine'),
    asked: 'systemctl start x',
    passes: 'systemctl status x',
  },
  {
    programs: ['apt', 'apt-get', 'apt-cache', 'aptitude'],
    can: 'install software and run hooks',
    known: words('list show search policy --version'),
    short: 'oc',
    long: words('option config-file'),
    asked: 'apt install x',
    passes: 'apt show x',
  },
  {
    programs: ['brew'],
    can: 'install software and run code',
    known: words('list info search --version'),
    asked: 'brew install x',
    passes: 'brew list',
  },
  {
    programs: ['dpkg'],
    can: 'install software, run hooks or use another root',
    long: words('pre-invoke post-invoke status-logger root instdir admindir'),
    known: words('-l -L -s -S --list --listfiles --status --search --version'),
    asked: 'dpkg -i x',
    passes: 'dpkg -l',
  },
  {
    programs: ['coreutils'],
    can: 'be any of its programs',
    always: true,
    asked: 'coreutils --coreutils-prog=rm x',
  },
];

/** Programs for networks, machines and packages, and what makes them run others. */
export const PROGRAMS_FOR_SYSTEMS: readonly ProgramRow[] = Object.freeze([...NETWORK, ...SYSTEMS]);

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
