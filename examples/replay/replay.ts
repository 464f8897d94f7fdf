/** The answers of a recording, without the tool: in their order, and whatever the order. */

import assert from 'node:assert/strict';
import { composeToolCallers } from 'allium';
import {
  builtinSubject,
  echoExecutor,
  makeCall,
  parseScenario,
  runScenario,
  scenarioFrom,
  testClock,
} from 'allium/conformance';
import { readRecording, replay } from 'allium/middleware';

const file = 'examples/replay/weather.jsonl';
const clock = testClock();
const asked = (city: string, callId: string) =>
  makeCall({ toolName: 'get_weather', toolArgs: { city }, callId });
const tool = echoExecutor();

// #region use
const strict = composeToolCallers([replay({ file })], { clock });

const oslo = await strict(asked('Oslo', 'new-1'), tool);
const paris = await strict(asked('Paris', 'new-2'), tool);

assert.deepEqual(oslo.result, { city: 'Oslo', celsius: 21 });
assert.equal(oslo.toolCallId, 'new-1');
assert.equal(oslo.executed, 'no');
assert.equal(paris.status, 'executor_error');
assert.equal(paris.errorCategory, 'replay_mismatch');
assert.equal(tool.calls.length, 0);
// #endregion use

// #region ordered
const unused: string[] = [];
const answers = replay({
  file,
  mode: 'ordered',
  onMissing: 'pass',
  onUnused: (left) => void unused.push(...left.map(({ toolName }) => toolName)),
});
const ordered = composeToolCallers([answers], { clock });

const bergen = await ordered(asked('Bergen', 'new-3'), tool);
const passed = await ordered(asked('Paris', 'new-4'), tool);
await answers.close?.();

assert.deepEqual(bergen.result, { city: 'Bergen', celsius: 18 });
assert.equal(passed.executed, 'yes');
assert.deepEqual(unused, ['get_weather']);
// #endregion ordered

// #region read
const { calls } = readRecording(file);

assert.deepEqual(
  calls.map(({ line, toolName, answer }) => [line, toolName, answer?.status]),
  [
    [1, 'get_weather', 'ok'],
    [2, 'get_weather', 'ok'],
  ],
);
// #endregion read

// #region scenario
const text = scenarioFrom(readRecording(file), {
  id: 'weather.two-cities',
  title: 'both cities are answered as recorded',
});
const { mismatches } = await runScenario(
  { file, scenario: parseScenario(text, file) },
  builtinSubject,
);

assert.deepEqual(mismatches, []);
// #endregion scenario

console.log(paris.error);
console.log(JSON.stringify(oslo.audit?.layers));
