/**
 * The program of a worker: takes one job after another, and sleeps while the main side does
 * something for it.
 */

import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import type { FromWorker, HostAnswer, Job, WorkerSetup } from './protocol.ts';
import { runJob } from './run-job.ts';

// Only ever started as a worker, with what the main side made for it.
const port = parentPort as NonNullable<typeof parentPort>;
const bell = new Int32Array((workerData as WorkerSetup).bell);

const say = (message: FromWorker): void => port.postMessage(message);

/**
 * The main side puts its answer into the port and rings then: once this wakes up, the answer is
 * there.
 */
function ask(host: number, args: readonly unknown[], kwargs: object): HostAnswer {
  Atomics.store(bell, 0, 0);
  say({ type: 'call', host, args, kwargs });
  Atomics.wait(bell, 0, 0);
  // While a job runs, the main side says nothing but answers.
  return receiveMessageOnPort(port)?.message as HostAnswer;
}

port.on('message', (job: Job) => {
  say(runJob(job, { print: (text) => say({ type: 'print', text }), ask }));
});
say({ type: 'ready' });
