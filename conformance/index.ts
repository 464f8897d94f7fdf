/** The conformance kit: parts to test a layer with, and what every layer promises. Needs no test runner. */

export { hostileThrowables, malformedResults } from './hostile-values.ts';
export type { LayerPromise, LayerSubject } from './layer-contract.ts';
export { LAYER_CONTRACT } from './layer-contract.ts';
export type { EchoExecutor, PartialCall, RecordingSink, TestClock } from './test-kit.ts';
export { echoExecutor, makeCall, recordingSink, settle, testClock } from './test-kit.ts';
