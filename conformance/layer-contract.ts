/** What every layer promises, as checks that need no test runner. */

import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { ok } from '../src/core/onion/results.ts';
import { completeAnnotations } from '../src/core/contract/annotations.ts';
import type { ToolCall } from '../src/core/contract/call.ts';
import { composeToolCallers } from '../src/core/onion/compose.ts';
import { isAlliumError } from '../src/core/contract/errors.ts';
import {
  defineLayer,
  type Next,
  type ToolLayer,
  type ToolSpec,
} from '../src/core/contract/layer.ts';
import type { ToolResult } from '../src/core/contract/result.ts';
import { hostileThrowables } from './hostile-values.ts';
import { echoExecutor, makeCall, type PartialCall, settle, testClock } from './test-kit.ts';

/** A layer to be judged. */
export interface LayerSubject {
  /** Makes the layer with valid options; called afresh for every check. */
  readonly create: () => ToolLayer;
  /** Calls of the factory with wrong options; every one must throw `ERR_INVALID_OPTION`. */
  readonly badOptions: readonly (() => unknown)[];
  /** A call the layer has something to do with. @default the kit's */
  readonly call?: PartialCall;
}

export interface LayerPromise {
  readonly name: string;
  check(subject: LayerSubject): Promise<void>;
}

/** Each entry is one promise; `check` rejects with what was broken. */
export const LAYER_CONTRACT: readonly LayerPromise[] = Object.freeze([
  { name: 'is a well-formed layer', check: async ({ create }) => void defineLayer(create()) },
  { name: 'answers for the call it was given', check: answersForItsCall },
  { name: 'never mutates the call', check: neverMutates },
  { name: 'keeps concurrent calls apart', check: keepsCallsApart },
  { name: 'never throws, whatever the executor does', check: neverThrows },
  { name: 'never runs the tool for a caller that has gone', check: heedsCancellation },
  { name: 'lets progress through', check: letsProgressThrough },
  { name: 'changes a shown tool the same way twice and never in place', check: transformsPurely },
  { name: 'leaves no timer and no listener behind', check: leavesNothingBehind },
  { name: 'refuses bad options', check: refusesBadOptions },
]);

async function answersForItsCall(subject: LayerSubject): Promise<void> {
  const result = await run(subject, makeCall({ ...subject.call, callId: 'own-id' }));
  assert.equal(result.toolCallId, 'own-id');
  assert.ok(Object.isFrozen(result));
}

async function neverMutates(subject: LayerSubject): Promise<void> {
  const call = makeCall({
    ...subject.call,
    toolArgs: { nested: { list: [1, 2] }, ...subject.call?.toolArgs },
  });
  const before = JSON.stringify(call);
  await run(subject, call);
  assert.equal(JSON.stringify(call), before, 'the call is not what it was');
}

async function keepsCallsApart(subject: LayerSubject): Promise<void> {
  const clock = testClock();
  const caller = composeToolCallers([subject.create()], { clock });
  const slowEcho: Next = async (call) => {
    await settle();
    return ok(call, call.toolArgs);
  };
  const calls = Array.from({ length: 50 }, (_, index) =>
    makeCall({
      ...subject.call,
      callId: `call-${index}`,
      toolArgs: { ...subject.call?.toolArgs, own: `<${index}>` },
    }),
  );
  const results = await Promise.all(calls.map((call) => caller(call, slowEcho)));
  results.forEach((result, index) => {
    assert.equal(result.toolCallId, `call-${index}`, 'a result came back for another call');
    const strangers =
      JSON.stringify(result)
        .match(/<\d+>/g)
        ?.filter((own) => own !== `<${index}>`) ?? [];
    assert.deepEqual(strangers, [], `call ${index} got what belongs to another one`);
    assert.equal(result.audit?.layers.length, 1, 'an audit record holds lines of another call');
  });
}

async function neverThrows(subject: LayerSubject): Promise<void> {
  for (const [name, make] of hostileThrowables) {
    const result = await run(subject, makeCall(subject.call), () => {
      throw make();
    });
    assert.equal(result.toolCallId, 'call-1', `no result for an executor that throws ${name}`);
  }
}

async function heedsCancellation(subject: LayerSubject): Promise<void> {
  const executor = echoExecutor();
  await run(subject, makeCall({ ...subject.call, signal: AbortSignal.abort() }), executor);
  assert.equal(executor.calls.length, 0, 'the tool ran');
}

async function letsProgressThrough(subject: LayerSubject): Promise<void> {
  let told = 0;
  let ran = false;
  await run(
    subject,
    makeCall({ ...subject.call, report: () => void (told += 1) }),
    async (call) => {
      ran = true;
      call.report({ progress: 1, message: 'half way' });
      return ok(call);
    },
  );
  assert.ok(!ran || told === 1, 'progress was swallowed or repeated');
}

async function transformsPurely(subject: LayerSubject): Promise<void> {
  const { schemaTransform } = subject.create();
  if (schemaTransform === undefined) return;
  const tool: ToolSpec = {
    name: 'echo',
    description: 'd',
    inputSchema: { type: 'object', properties: {} },
    annotations: completeAnnotations(),
  };
  const before = JSON.stringify(tool);
  const once = schemaTransform(tool);
  assert.equal(JSON.stringify(tool), before, 'the tool was changed in place');
  if (once !== null)
    assert.equal(
      JSON.stringify(schemaTransform(once)),
      JSON.stringify(once),
      'a second pass changed it again',
    );
}

async function leavesNothingBehind(subject: LayerSubject): Promise<void> {
  const executors: Next[] = [echoExecutor(), () => Promise.reject(new Error('no'))];
  for (const executor of executors) {
    const clock = testClock();
    const controller = new AbortController();
    const layer = subject.create();
    await composeToolCallers([layer], { clock })(
      makeCall({ ...subject.call, signal: controller.signal }),
      executor,
    );
    await layer.close?.();
    assert.equal(clock.pending, 0, 'a timer is left');
    assert.equal(
      getEventListeners(controller.signal, 'abort').length,
      0,
      'a listener is left on the signal',
    );
  }
}

async function refusesBadOptions({ badOptions }: LayerSubject): Promise<void> {
  assert.ok(badOptions.length > 0, 'a subject must name bad options');
  badOptions.forEach((make, index) => {
    assert.throws(
      make,
      (error) => isAlliumError(error, 'ERR_INVALID_OPTION'),
      `bad options ${index + 1} were taken`,
    );
  });
}

const run = (
  subject: LayerSubject,
  call: ToolCall,
  executor: Next = echoExecutor(),
): Promise<ToolResult> =>
  composeToolCallers([subject.create()], { clock: testClock() })(call, executor);
