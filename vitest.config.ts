import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Where CI wants the counts. */
const report = process.env.ALLIUM_TEST_REPORT;

export default defineConfig({
  resolve: {
    alias: [
      { find: /^allium$/, replacement: here('src/index.ts') },
      { find: /^allium\/middleware$/, replacement: here('middleware/index.ts') },
      { find: /^allium\/middleware\/(.*)$/, replacement: here('middleware/$1/$1.ts') },
      { find: /^allium\/receipts$/, replacement: here('src/receipts/index.ts') },
      { find: /^allium\/otel$/, replacement: here('src/otel/index.ts') },
      { find: /^allium\/config$/, replacement: here('src/config/index.ts') },
      { find: /^allium\/artifacts$/, replacement: here('src/artifacts/index.ts') },
      { find: /^allium\/mcp$/, replacement: here('src/mcp/index.ts') },
      { find: /^allium\/host-bridge$/, replacement: here('src/executors/host-bridge/index.ts') },
      { find: /^allium\/acp$/, replacement: here('src/adapters/acp/index.ts') },
      { find: /^allium\/a2a$/, replacement: here('src/adapters/a2a/index.ts') },
      // Threads cannot run the sources as they are.
      { find: /^\.\/worker-entry\.ts$/, replacement: here('src/artifacts/sandbox/worker-entry.fixture.ts') },
      { find: /^allium\/conformance$/, replacement: here('conformance/index.ts') },
    ],
  },
  test: {
    include: ['{src,middleware,conformance,examples,docs}/**/*.test.ts'],
    testTimeout: 60_000,
    // Many tests wait for processes of their own: one at a time would leave most of a machine idle.
    maxWorkers: 2,
    ...(report === undefined ? {} : { reporters: ['default', 'json'], outputFile: { json: report } }),
  },
});
