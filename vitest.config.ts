import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Where CI wants the counts. */
const report = process.env.ALLIUM_TEST_REPORT;

/**
 * Take longest, the longest first. Whoever starts one of them last waits for it with one core idle.
 */
const LONG = [
  'conformance/benches/mcp/proxy.test.ts',
  'conformance/suite.test.ts',
  'src/cli/call-resume.test.ts',
  'conformance/benches/fuzz/fuzz-policies.test.ts',
  'src/cli/config-commands.test.ts',
  'conformance/orders.test.ts',
  'src/cli/proxy/proxy.test.ts',
  'src/cli/terminal.test.ts',
  'src/cli/conformance.test.ts',
  'conformance/benches/fuzz/fuzz-onion.test.ts',
  'src/cli/validate.test.ts',
  'src/cli/serve.test.ts',
  'conformance/benches/fuzz/fuzz-dispatch.test.ts',
  'src/cli/receipts/receipts.test.ts',
  'middleware/idempotency/idempotency-crash.test.ts',
  'src/mcp/proxy/pitfalls-processes.test.ts',
  'src/dispatch/resume/stale-approvals.test.ts',
  'conformance/benches/fuzz/jail-race.test.ts',
  'src/tools/schema/formats.test.ts',
  'src/dispatch/fault-injection.test.ts',
  'conformance/benches/mcp/peers.test.ts',
];

/**
 * A clean checkout has no durations to go by: the long files are named here. Vitest takes nothing
 * but a class.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const others = await super.sort(files);
    const long = LONG.flatMap((path) => others.filter(({ moduleId }) => moduleId === here(path)));
    return [...long, ...others.filter((file) => !long.includes(file))];
  }
}

export default defineConfig({
  resolve: {
    alias: [
      { find: /^allium$/, replacement: here('src/index.ts') },
      { find: /^allium\/layer$/, replacement: here('src/layer.ts') },
      { find: /^allium\/policy$/, replacement: here('src/policy/index.ts') },
      { find: /^allium\/stores$/, replacement: here('src/stores/index.ts') },
      { find: /^allium\/middleware$/, replacement: here('middleware/index.ts') },
      { find: /^allium\/middleware\/(.*)$/, replacement: here('middleware/$1/$1.ts') },
      { find: /^allium\/receipts$/, replacement: here('src/receipts/index.ts') },
      { find: /^allium\/redaction$/, replacement: here('src/redaction/index.ts') },
      { find: /^allium\/telemetry$/, replacement: here('src/telemetry/index.ts') },
      { find: /^allium\/handoff$/, replacement: here('src/handoff/index.ts') },
      { find: /^allium\/hooks$/, replacement: here('src/hooks/index.ts') },
      { find: /^allium\/consent$/, replacement: here('src/consent/index.ts') },
      { find: /^allium\/otel$/, replacement: here('src/telemetry/otel/index.ts') },
      { find: /^allium\/config$/, replacement: here('src/config/index.ts') },
      { find: /^allium\/artifacts$/, replacement: here('src/artifacts/index.ts') },
      { find: /^allium\/mcp$/, replacement: here('src/mcp/index.ts') },
      { find: /^allium\/host-bridge$/, replacement: here('src/executors/host-bridge/index.ts') },
      { find: /^allium\/acp$/, replacement: here('src/adapters/acp/index.ts') },
      { find: /^allium\/a2a$/, replacement: here('src/adapters/a2a/index.ts') },
      // Threads cannot run the sources as they are.
      {
        find: /^\.\/worker-entry\.ts$/,
        replacement: here('src/artifacts/sandbox/worker-entry.fixture.ts'),
      },
      { find: /^allium\/conformance$/, replacement: here('conformance/index.ts') },
    ],
  },
  test: {
    include: ['{src,middleware,conformance,examples,docs}/**/*.test.ts'],
    testTimeout: 60_000,
    // A process loads what tests share once, not once a file. A test puts back what it changes
    // about its process.
    isolate: false,
    globalSetup: [here('conformance/built-first.fixture.ts')],
    setupFiles: [here('conformance/patient-waits.fixture.ts')],
    // Many tests wait for processes of their own: one at a time would leave most of a machine idle.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    ...(report === undefined
      ? {}
      : { reporters: ['default', 'json'], outputFile: { json: report } }),
  },
});
