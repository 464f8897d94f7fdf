import { describe, expect, it } from 'vitest';
import { APPROVAL_ANSWERS } from './question.ts';
import { isForAlways, isYes, readAnswer } from './read-answer.ts';

describe('readAnswer', () => {
  it.each(APPROVAL_ANSWERS)('reads %s', (decision) => {
    expect(readAnswer({ decision })).toEqual({ decision });
  });

  it('reads every member once, and keeps copies', () => {
    const args = { to: 'bob' };
    let reads = 0;
    const answer = {
      get decision() {
        reads += 1;
        return reads === 1 ? 'reject_once' : 'allow_once';
      },
      ...{ decidedBy: 'ada', reason: 'rent', args },
    };
    const read = readAnswer(answer);
    args.to = 'mallory';

    expect(read).toEqual({
      decision: 'reject_once',
      decidedBy: 'ada',
      reason: 'rent',
      args: { to: 'bob' },
    });
    expect(reads).toBe(1);
  });

  it.each([null, 0, '', false, [], {}])('takes %j for a result like any other', (result) => {
    expect(readAnswer({ decision: 'allow_once', result })).toEqual({
      decision: 'allow_once',
      supplied: { value: result },
    });
  });

  it('leaves out who and why where they are empty', () => {
    expect(readAnswer({ decision: 'allow_once', decidedBy: '', reason: '' })).toEqual({
      decision: 'allow_once',
    });
  });

  it.each([
    [undefined],
    [null],
    ['allow_once'],
    [['allow_once']],
    [{}],
    [{ decision: 'ALLOW_ONCE' }],
    [{ decision: 'toString' }],
    [{ decision: ['allow_once'] }],
    [{ decision: 'allow_once', agrs: {} }],
    [{ decision: 'allow_once', args: [] }],
    [{ decision: 'allow_once', args: null }],
    [{ decision: 'allow_once', decidedBy: 5 }],
    [{ decision: 'allow_once', reason: {} }],
    [{ decision: 'allow_once', args: {}, result: 1 }],
    [{ decision: 'reject_once', result: 1 }],
    [{ decision: 'reject_always', result: null }],
  ])('makes nothing of %j', (value) => {
    expect(readAnswer(value)).toBeNull();
  });

  it('takes no answer from what hangs on every object', () => {
    const inherited: unknown = Object.create({ decision: 'allow_once' });

    expect(readAnswer(inherited)).toBeNull();
  });

  it.each([
    [{ decision: 'allow_once', args: { n: 1n } }],
    [{ decision: 'allow_once', result: () => 1 }],
  ])('makes nothing of what is no JSON', (value) => {
    expect(readAnswer(value)).toBeNull();
  });
});

describe('the words of an answer', () => {
  it('are yes or no, once or for always, and nothing else is a yes', () => {
    expect(APPROVAL_ANSWERS.map((word) => [isYes(word), isForAlways(word)])).toEqual([
      [true, false],
      [true, true],
      [false, false],
      [false, true],
    ]);
    expect(['expired', 'allow', '', 'toString'].some(isYes)).toBe(false);
  });
});
