import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judged, LISTS, requestOf } from './command-policy.fixture.ts';
import { commandPolicy, type CommandPolicyOptions, inspectCommand } from './command-policy.ts';
import { howMany } from '../../../conformance/how-many.fixture.ts';

const ALLOWED_PARTS = [
  'ls',
  'cat x',
  'echo "$x"',
  'git status',
  "echo 'a; b'",
  'x=1',
  '(ls)',
  '{ ls; }',
  'echo $(ls)',
  'true',
];
const PLAIN_SEPARATORS = [';', ' && ', ' || ', ' | ', '\n', ' ; ', '\n\n', ' \\\n&& '];
const SEPARATORS = [...PLAIN_SEPARATORS, ' & ', ' |& '];
/** Where a command can hide, with `@` for the command. */
const PLACES = [
  ...[
    '@',
    '(@)',
    '{ @; }',
    '! @',
    'echo $(@)',
    'echo "$(@)"',
    'echo `@`',
    'cat <(@)',
    'echo ${x:-$(@)}',
    'cat <<E\n$(@)\nE\n',
    'cat <<< "$(@)"',
  ],
  ...[
    'if @; then ls; fi',
    'if ls; then @; fi',
    'for f in a; do @; done',
    'while @; do ls; done',
    'case a in a) @;; esac',
    'f() { @; }',
    'x=$(@)',
  ],
  ...[
    "bash -c '@'",
    "eval '@'",
    'env @',
    'nohup @',
    'timeout 5 @',
    'xargs @',
    'nice -n 1 @',
    'exec @',
    'time @',
    'coproc @',
    'LC_ALL=C @',
    'PATH=x @',
  ],
];
const HIDDEN = ['rm', 'rm -rf x', '/bin/rm x', 'git push', "r''m x", 'r\\m x', '"rm" x', 'RM x'];

/** What a first attempt would do: the first word of the line, and nothing else. */
const naive = (line: string, { allow = [] }: CommandPolicyOptions): boolean =>
  allow.includes(line.trim().split(/\W+/)[0] ?? '');

