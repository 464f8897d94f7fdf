/** One worker thread, seen from the main side. */

import { Worker } from 'node:worker_threads';
import type { FromWorker, HostAnswer, Job, WorkerSetup } from './protocol.ts';
import { workerEntry } from './worker-entry.ts';

/** Who has a worker hears what it says, and how it ends if it ends by itself. */
interface WorkerUser {
  heard(message: FromWorker): void;
  lost(kind: 'memory' | 'crashed'): void;
}

export interface ScriptWorker {
  /** Whether it has said that it can be given jobs. It may be given one before. */
  readonly isReady: boolean;
  /** While a worker is in use it keeps the process alive. */
  give(job: Job, user: WorkerUser): void;
  answer(answer: HostAnswer): void;
  /** Nobody listens to it any more. */
  release(): void;
  terminate(): Promise<void>;
}

interface WorkerLimits {
  readonly heapMb: number;
}

/**
 * Starts a thread that has neither the environment nor the streams nor the flags of this process.
 * Its limits of memory are the last line: the language counts what it makes, and stops before.
 */
export function startWorker({ heapMb }: WorkerLimits, onGone: () => void): ScriptWorker {
  const setup: WorkerSetup = { bell: new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT) };
  const bell = new Int32Array(setup.bell);
  const worker = openThread(setup, heapMb);
  let user: WorkerUser | null = null;
  let isReady = false;
  let isGone = false;
  const gone = (kind: 'memory' | 'crashed'): void => {
    if (isGone) return;
    isGone = true;
    onGone();
    user?.lost(kind);
  };
  worker.on('message', (message: FromWorker) => {
    if (message.type === 'ready') isReady = true;
    user?.heard(message);
  });
  worker.on('error', (error) =>
    gone('code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'crashed'),
  );
  worker.on('exit', () => gone('crashed'));
  worker.unref();
  return {
    get isReady() {
      return isReady;
    },
    give(job, next) {
      user = next;
      worker.ref();
      worker.postMessage(job);
    },
    answer(answer) {
      worker.postMessage(answer);
      Atomics.store(bell, 0, 1);
      Atomics.notify(bell, 0);
    },
    release() {
      user = null;
      worker.unref();
    },
    async terminate() {
      user = null;
      await worker.terminate();
    },
  };
}

/** Without the environment, the streams and the flags of this process. */
function openThread(workerData: WorkerSetup, heapMb: number): Worker {
  return new Worker(workerEntry, {
    workerData,
    env: {},
    argv: [],
    execArgv: [],
    stdin: false,
    stdout: true,
    stderr: true,
    name: 'allium-script',
    resourceLimits: {
      maxOldGenerationSizeMb: heapMb,
      maxYoungGenerationSizeMb: 16,
      stackSizeMb: 4,
    },
  });
}
