/** `allium conformance`: judges a stack by scenario files. */

import type { AddCommand } from './io/io.ts';
import type { ConformanceFlags } from './run-conformance.ts';

const EXAMPLES = `
Examples:
  allium conformance                                   the bundled suite on the bundled layers
  allium conformance --filter rate-limit               only scenarios with that in their id or title
  allium conformance ./scenarios --subject ./stack.ts  your scenarios on your own layers
  allium conformance --command "python my_stack.py"    an implementation in another language, asked over stdin and stdout
  allium conformance --junit > report.xml              for a build server
  allium conformance --from run.jsonl > run.yaml       a recording of the record layer as a scenario

Exit codes: 0 all passed, 1 some failed, 2 a scenario or the subject cannot be used.`;

/** Adds the command. */
export const addConformance: AddCommand = (program, io, run) => {
  program
    .command('conformance')
    .description('run scenarios on a stack and say what differs')
    .argument('[path]', 'a scenario file or a folder of them (default: the bundled suite)')
    .option(
      '--subject <module>',
      'a module whose default export is a subject, or { name, factories?, govern? }',
    )
    .option('--command <command>', 'a command that is asked one JSON object a line')
    .option('--filter <text>', 'only scenarios whose id or title has this text')
    .option('--from <recording>', 'print a scenario made from a recording, instead of running any')
    .option(
      '--id <id>',
      'with --from: the id of the scenario (default: recorded.<name of the file>)',
    )
    .option('--title <title>', 'with --from: its title')
    .option('--json', 'print the report as JSON')
    .option('--junit', 'print the report as JUnit XML')
    .option('--tap', 'print the report as TAP')
    .addHelpText('after', EXAMPLES)
    .action((path: string | undefined, flags: ConformanceFlags) =>
      run(async () => (await import('./run-conformance.ts')).runConformance(path, flags, io)),
    );
};
