#!/usr/bin/env node
/** The `allium` command. */

import { runCli } from './run-cli.ts';

const interrupted = new AbortController();
// The first Ctrl-C asks; the second one is the system's own, which ends the process.
process.once('SIGINT', () => interrupted.abort());
process.once('SIGTERM', () => interrupted.abort());
// A reader that has seen enough (`| head`) is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const { stdin, stdout, stderr, env } = process;
process.exitCode = await runCli(process.argv.slice(2), { stdin, stdout, stderr, env, cwd: process.cwd(), signal: interrupted.signal });
