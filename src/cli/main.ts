#!/usr/bin/env node
/** The `allium` command. */

import { runProcess } from './run-process.ts';

await runProcess();
