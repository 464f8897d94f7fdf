/** `allium/limits`: which counter a call takes from, and which calls and questions were counted. */

export { type CallHistory, callHistory, type HistoryOptions } from './call-history.ts';
export {
  type AdmittedCalls,
  admittedCalls,
  callCounter,
  checkedTaken,
  counterKey,
  type LimitPer,
  type LimitScope,
  scopeOf,
  untold,
} from './counted-calls.ts';
export { type LimitedQuestions, limitQuestions } from './limit-questions.ts';
export { withNote } from './with-note.ts';
