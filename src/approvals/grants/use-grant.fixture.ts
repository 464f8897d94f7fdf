/**
 * A process that waits until it is told to, uses a grant as often as it can, and says how often
 * that was.
 */

import { fileGrants } from './grant-stores.ts';
import type { GrantQuery } from './grant.ts';

const [dir = '', query = ''] = process.argv.slice(2);
const store = fileGrants({ dir });
// What the test wrote, whole.
const wanted = JSON.parse(query) as GrantQuery;
process.stdout.write('ready\n');
process.stdin.once('data', () => void useAll());

async function useAll(): Promise<void> {
  let uses = 0;
  while ((await store.use(wanted)) !== null) uses += 1;
  process.stdout.write(`${uses}\n`);
  process.exit(0);
}
