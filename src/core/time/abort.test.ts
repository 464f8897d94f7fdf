import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import {
  abortWith,
  type AbortSource,
  createAbort,
  followAbort,
  linkAbort,
  sourceOf,
  waitWithin,
  whenAborted,
} from './abort.ts';

const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

describe('linkAbort', () => {
  it('aborts with its parent and for the same reason', () => {
    const parent = new AbortController();
    const { signal } = linkAbort(parent.signal);
    const reason = new Error('gone');
    parent.abort(reason);

    expect([signal.aborted, signal.reason]).toEqual([true, reason]);
  });

  it('is aborted from the start when its parent is', () => {
    const parent = AbortSignal.abort('early');
    const { signal } = linkAbort(parent);

    expect([signal.aborted, signal.reason, listeners(parent)]).toEqual([true, 'early', 0]);
  });

  it('aborts on its own without its parent', () => {
    const parent = new AbortController();
    const linked = linkAbort(parent.signal);
    linked.abort('mine');
    parent.abort('late');

    expect([linked.signal.aborted, linked.signal.reason]).toEqual([true, 'mine']);
  });

  it('needs no parent', () => {
    const linked = linkAbort();
    linked.unlink();
    linked.abort('mine');

    expect(linked.signal.reason).toBe('mine');
  });

  it('no longer follows its parent once unlinked', () => {
    const parent = new AbortController();
    const linked = linkAbort(parent.signal);
    linked.unlink();
    parent.abort();

    expect(linked.signal.aborted).toBe(false);
  });

  it('leaves no listener behind, whichever way it ends', () => {
    const parent = new AbortController();
    const finished = linkAbort(parent.signal);
    const aborted = linkAbort(parent.signal);
    expect(listeners(parent.signal)).toBe(1);

    finished.unlink();
    finished.unlink();
    aborted.abort();
    aborted.unlink();
    expect(listeners(parent.signal)).toBe(0);

    linkAbort(parent.signal);
    parent.abort();
    expect(listeners(parent.signal)).toBe(0);
  });
});

describe('whenAborted', () => {
  it('resolves when the signal aborts and leaves no listener behind', async () => {
    const controller = new AbortController();
    const { aborted } = whenAborted(controller.signal);
    expect(listeners(controller.signal)).toBe(1);

    controller.abort();

    await expect(aborted).resolves.toBeUndefined();
    expect(listeners(controller.signal)).toBe(0);
  });

  it('resolves for a signal that was aborted before', async () => {
    const waiting = whenAborted(AbortSignal.abort());
    waiting.stop();

    await expect(waiting.aborted).resolves.toBeUndefined();
  });

  it('lets go of the signal when told to stop', async () => {
    const controller = new AbortController();
    const waiting = whenAborted(controller.signal);
    waiting.stop();
    waiting.stop();
    controller.abort();

    expect(listeners(controller.signal)).toBe(0);
    await expect(Promise.race([waiting.aborted, Promise.resolve('still waiting')])).resolves.toBe(
      'still waiting',
    );
  });
});

describe('followAbort', () => {
  it('tells everybody, with one listener on the signal however many follow', () => {
    const controller = new AbortController();
    const told: number[] = [];
    for (let index = 0; index < 20; index += 1)
      followAbort(controller.signal, () => told.push(index));
    expect(listeners(controller.signal)).toBe(1);

    controller.abort();

    expect(told).toEqual(Array.from({ length: 20 }, (_, index) => index));
    expect(listeners(controller.signal)).toBe(0);
  });

  it('takes the same function twice, and lets go of one at a time', () => {
    const controller = new AbortController();
    let told = 0;
    const tell = () => void (told += 1);
    const letGo = followAbort(controller.signal, tell);
    followAbort(controller.signal, tell);
    letGo();
    letGo();
    controller.abort();

    expect(told).toBe(1);
  });

  it('does not tell one that another one has let go of meanwhile', () => {
    const controller = new AbortController();
    const told: string[] = [];
    followAbort(controller.signal, () => {
      told.push('first');
      letGoOfSecond();
    });
    const letGoOfSecond = followAbort(controller.signal, () => told.push('second'));
    controller.abort();

    expect(told).toEqual(['first']);
  });

  it('goes on for those that came after the last one had left', () => {
    const controller = new AbortController();
    const early = followAbort(controller.signal, () => {});
    early();
    let told = false;
    followAbort(controller.signal, () => void (told = true));
    early();
    followAbort(controller.signal, () => {});
    expect(listeners(controller.signal)).toBe(1);
    controller.abort();

    expect([told, listeners(controller.signal)]).toEqual([true, 0]);
  });

  it('tells at once of a signal that was aborted before', () => {
    const signal = AbortSignal.abort();
    let told = 0;
    followAbort(signal, () => void (told += 1))();

    expect([told, listeners(signal)]).toEqual([1, 0]);
  });
});

