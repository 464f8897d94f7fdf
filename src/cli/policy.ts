/** `allium policy`: what there is to ask of policies. */

import type { AddCommand } from './run-cli.ts';
import type { PolicyTestFlags } from './policy-test.ts';

const EXAMPLES = `
Examples:
  allium policy test policies/*.test.yaml
  allium policy test files.yaml --require-coverage
  allium policy test files.yaml --json | jq .untested

A file holds a policy and the cases it is held to:
  policy:
    policies:
      - rulesPolicy:
          rules:
            - { id: workspace, decision: allow, tool: 'fs_*', when: 'args.path.startsWith("/work/")' }
  cases:
    - { name: reads in the workspace, request: { tool: fs_read, args: { path: /work/a } }, expect: allow, code: workspace }
    - { name: says nothing elsewhere, request: { tool: fs_read, args: { path: /etc/passwd } }, expect: no_opinion }

Exit codes: 0 all cases passed, 1 some failed (or a rule is untested, with --require-coverage), 2 usage or a file that cannot be used.`;

/** Adds the command with its subcommand. */
export const addPolicy: AddCommand = (program, io, run) => {
  const group = program
    .command('policy')
    .description('hold policies to what they are meant to say')
    .helpCommand(false);
  group
    .command('test')
    .description(
      'ask a policy about cases, and say which come out otherwise and which rules no case is about',
    )
    .argument('<fixtures...>', 'YAML or JSON files with a policy and cases')
    .option('--require-coverage', 'a rule that decides no case is a finding')
    .option('--json', 'print the report as JSON')
    .addHelpText('after', EXAMPLES)
    .action((files: readonly string[], flags: PolicyTestFlags) =>
      run(async () => (await import('./policy-test.ts')).policyTest(files, flags, io)),
    );
};
