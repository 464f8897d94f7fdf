/**
 * In tests, what stands for `worker-entry.ts`: threads run JavaScript, and so they run what was
 * built.
 */

import { pathToFileURL } from 'node:url';
import { built } from '../../stores/built.fixture.ts';

export const workerEntry: URL = pathToFileURL(built('src/artifacts/sandbox/worker.ts'));
