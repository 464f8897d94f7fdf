#!/usr/bin/env node
/** The `allium` command. Its version is told before anything else is loaded. */

import { ownVersion } from '../system/own-package.ts';

const [word = '', ...more] = process.argv.slice(2);
if (more.length === 0 && (word === '--version' || word === '-V'))
  process.stdout.on('error', () => {}).write(`${ownVersion()}\n`);
else await (await import('./run-cli.ts')).runProcess();
