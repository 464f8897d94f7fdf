import { describe, expect, it } from 'vitest';
import { pendingRequests } from './pending-requests.ts';

describe('pending requests', () => {
  it('are taken once, by their own id only', () => {
    const open = pendingRequests<string>();
    open.add(1, 'number');
    open.add('1', 'text');

    expect(open.take('2')).toBeUndefined();
    expect(open.take(1)).toBe('number');
    expect(open.take(1)).toBeUndefined();
    expect(open.get('1')).toBe('text');
  });

  it('are none after all were taken', () => {
    const open = pendingRequests<string>();
    open.add('b', 'first');
    open.add('a', 'second');

    expect(open.takeAll()).toEqual(['first', 'second']);
    expect(open.takeAll()).toEqual([]);
    expect(open.size).toBe(0);
  });
});
