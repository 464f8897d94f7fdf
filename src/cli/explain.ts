/** `allium explain`: what a stack is and what it does to the tools. */

import { writeLine } from './io.ts';
import type { AddCommand } from './run-cli.ts';

/** Draws the stack of a file, or prints it as JSON. */
export const addExplain: AddCommand = (program, io, run) => {
  program
    .command('explain')
    .description('draw the stack: its layers, advice about their order, and what they add to each tool')
    .option('--config <file>', 'the file, or the folder it is in', '.')
    .option('--tool <name>', 'only this tool')
    .option('--json', 'the same as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  allium explain\n  allium explain --tool write_note\n  allium explain --config agent/allium.yaml --json',
    )
    .action((options: { config: string; tool?: string; json?: boolean }) =>
      run(async () => {
        const { loadConfig } = await import('../config/index.ts');
        const config = await loadConfig(options.config, { cwd: io.cwd, env: io.env });
        try {
          const text = options.json === true ? JSON.stringify(config.describe(options.tool), null, 2) : config.explain(options.tool);
          await writeLine(io.stdout, text);
          return 0;
        } finally {
          await config.close();
        }
      }),
    );
};
