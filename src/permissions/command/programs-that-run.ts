/**
 * Programs that run others when they are told to by an option, a subcommand or a script. What a row
 * names is asked, also where the program is allowed. The list cannot be complete: a program that is
 * not in it is as dangerous as its options make it.
 */

import type { ProgramRow } from './program-row.ts';
import { PROGRAMS_FOR_DEVELOPMENT, PROGRAMS_FOR_SYSTEMS } from './programs-for-systems.ts';
import { PROGRAMS_FOR_FILES, PROGRAMS_FOR_TEXT } from './programs-for-files.ts';

const ROWS: readonly (readonly [programs: string, can: string])[] = [
  ['python pypy ipython jython', 'run any code'],
  ['node nodejs deno bun ts-node tsx', 'run any code'],
  ['perl ruby irb php lua luajit tclsh wish expect', 'run any code'],
  [
    'rscript julia guile scheme racket clojure groovy scala kotlin java jshell erl elixir iex ghci runghc ocaml sbcl',
    'run any code',
  ],
  ['osascript pwsh powershell cmd cscript wscript', 'run any code'],
  [
    'zsh ksh mksh fish csh tcsh nu xonsh elvish rc es yash posh',
    'run any line, in a language that is not read here',
  ],
  ['npx pnpx bunx uvx yarnx', 'download and run packages'],
  [
    'make gmake bmake ninja cmake meson scons bazel buck just rake ant tox nox invoke earthly',
    'run what a file of the project says',
  ],
  [
    'vi vim view nvim ex rvim vimdiff gvim emacs emacsclient ed nano pico joe micro code',
    'run commands from within an editor',
  ],
  [
    'gdb lldb strace ltrace perf valgrind dtrace bpftrace rr',
    'run a program under observation, and code of its own',
  ],
  [
    'sudo doas su runuser pkexec gosu setpriv capsh sg newgrp',
    'run a program with the rights of somebody else',
  ],
  [
    'chroot unshare nsenter bwrap firejail proot fakeroot systemd-nspawn machinectl',
    'run a program in another root or namespace',
  ],
  [
    'ssh rsh rlogin telnet mosh sshpass autossh',
    'run programs on other machines and for the connection',
  ],
  [
    'watch entr watchexec nodemon inotifywait parallel flock script scriptreplay unbuffer hyperfine',
    'run a line again and again',
  ],
  [
    'systemd-run start-stop-daemon daemonize at batch cron crontab anacron launchctl service init run-parts',
    'run a program later or elsewhere',
  ],
  ['tmux screen dtach abduco', 'run a program in another terminal'],
  ['busybox toybox', 'be any of their programs'],
  [
    'taskset chrt numactl setarch linux32 linux64 cgexec prlimit softlimit chpst envdir direnv dotenv cross-env',
    'run a program with other limits or variables',
  ],
  ['nc ncat netcat socat', 'connect a program to the network'],
  ['wget aria2c', 'write what it downloads, and run a helper'],
  [
    'psql mysql mariadb sqlite3 sqlite mongosh redis-cli',
    'run shell commands and write files from its scripts',
  ],
  [
    'ldd ld.so ld-linux.so ld-linux-x86-64.so ld-linux-aarch64.so ld-musl-x86_64.so',
    'run the program it is given',
  ],
  [
    'tex latex pdftex pdflatex xelatex lualatex gs m4 dc gnuplot rpm rpmbuild',
    'run shell commands from its input',
  ],
  [
    'torify torsocks proxychains proxychains4 faketime eatmydata catchsegv rlwrap xvfb-run dbus-run-session dbus-launch xinit startx ssh-agent run0 sshfs aa-exec multitime',
    'run a program in other surroundings',
  ],
  [
    'xterm urxvt gnome-terminal konsole alacritty kitty wezterm tmate byobu ttyd asciinema',
    'run a program in a terminal of its own',
  ],
  [
    'nix nix-shell nix-build guix opam asdf mise pyenv rbenv nvm rustup rustc dune xcrun xcodebuild msbuild adb ctest pre-commit lerna nx turbo task doit fab puppet salt chef',
    'run tools, builds and scripts of a project',
  ],
  ['yum dnf zypper pacman apk snap flatpak emerge port', 'install software and run its scripts'],
  [
    'lynx w3m links elinks mail mailx mutt vipw vigr visudo msgexec msgfilter ctags restic pidstat logrotate',
    'run a helper that it is told',
  ],
  [
    'sqlplus duckdb ffmpeg ffprobe xmllint xsltproc svn hg bzr gpg gpg2',
    'run helpers or scripts, or write files, when it is told to',
  ],
  ['open xdg-open start run-mailcap see sensible-browser', 'start whatever opens a file'],
  [
    'terraform tofu ansible ansible-playbook vagrant helm pulumi packer',
    'run programs for what it sets up',
  ],
  ['mount umount insmod modprobe ldconfig update-alternatives', 'change what every program gets'],
  [
    'alias unalias source . trap enable disable hash rehash unhash bind bindkey complete compgen compopt fc hist history r builtin login redirect stop suspend emulate zmodload sched',
    'change which program a name stands for, or run one later',
  ],
  [
    'declare typeset local readonly export unset set shopt setopt unsetopt let read mapfile readarray getopts global array vared integer float nameref private compound enum autoload functions unfunction limit unlimit',
    'set variables and options that later commands depend on',
  ],
];

/** Rows that hold for every argument. The sample is the first program of each. */
const PROGRAMS_THAT_ALWAYS_RUN: readonly ProgramRow[] = Object.freeze(
  ROWS.map(([programs, can]) => {
    const names = programs.split(' ');
    return Object.freeze({
      programs: Object.freeze(names),
      can,
      always: true as const,
      asked: `${names[0] ?? ''} x`,
    });
  }),
);

/** Every row. A program may have several. */
export const PROGRAMS_THAT_RUN: readonly ProgramRow[] = Object.freeze([
  ...PROGRAMS_FOR_FILES,
  ...PROGRAMS_FOR_TEXT,
  ...PROGRAMS_FOR_DEVELOPMENT,
  ...PROGRAMS_FOR_SYSTEMS,
  ...PROGRAMS_THAT_ALWAYS_RUN,
]);
