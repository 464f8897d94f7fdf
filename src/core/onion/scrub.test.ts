import { describe, expect, it } from 'vitest';
import type { Scrub } from '../contract/layer.ts';
import { scrub, scrubText, WITHHELD } from './audit.ts';

const mask: Scrub = (text) => text.replaceAll('hunter2', '***');
const failing: Scrub = () => {
  throw new Error('broken');
};
/** Scrubs that break their type, as untyped callers can. */
const lying = (answer: unknown) => (() => answer) as Scrub;

describe('scrubText', () => {
  it('runs every cleaner on what the one before left', () => {
    expect(scrubText('hunter2!', [mask, (text) => `${text}${text}`])).toBe('***!***!');
  });

  it('leaves the text alone without cleaners', () => {
    expect(scrubText('hunter2', [])).toBe('hunter2');
  });

  it('withholds the whole text when a cleaner throws, also after a good one', () => {
    expect(scrubText('hunter2 and more', [mask, failing])).toBe(WITHHELD);
    expect(scrubText('hunter2 and more', [failing, mask])).toBe(WITHHELD);
  });

  it.each([[undefined], [null], [42], [Promise.resolve('clean')], [['clean']]])(
    'withholds the text when a cleaner answers %o',
    (answer) => {
      expect(scrubText('hunter2', [lying(answer)])).toBe(WITHHELD);
    },
  );
});

describe('scrub', () => {
  it('cleans every string at every depth, member names included', () => {
    const record = {
      'hunter2 key': ['hunter2', { deep: { list: [['x hunter2 x']] } }],
      text: 'hunter2',
    };

    expect(scrub(record, [mask])).toEqual({
      '*** key': ['***', { deep: { list: [['x *** x']] } }],
      text: '***',
    });
    expect(JSON.stringify(scrub(record, [mask]))).not.toContain('hunter2');
  });

  it('keeps numbers, booleans and null', () => {
    expect(scrub({ n: 1, yes: true, none: null }, [mask])).toEqual({ n: 1, yes: true, none: null });
  });

  it('does not change what it was given', () => {
    const record = Object.freeze({ text: 'hunter2', list: Object.freeze(['hunter2']) });
    scrub(record, [mask]);

    expect(record).toEqual({ text: 'hunter2', list: ['hunter2'] });
  });

  it('gives the very value back when there is nothing to clean with', () => {
    const record = { text: 'hunter2' };

    expect(scrub(record, [])).toBe(record);
  });

  it('withholds names and values alike when a cleaner throws', () => {
    expect(scrub({ hunter2: 'hunter2', n: 1 }, [failing])).toEqual({ [WITHHELD]: 1 });
    expect(JSON.stringify(scrub([{ a: 'hunter2' }, 'hunter2'], [failing]))).not.toContain(
      'hunter2',
    );
  });

  it('keeps a member called __proto__ as data', () => {
    const record: unknown = JSON.parse('{"__proto__":{"note":"hunter2"}}');

    expect(JSON.stringify(scrub(record, [mask]))).toBe('{"__proto__":{"note":"***"}}');
  });

  it('cannot set a prototype through a cleaner either', () => {
    const clean = scrub({ name: { admin: true } }, [
      (text) => (text === 'name' ? '__proto__' : text),
    ]);

    expect(Object.getPrototypeOf(clean)).toBe(Object.prototype);
  });

  it('looks at every text once, however deep an unclean one lies', () => {
    let looks = 0;
    const cleaner = (text: string) => {
      looks += 1;
      return text.replace('secret', '***');
    };
    let deep: unknown = 'a secret';
    for (let depth = 0; depth < 60; depth += 1) deep = depth % 2 === 0 ? { inner: deep } : [deep];
    const clean = scrub(deep, [cleaner]);

    expect(JSON.stringify(clean)).toContain('a ***');
    expect(looks).toBeLessThanOrEqual(31 + 1);
  });

  it('gives back what was clean, and copies only what was not', () => {
    const value = { kept: { list: ['a', 'b'] }, changed: ['secret'] };
    const cleaned = scrub(value, [(text) => text.replace('secret', '***')]);

    expect(cleaned).toEqual({ kept: { list: ['a', 'b'] }, changed: ['***'] });
    expect(cleaned.kept).toBe(value.kept);
    expect(scrub(value, [(text) => text])).toBe(value);
  });
});
