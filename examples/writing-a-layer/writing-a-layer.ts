/**
 * A layer from nothing: what it is told, what it refuses, what it writes down, and the contract it
 * keeps.
 */

import assert from 'node:assert/strict';
import { composeToolCallers, defineTool, governTools } from 'allium';
import {
  echoExecutor,
  LAYER_CONTRACT,
  type LayerSubject,
  makeCall,
  testClock,
} from 'allium/conformance';
import {
  AlliumError,
  annotate,
  checkOptions,
  clockOf,
  defineLayer,
  expected,
  matchesTool,
  refuse,
  scrub,
  type ToolCall,
  type ToolLayer,
  type ToolProgress,
  withCall,
  withResult,
} from 'allium/layer';

// #region options
export interface QuietHoursOptions {
  /** Hour the working day begins, in UTC. */
  readonly fromHour: number;
  /** Hour it ends, in UTC; up to 24. */
  readonly untilHour: number;
  /** Names or globs of the tools that keep to the hours. @default every tool */
  readonly only?: readonly string[];
  /** Whether a day (`2026-01-31`) is off. */
  readonly isHoliday?: (day: string) => boolean | Promise<boolean>;
}

const hour = {
  text: 'a whole hour from 0 to 24',
  test: (value: unknown) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 24,
};

function readOptions(options: QuietHoursOptions): Required<QuietHoursOptions> {
  checkOptions('quietHours', options, {
    fromHour: expected.required(hour),
    untilHour: expected.required(hour),
    only: expected.listOf(expected.string),
    isHoliday: expected.function,
  });
  if (options.fromHour >= options.untilHour) {
    throw new AlliumError(
      'ERR_INVALID_OPTION',
      'quietHours: "fromHour" must be before "untilHour"',
      {
        layer: 'quietHours',
        option: 'fromHour',
      },
    );
  }
  return { ...options, only: options.only ?? ['*'], isHoliday: options.isHoliday ?? (() => false) };
}
// #endregion options

// #region layer
/**
 * Refuses calls outside working hours. Does not wait for the morning, and stops nothing that has
 * begun.
 */
export function quietHours(options: QuietHoursOptions): ToolLayer {
  const { fromHour, untilHour, only, isHoliday } = readOptions(options);
  const note = `Works from ${fromHour}:00 to ${untilHour}:00 UTC.`;

  return defineLayer({
    name: 'quietHours',
    order: [
      {
        outsideOf: 'consent',
        level: 'should',
        because: 'inside it, a person is asked about a call that is then refused',
      },
    ],
    schemaTransform: (tool) =>
      !matchesTool(only, tool.name) || tool.description.includes(note)
        ? tool
        : { ...tool, description: `${tool.description} ${note}` },
    async caller(call, next) {
      if (!matchesTool(only, call.toolName)) return next(call);
      const now = new Date(clockOf(call).now());
      // Only a clear "no" opens: an answer that is not understood keeps the door shut.
      const off: unknown = await isHoliday(now.toISOString().slice(0, 10));
      const open = off === false && now.getUTCHours() >= fromHour && now.getUTCHours() < untilHour;
      const details = { status: open ? 'open' : 'closed', hour: now.getUTCHours() };
      return annotate(open ? await next(call) : closed(call, note), {}, details);
    },
  });
}

const closed = (call: ToolCall, note: string) =>
  refuse(
    call,
    'policy_blocked',
    `${call.toolName} is closed now. ${note} Leave it for the morning.`,
  );
// #endregion layer

// #region use
const sendMail = defineTool({
  name: 'send_mail',
  description: 'Sends a mail.',
  inputSchema: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
  execute: ({ to }) => ({ sentTo: to }),
});
const clock = testClock(Date.parse('2026-01-05T07:59:00Z'));
const governed = governTools({
  tools: [sendMail],
  layers: [quietHours({ fromHour: 8, untilHour: 18 })],
  clock,
});

const early = await governed.call({ name: 'send_mail', arguments: { to: 'ada@example.org' } });
assert.equal(early.status, 'policy_blocked');
assert.equal(early.executed, 'no');
assert.deepEqual(early.audit?.layers, [
  {
    name: 'quietHours',
    status: 'closed',
    hour: 7,
    startedAt: '2026-01-05T07:59:00.000Z',
    endedAt: '2026-01-05T07:59:00.000Z',
  },
]);

await clock.advance(60_000);
const onTime = await governed.call({ name: 'send_mail', arguments: { to: 'ada@example.org' } });
assert.equal(onTime.status, 'ok');
assert.equal(governed.tools[0]?.description, 'Sends a mail. Works from 8:00 to 18:00 UTC.');
// #endregion use

// #region fail-closed
const broken = quietHours({
  fromHour: 0,
  untilHour: 24,
  isHoliday: () => Promise.reject(new Error('calendar is down')),
});
const executor = echoExecutor();
const stopped = await composeToolCallers([broken])(makeCall(), executor);

assert.equal(stopped.status, 'tool_middleware_exception');
assert.equal(stopped.executed, 'no');
assert.equal(stopped.audit?.layers[0]?.error, 'calendar is down');
assert.equal(executor.calls.length, 0);
// #endregion fail-closed

// #region rewriting
const mask = (text: string) => text.replace(/key-\d+/g, '[key]');
const masked = <T>(value: T): T => scrub(value, [mask]);

/** Keeps access keys away from the tool, the model, the listeners and the record. */
const maskKeys = defineLayer({
  name: 'maskKeys',
  rewrites: true,
  scrub: mask,
  async caller(call, next) {
    const report = (progress: ToolProgress) => call.report(masked(progress));
    const result = await next(withCall(call, { toolArgs: masked(call.toolArgs), report }));
    return withResult(result, {
      result: masked(result.result),
      content: masked(result.content),
      error: masked(result.error),
    });
  },
});
// #endregion rewriting

const talkative = defineLayer({
  name: 'talkative',
  caller: async (call, next) => annotate(await next(call), { description: 'used key-7' }),
});
const input = makeCall({ toolArgs: { text: 'open with key-7' } });
const answered = await composeToolCallers([maskKeys, talkative])(input, echoExecutor());
assert.equal(answered.renderedResult, '{"text":"open with [key]"}');
assert.equal(answered.audit?.description, 'used [key]');
assert.doesNotMatch(JSON.stringify(answered), /key-7/);

const failed = await composeToolCallers([maskKeys])(makeCall(), () =>
  Promise.reject(new Error('key-7 was refused')),
);
assert.equal(failed.error, '[key] was refused');
assert.doesNotMatch(JSON.stringify(failed), /key-7/);

// #region contract
const subject: LayerSubject = {
  create: () => quietHours({ fromHour: 0, untilHour: 24 }),
  // Wrong on purpose, as a caller in plain JavaScript may be.
  badOptions: [
    () => quietHours({ fromHour: 8 } as QuietHoursOptions),
    () => quietHours({ fromHour: 18, untilHour: 8 }),
    () => quietHours({ fromHour: 8, untilHour: 25 }),
    () => quietHours({ fromHour: 8, untilHour: 18, olny: ['send_*'] } as QuietHoursOptions),
  ],
};

for (const promise of LAYER_CONTRACT) {
  await promise.check(subject);
  await promise.check({ ...subject, create: () => quietHours({ fromHour: 8, untilHour: 18 }) });
  console.log(`✓ quietHours ${promise.name}`);
}
// #endregion contract

await governed.close();
