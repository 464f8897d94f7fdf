/** Builds the worker of scripts once for all tests, and takes it away after the last: a test file cannot, where its first script runs in a test. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { builtIn } from '../../stores/built.fixture.ts';

declare module 'vitest' {
  interface ProvidedContext {
    scriptWorker: string;
  }
}

export default function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'allium-worker-'));
  project.provide('scriptWorker', builtIn(folder, 'src/artifacts/sandbox/worker.ts'));
  return () => rmSync(folder, { recursive: true, force: true });
}
