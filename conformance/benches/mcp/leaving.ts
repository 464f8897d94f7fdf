/** Behaviours in which somebody does not wait for the end: the stack, or the client. */

import { ASK, type Behaviour, expectEffects, type Find, isResult, ORIGINAL } from './behaviour.ts';
import { waitUntil } from './processes.ts';

export const timeout: Behaviour = {
  name: 'timeout',
  layers: ['- timeout: { maxMs: 500 }'],
  open(peer, plan) {
    const call = plan.slow(peer);
    return {
      receipts: [{ tool: call.tool, status: 'timeout', executed: ['unknown', 'yes'] }],
      end: () => call.release(),
      async run(connection, find) {
        // What has to be started first is no part of the call's time.
        await connection.listTools();
        isResult(await connection.call(call.tool, call.args, { timeoutMs: 8000 }), true, find);
        if (!call.hasBegun(1)) find('effect', 'the server was not called');
        await hearsOfIt(call, find);
      },
    };
  },
};

const hearsOfIt = (call: { hasStopped(): boolean | null }, find: Find): Promise<void> =>
  waitUntil('the server to hear of it', () => call.hasStopped() !== false, 5000).catch(() =>
    find('effect', 'the server never heard that nobody waits any more'),
  );

/** Somebody says yes when the client has already gone. */
export const cancelAsked: Behaviour = {
  name: 'cancel while asked',
  layers: ASK,
  open(peer, plan) {
    const call = plan.effect(peer, ORIGINAL);
    const leave = new AbortController();
    let wasAsked = false;
    return {
      receipts: [{ tool: call.tool, status: 'cancelled', executed: ['no'], isOptional: true }],
      onElicit() {
        wasAsked = true;
        leave.abort();
        return { action: 'accept', content: { decision: 'allow_once' } };
      },
      async run(connection, find) {
        const outcome = await connection.call(call.tool, call.args, { signal: leave.signal });
        if (outcome.kind !== 'error') find('result', 'the client was answered after it had gone');
        if (!wasAsked) find('question', 'was not put');
      },
      afterwards: (find) => expectEffects(peer, plan, [], find),
    };
  },
};

export const cancelRunning: Behaviour = {
  name: 'cancel while running',
  layers: [],
  open(peer, plan) {
    const call = plan.slow(peer);
    return {
      receipts: [{ tool: call.tool, status: 'cancelled', executed: ['unknown', 'yes'] }],
      end: () => call.release(),
      async run(connection, find) {
        const leave = new AbortController();
        let progress = 0;
        const calling = connection.call(call.tool, call.args, {
          signal: leave.signal,
          onProgress: () => void (progress += 1),
        });
        await waitUntil('the server to begin', () => call.hasBegun(progress)).catch(() =>
          find('effect', 'the server was not called'),
        );
        leave.abort();
        if ((await calling).kind !== 'error')
          find('result', 'the client was answered after it had gone');
        await hearsOfIt(call, find);
        // Once this is answered, whoever stands between has read that the client left; the server
        // may end now.
        await connection.listTools();
      },
    };
  },
};
