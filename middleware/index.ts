/** The bundled layers. Each is also at `allium/middleware/<kebab-name>`. */

export type { DryRunOptions } from './dry-run/dry-run.ts';
export { dryRun } from './dry-run/dry-run.ts';
export type { SummaryFormat } from './summary/summary.ts';
export { summary } from './summary/summary.ts';
export type { TimeoutOptions } from './timeout/timeout.ts';
export { timeout } from './timeout/timeout.ts';
