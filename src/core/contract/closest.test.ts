import { describe, expect, it } from 'vitest';
import { closest } from './closest.ts';

const OPTIONS = ['maxMs', 'perTool', 'graceMs', 'message', 'onSinkError'];

describe('closest', () => {
  it.each([
    ['maxms', 'maxMs'],
    ['MAXMS', 'maxMs'],
    ['perTools', 'perTool'],
    ['pertool', 'perTool'],
    ['mesage', 'message'],
    ['onSinkErrors', 'onSinkError'],
    ['onSinkEror', 'onSinkError'],
    ['message', 'message'],
  ])('finds for %s the name %s', (word, name) => {
    expect(closest(word, OPTIONS)).toBe(name);
  });

  it.each(['timeout', 'x', '', 'messagesAndMore', 'MAXIMUM'])(
    'finds nothing for %j rather than a guess',
    (word) => {
      expect(closest(word, OPTIONS)).toBeUndefined();
    },
  );

  it('prefers the nearest, and the first of equals', () => {
    expect(closest('reads', ['roads', 'read', 'beads'])).toBe('roads');
    expect(closest('read_fil', ['read_dir', 'read_file'])).toBe('read_file');
  });

  it('finds nothing among nothing', () => {
    expect(closest('a', [])).toBeUndefined();
  });

  it('takes any iterable', () => {
    expect(closest('ech', new Map([['echo', 1]]).keys())).toBe('echo');
  });

  it('answers at once for a name that somebody made very long', () => {
    expect(closest('a'.repeat(1_000_000), OPTIONS)).toBeUndefined();
  });
});
