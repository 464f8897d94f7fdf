/**
 * The conformance kit: parts to test a layer with, and what every layer promises. Needs no test
 * runner.
 */

export { hostileThrowables, malformedResults } from './hostile-values.ts';
export type { LayerPromise, LayerSubject } from './layer-contract.ts';
export { LAYER_CONTRACT } from './layer-contract.ts';
export type { EchoExecutor, PartialCall, RecordingSink, TestClock } from './test-kit.ts';
export { echoExecutor, makeCall, recordingSink, settle, testClock } from './test-kit.ts';
export type { SubjectOptions } from './scenarios/create-subject.ts';
export { builtinSubject, createSubject } from './scenarios/create-subject.ts';
export type { CommandSubjectOptions } from './scenarios/command-subject.ts';
export { commandSubject } from './scenarios/command-subject.ts';
export type { TestFunctions } from './scenarios/describe-scenarios.ts';
export { describeScenarios } from './scenarios/describe-scenarios.ts';
export type { ScenarioFromOptions } from './scenarios/from-recording.ts';
export { scenarioFrom } from './scenarios/from-recording.ts';
export type { LoadedScenario } from './scenarios/load-scenarios.ts';
export { loadScenarios, parseScenario } from './scenarios/load-scenarios.ts';
export type { Mismatch } from './scenarios/match.ts';
export type { ReportFormat } from './scenarios/render-report.ts';
export { renderReport } from './scenarios/render-report.ts';
export type { RunOptions, ScenarioResult, SuiteReport } from './scenarios/run-scenarios.ts';
export { runScenario, runScenarios } from './scenarios/run-scenarios.ts';
export type {
  CallStep,
  FinalExpectation,
  Scenario,
  ScenarioHost,
  ScenarioTool,
  Setup,
  Step,
} from './scenarios/scenario.ts';
export { SCENARIO_SCHEMA } from './scenarios/scenario-schema.ts';
export { serveSubject } from './scenarios/serve-subject.ts';
export type { Reply, Subject, SubjectSession, Traces } from './scenarios/subject.ts';
export { suiteFolder } from './scenarios/suite-folder.ts';
