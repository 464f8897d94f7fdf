/**
 * A process that waits until it is told to, pins a tool of its own making, and says what is pinned
 * then.
 */

import { filePins } from './pin-stores.ts';
import { toolOf } from './pins.fixture.ts';
import { reconcilePins } from './judge-definition.ts';

const [dir = '', description = ''] = process.argv.slice(2);
const store = filePins({ dir });
process.stdout.write('ready\n');
process.stdin.once('data', () => void pin());

async function pin(): Promise<void> {
  const seen = {
    source: 'files',
    tools: [toolOf({ description })],
    pinsNew: true,
    listed: null,
    now: Date.now(),
  };
  const book = await store.update('files', (before) => reconcilePins(before, seen));
  process.stdout.write(`${book?.pins[0]?.definition.description}\n`);
  process.exit(0);
}
