/** A process that takes a lock and keeps it until it is killed. */

import { takeLock } from '../system/writer-lock.ts';

const [path = ''] = process.argv.slice(2);
console.log(takeLock(path) === null ? 'taken' : 'held');
setInterval(() => {}, 1000);
