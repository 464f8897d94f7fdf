/** In tests, what stands for `worker-entry.ts`: threads run JavaScript, so the worker was built first, from the sources as they are. */

import { pathToFileURL } from 'node:url';
import { inject } from 'vitest';

export const workerEntry: URL = pathToFileURL(inject('scriptWorker'));
