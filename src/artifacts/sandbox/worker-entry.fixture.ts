/** In tests, what stands for `worker-entry.ts`: threads run JavaScript, so the worker is built first, from the sources as they are. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll } from 'vitest';
import { builtIn } from '../../stores/built.fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'allium-worker-'));
afterAll(() => rmSync(folder, { recursive: true }));

export const workerEntry: URL = pathToFileURL(builtIn(folder, 'src/artifacts/sandbox/worker.ts'));
