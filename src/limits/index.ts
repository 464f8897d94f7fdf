/** `allium/limits`: which counter a call takes from, which calls were counted, and how often people are asked. */

export { type CallHistory, callHistory, type HistoryOptions } from './call-history.ts';
export {
  type AdmittedCalls,
  admittedCalls,
  counterKey,
  limitKeyOf,
  type LimitPer,
  type LimitScope,
  scopeOf,
  takeFrom,
  untold,
} from './counted-calls.ts';
export { type LimitedQuestions, limitQuestions } from './limit-questions.ts';
