/** `allium/limits`: which counter a call takes from, and which calls and questions were counted. */

export { type CallHistory, callHistory, type HistoryOptions } from './call-history.ts';
export {
  type AdmittedCalls,
  admittedCalls,
  callCounter,
  checkedTaken,
  counterKey,
  type LimitedQuestions,
  type LimitPer,
  limitQuestions,
  type LimitScope,
  scopeOf,
  untold,
} from './counted-calls.ts';
export { withNote } from './with-note.ts';
