/** How this command was started, for configurations that start it again. */

import type { Started } from '../proxy/client-config/index.ts';
import { ownCommand, ownVersion } from '../system/own-package.ts';
import type { CliIo } from './io.ts';

export const startedFrom = ({ env }: CliIo): Started => ({
  node: process.execPath,
  script: ownCommand(),
  version: ownVersion(),
  path: env.PATH,
});
