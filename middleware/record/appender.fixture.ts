/** A process that records calls to a file until it is killed, or as many as it is told. */

import { composeToolCallers, type Next, ok } from '../../src/index.ts';
import { makeCall } from '../../conformance/test-kit.ts';
import { record } from './record.ts';

const [file = '', name = '', count = '0'] = process.argv.slice(2);
const layer = record({ file });
const stack = composeToolCallers([layer]);
const answer: Next = async (call) =>
  ok(call, name.repeat(1 + (Number(call.toolArgs.index) % 7) * 5_000));

for (let index = 0; index < Number(count); index += 1) {
  await stack(makeCall({ toolName: name, toolArgs: { index } }), answer);
  if (index === 20) console.log('under way');
}
await layer.close?.();