describe('commandPolicy', () => {
  it('has no opinion on requests of other kinds', () => {
    const policy = commandPolicy({ deny: ['rm'] });

    for (const kind of [
      'tool.call',
      'filesystem.read',
      'network.connect',
      'custom.command',
    ] as const) {
      expect(policy.evaluate(requestOf({ kind, path: 'rm', host: 'rm' }))).toEqual({
        decision: 'no_opinion',
      });
    }
  });

  it('lets nothing denied through, wherever it hides in allowed commands', () => {
    const part = fc.constantFrom(...ALLOWED_PARTS);
    const hidden = fc
      .tuple(fc.constantFrom(...PLACES), fc.constantFrom(...HIDDEN))
      .filter(([place, command]) => !(place.includes("'") && command.includes("'")));
    const lines = fc.tuple(
      fc.array(fc.tuple(part, fc.constantFrom(...SEPARATORS)), { maxLength: 4 }),
      hidden,
      fc.array(fc.tuple(fc.constantFrom(...SEPARATORS), part), { maxLength: 4 }),
    );

    fc.assert(
      fc.property(lines, ([before, [place, command], after]) => {
        const line =
          before.flat().join('') + place.replace('@', () => command) + after.flat().join('');
        // A here-document followed by an operator on a line of its own cannot be read, and is
        // asked.
        expect(judged(line).decision, line).not.toBe('allow');
        return true;
      }),
      { numRuns: howMany(750, 3_000) },
    );
  });

  it('allows what is composed of allowed commands, and a naive reader cannot tell the two apart', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('ls', 'cat x', 'git status', 'echo $(ls)'), { minLength: 1 }),
        fc.constantFrom(...PLAIN_SEPARATORS),
        (parts, separator) => {
          expect(judged(parts.join(separator)).decision).toBe('allow');
        },
      ),
    );

    expect(naive('ls; rm x', LISTS)).toBe(true);
    expect(judged('ls; rm x').decision).toBe('deny');
  });

  it('takes the strictest verdict over all commands, and its reason', () => {
    expect(judged('ls; unheard; rm x')).toMatchObject({ decision: 'deny', code: 'denied_by_list' });
    expect(judged('ls; unheard')).toMatchObject({
      decision: 'require_approval',
      code: 'not_listed',
    });
    expect(judged('ls')).toEqual({
      decision: 'allow',
      code: 'commands_allowed',
      reason: 'Every command of the line is allowed.',
    });
  });

  it('says which program and what would pass, and no value of an argument', () => {
    const options = { allow: ['ls', 'git status'] };

    expect(judged('curl -H secret-token x', options).reason).toBe(
      '"curl" is not on the list of allowed commands. Allowed: ls, git status.',
    );
    expect(judged('unheard', {}).reason).toBe(
      '"unheard" is not on the list of allowed commands. No command is allowed unasked.',
    );
    expect(judged('/tmp/secret-token/x', options).reason).not.toContain('secret');
    expect(judged('"a secret token"', options).reason).not.toContain('secret');
    for (const line of [
      'ls > secret',
      'secret=1 ls',
      'X=secret ls',
      'cat < /dev/tcp/secret/1',
      'find . -exec secret',
      '$secret',
      'ls "secret',
    ]) {
      expect(judged(line, { allow: ['ls', 'cat', 'find'] }).reason, line).not.toContain('secret');
    }
  });

  it('judges a list of arguments without a shell', () => {
    expect(judged({ argv: ['ls', '; rm x', '$(rm x)', '>', 'x'] })).toMatchObject({
      decision: 'allow',
    });
    expect(judged({ argv: ['rm', 'x'] })).toMatchObject({ decision: 'deny' });
    expect(judged({ argv: ['bash', '-c', 'ls; rm x'] })).toMatchObject({ decision: 'deny' });
    expect(judged({ argv: ['bash', '-c', 'ls'] })).toMatchObject({ decision: 'allow' });
    expect(judged({ argv: ['env', 'PATH=/tmp', 'ls'] })).toMatchObject({
      decision: 'require_approval',
      code: 'variable_set',
    });
    expect(judged({ argv: ['find', '.', '-exec', 'ls', ';'] })).toMatchObject({
      code: 'runs_another_program',
    });
    expect(judged({ argv: ['eval', 'ls'] })).toMatchObject({ decision: 'require_approval' });
    expect(judged({ argv: ['l*'] })).toMatchObject({
      decision: 'require_approval',
      code: 'not_listed',
    });
    expect(judged({ argv: [] })).toMatchObject({ decision: 'require_approval', code: 'empty' });
    expect(judged({ argv: [''] })).toMatchObject({ decision: 'require_approval' });
  });

  it('takes both forms together for what they both run', () => {
    expect(judged({ command: 'ls', argv: ['rm'] })).toMatchObject({ decision: 'deny' });
    expect(judged({ command: 'rm', argv: ['ls'] })).toMatchObject({ decision: 'deny' });
    expect(judged({})).toMatchObject({ decision: 'require_approval', code: 'empty' });
  });

  it('asks for variables in the environment unless they only change how output looks', () => {
    expect(judged({ command: 'ls', env: { LANG: 'C', LC_ALL: 'C', TZ: 'UTC' } })).toMatchObject({
      decision: 'allow',
    });
    for (const name of ['PATH', 'LD_PRELOAD', 'BASH_ENV', 'GIT_SSH', 'anything', '__proto__x']) {
      expect(judged({ command: 'ls', env: { [name]: 'x' } }), name).toMatchObject({
        decision: 'require_approval',
        code: 'variable_set',
      });
    }
  });

  it('asks for a program by relative path where the folder is not the known one', () => {
    expect(judged('./run')).toMatchObject({ decision: 'allow' });
    expect(judged({ command: './run', cwd: '/tmp' })).toMatchObject({
      decision: 'require_approval',
      code: 'relative_program',
    });
    expect(judged({ command: '/usr/bin/id', cwd: '/tmp' })).toMatchObject({ decision: 'allow' });
  });

  it('keeps subcommands apart, and is wide where it refuses', () => {
    const options = { allow: ['git'], deny: ['git push'] };

    expect(judged('git status', options)).toMatchObject({ decision: 'allow' });
    expect(judged('git push', options)).toMatchObject({ decision: 'deny' });
    expect(judged('git --no-pager push', options)).toMatchObject({
      decision: 'require_approval',
      code: 'may_be_denied',
    });
    expect(judged('git "$x"', options)).toMatchObject({
      decision: 'require_approval',
      code: 'may_be_denied',
    });
  });

  it('lets unknown programs be allowed or refused, and never what cannot be read', () => {
    expect(judged('unheard', { unknown: 'allow' })).toMatchObject({ decision: 'allow' });
    expect(judged('unheard', { unknown: 'deny' })).toMatchObject({
      decision: 'deny',
      code: 'not_listed',
    });
    for (const line of ['$x', 'ls )', '', 'ls\r', '[[ x ]]', 'echo $((x))', 'cat < $x']) {
      expect(judged(line, { unknown: 'allow' }), line).toMatchObject({
        decision: 'require_approval',
      });
      expect(judged(line, { allow: ['ls', 'cat', 'echo'], unknown: 'deny' }), line).toMatchObject({
        decision: 'deny',
      });
    }
    for (const line of [
      'ls > x',
      'PATH=x ls',
      'find . -delete',
      'sudo ls',
      'python x',
      'f() { ls; }',
    ]) {
      expect(judged(line, { unknown: 'allow' }), line).toMatchObject({
        decision: 'require_approval',
      });
    }
  });

  it('has a digest that stands for its rules', () => {
    expect(commandPolicy({ allow: ['ls'] }).digest).toBe(
      commandPolicy({ allow: ['ls'], unknown: 'ask' }).digest,
    );
    expect(commandPolicy({ allow: ['ls'] }).digest).not.toBe(
      commandPolicy({ deny: ['ls'] }).digest,
    );
  });

  it.each([
    [{ allow: 'ls' }, 'allow'],
    [{ allow: [''] }, 'allow'],
    [{ allow: ['*'] }, 'allow'],
    [{ allow: ['git *'] }, 'allow'],
    [{ deny: ['rm; ls'] }, 'deny'],
    [{ ask: ["'rm'"] }, 'ask'],
    [{ ask: [' rm'] }, 'ask'],
    [{ unknown: 'no_opinion' }, 'unknown'],
    [{ allowed: ['ls'] }, 'allowed'],
    [null, 'options'],
  ])('refuses to be built from %j', (options, option) => {
    // Wrong on purpose.
    expect(() => commandPolicy(options as CommandPolicyOptions)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }),
    );
    expect(() => commandPolicy(options as CommandPolicyOptions)).toThrow(option);
  });
});

describe('inspectCommand', () => {
  it('lists the programs and the files that redirects write', () => {
    expect(
      inspectCommand({ command: 'ls | sort > out.txt 2>> "$log"; nohup cat $(id); "$x"' }),
    ).toEqual({
      programs: ['ls', 'sort', 'cat', 'nohup', 'id', null],
      writes: ['out.txt', null],
      concerns: ['program_not_literal', 'file_written'],
    });
  });

  it('says what it could not read', () => {
    expect(inspectCommand({ command: 'ls )' }).concerns).toEqual(['shells_differ']);
    expect(inspectCommand({ argv: ['bash', 'x'] }).concerns).toEqual(['runs_another_program']);
  });
});
