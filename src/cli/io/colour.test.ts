import { describe, expect, it } from 'vitest';
import { colourFor, paint } from './colour.ts';

describe('colourFor', () => {
  it.each([
    ['a terminal', true, {}, true],
    ['a pipe', false, {}, false],
    ['a stream that says nothing', undefined, {}, false],
    ['a terminal with NO_COLOR', true, { NO_COLOR: '1' }, false],
    ['a terminal with an empty NO_COLOR', true, { NO_COLOR: '' }, true],
    ['a dumb terminal', true, { TERM: 'dumb' }, false],
    ['a pipe with FORCE_COLOR', false, { FORCE_COLOR: '1' }, true],
    ['a pipe with an empty FORCE_COLOR', false, { FORCE_COLOR: '' }, true],
    ['a terminal with FORCE_COLOR=0', true, { FORCE_COLOR: '0' }, false],
    ['a terminal with FORCE_COLOR=false', true, { FORCE_COLOR: 'false' }, false],
    ['FORCE_COLOR against NO_COLOR', false, { FORCE_COLOR: '1', NO_COLOR: '1' }, true],
  ] as const)('decides for %s', (_name, isTTY, env, expected) => {
    expect(colourFor(isTTY === undefined ? {} : { isTTY }, env)).toBe(expected);
  });
});

describe('paint', () => {
  it('adds a style only where there are colours', () => {
    expect(paint(true, 'red', 'x')).toBe('\u001b[31mx\u001b[39m');
    expect(paint(false, 'red', 'x')).toBe('x');
  });
});
