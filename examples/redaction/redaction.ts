/** What redaction hides, where, and what it does when it cannot tell. */

import assert from 'node:assert/strict';
import { composeToolCallers, type Next, ok } from 'allium';
import { echoExecutor, makeCall, testClock } from 'allium/conformance';
import { redaction } from 'allium/middleware';

const clock = testClock();

// #region use
const layer = redaction({
  detectors: ['secrets', 'email'],
  paths: ['patient.name'],
  strategies: { email: 'tokenise' },
});
const stack = composeToolCallers([layer], { clock });

const login = makeCall({
  toolName: 'login',
  toolArgs: { url: 'https://ada:hunter2@db.example/app', patient: { name: 'Ada' } },
});
const executor = echoExecutor();
await stack(login, executor);

assert.deepEqual(executor.calls[0]?.toolArgs, {
  url: 'https://ada:[redacted:url-password]@db.example/app',
  patient: { name: '[redacted:path]' },
});
// #endregion use

// #region out
const lookUp: Next = async (call) =>
  ok(call, {
    password: 'hunter2',
    mail: 'ada@example.org',
    again: 'ask ada@example.org, she knows hunter2',
  });
const found = await stack(makeCall({ toolName: 'look_up' }), lookUp);

assert.deepEqual(found.result, {
  password: '[redacted:password]',
  mail: '[token:email:1]',
  again: 'ask [token:email:1], she knows [redacted:password]',
});
assert.ok(!found.observation.includes('hunter2'));
assert.deepEqual(found.audit?.metadata, {
  redactedIn: [],
  redactedOut: ['password', 'mail', 'again'],
});
// #endregion out

console.log(JSON.stringify(found.audit?.layers));

// #region redactor
const custom = composeToolCallers([
  redaction(({ phase, args, result }) => {
    if (phase === 'in') return { args: { ...args, note: '***' }, redactedFields: ['note'] };
    if (result === 'unreadable') throw new Error('cannot say what is in there');
    return {};
  }),
]);

const noted = await custom(makeCall({ toolArgs: { note: 'between us' } }), echoExecutor());
assert.deepEqual(noted.result, { note: '***' });

const withheld = await custom(makeCall(), async (call) => ok(call, 'unreadable'));
assert.equal(withheld.status, 'redacted');
assert.equal(withheld.executed, 'yes');
assert.equal(withheld.result, null);
// #endregion redactor

// #region block
const strict = composeToolCallers([redaction({ strategies: { secrets: 'block' } })]);
const untouched = echoExecutor();
const blocked = await strict(
  makeCall({ toolName: 'send', toolArgs: { body: 'password=hunter2' } }),
  untouched,
);

assert.equal(blocked.status, 'redacted');
assert.equal(
  blocked.error,
  'The call did not run: body holds what must not be passed on. Leave it out.',
);
assert.equal(untouched.calls.length, 0);
// #endregion block
