/**
 * `allium/stores`: where layers keep counts, claims and tasks. The ports, and what implements them
 * here.
 */

export type {
  Awaitable,
  Claimed,
  ClaimEnding,
  ClaimRecord,
  ClaimRequest,
  ClaimStore,
} from './claim-store.ts';
export type { CounterStore, Taken, TakeRequest } from './counter-store.ts';
export { type FairEntry, type FairTable, fairTable } from './fair-table.ts';
export { type FileClaims, fileClaims, type FileClaimsOptions } from './files/file-claims.ts';
export { flexibleCounter, type FlexibleLimiter } from './counter-store.ts';
export { memoryClaims, type MemoryClaimsOptions } from './memory/memory-claims.ts';
export {
  type MemoryCounters,
  memoryCounters,
  type MemoryCountersOptions,
} from './memory/memory-counters.ts';
export { memoryTasks, type MemoryTasksOptions } from './memory/memory-tasks.ts';
export type {
  NewTask,
  TaskAnswer,
  TaskEnding,
  TaskRecord,
  TaskState,
  TaskStore,
} from './task-store.ts';