describe('waitWithin', () => {
  it('answers with what the work came to, and lets go of the signal', async () => {
    const { signal } = new AbortController();

    expect(await waitWithin(signal, async () => 7)).toBe(7);
    expect(listeners(signal)).toBe(0);
  });

  it('rejects with what the work threw, at once or later', async () => {
    await expect(
      waitWithin(undefined, () => {
        throw new Error('at once');
      }),
    ).rejects.toThrow('at once');
    await expect(
      waitWithin(new AbortController().signal, () => Promise.reject(new Error('later'))),
    ).rejects.toThrow('later');
  });

  it('leaves work behind that never comes to an end, when nobody wants it any more', async () => {
    const controller = new AbortController();
    const waiting = waitWithin(controller.signal, () => new Promise(() => {}));
    controller.abort(new Error('gone'));

    await expect(waiting).rejects.toThrow('gone');
    expect(listeners(controller.signal)).toBe(0);
  });

  it('takes what was there at once, also for somebody who has gone', async () => {
    expect(await waitWithin(AbortSignal.abort(), () => 7)).toBe(7);
  });
});

describe('an abort source', () => {
  /** Both kinds, each with what aborts it. */
  const kinds = (): readonly (readonly [
    source: AbortSource,
    abort: (reason?: unknown) => void,
  ])[] => {
    const own = createAbort();
    const controller = new AbortController();
    return [
      [own, (reason) => own.abort(reason)],
      [sourceOf(controller.signal), (reason) => controller.abort(reason)],
    ];
  };

  it('says what its signal says, before and after', () => {
    for (const [source, abort] of kinds()) {
      expect([source.isAborted(), source.reason(), source.read().aborted]).toEqual([
        false,
        undefined,
        false,
      ]);

      abort('mine');
      expect([
        source.isAborted(),
        source.reason(),
        source.read().aborted,
        source.read().reason,
      ]).toEqual([true, 'mine', true, 'mine']);
    }
  });

  it('tells whoever follows, once, and not whoever has let go', () => {
    for (const [source, abort] of kinds()) {
      const told: string[] = [];
      source.follow(() => void told.push('first'));
      const letGo = source.follow(() => void told.push('gone'));
      source.follow(() => void told.push('second'));
      letGo();
      abort();
      abort();

      expect(told).toEqual(['first', 'second']);
    }
  });

  it('tells whoever comes late at once', () => {
    for (const [source, abort] of kinds()) {
      let told = 0;
      abort();
      source.follow(() => void (told += 1))();

      expect(told).toBe(1);
    }
  });

  it('has the reason of an AbortController where none was given', () => {
    const own = createAbort();
    const { name, message } = AbortSignal.abort().reason as DOMException;
    own.abort();

    expect(own.reason()).toBeInstanceOf(DOMException);
    expect(own.reason()).toMatchObject({ name, message });
    expect(own.read().reason).toBe(own.reason());
  });

  it('keeps its first reason', () => {
    const own = createAbort();
    own.abort('first');
    own.abort('second');

    expect([own.reason(), own.read().reason]).toEqual(['first', 'first']);
  });

  it('aborts a signal that was read before and one that is read while others are told', () => {
    const own = createAbort();
    const early = own.read();
    const seen: boolean[] = [];
    own.follow(() => void seen.push(own.read().aborted, own.read() === early));
    own.abort();

    expect([early.aborted, ...seen]).toEqual([true, true, true]);
  });

  it('aborts with a signal until it is unlinked, and leaves no listener behind', () => {
    const parent = new AbortController();
    const [followed, unlinked] = [abortWith(parent.signal), abortWith(parent.signal)];
    unlinked.unlink();
    parent.abort('gone');
    followed.unlink();

    expect([
      followed.source.reason(),
      unlinked.source.isAborted(),
      listeners(parent.signal),
    ]).toEqual(['gone', false, 0]);
    expect(abortWith(AbortSignal.abort('early')).source.reason()).toBe('early');
    expect(abortWith(undefined).source.isAborted()).toBe(false);
  });
});
