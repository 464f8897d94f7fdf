import { describe, expect, it } from 'vitest';
import { isAlliumError } from '../core/contract/errors.ts';
import { checkToolName, nameAdvice } from './names.ts';

const refused = (name: unknown, policy: 'portable' | 'mcp'): boolean => {
  try {
    checkToolName(name, policy);
    return false;
  } catch (error) {
    return isAlliumError(error, 'ERR_INVALID_TOOL');
  }
};

describe('checkToolName', () => {
  it.each(['a', 'read_file', 'Get-User', 'constructor', `a${'b'.repeat(63)}`])(
    'gives the portable name "%s" back',
    (name) => {
      expect(checkToolName(name, 'portable')).toBe(name);
    },
  );

  it.each(['', '1st', '_x', 'a.b', 'a b', 'é', `a${'b'.repeat(64)}`, 'a\n', undefined, 7, {}])(
    'refuses %j as a portable name',
    (name) => {
      expect(refused(name, 'portable')).toBe(true);
    },
  );

  it.each(['1st', '_x', 'a.b', '-', 'x'.repeat(128)])('takes "%s" from an MCP server', (name) => {
    expect(checkToolName(name, 'mcp')).toBe(name);
  });

  it.each(['', 'a/b', 'a b', 'x'.repeat(129), 'a\n', null])(
    'refuses %j from an MCP server',
    (name) => {
      expect(refused(name, 'mcp')).toBe(true);
    },
  );

  it('keeps control characters of a bad name out of its message', () => {
    expect(() => checkToolName('a\u001b[31m\nb', 'portable')).toThrow(/got "a \[31m b"$/);
  });
});

describe('nameAdvice', () => {
  it('is silent about good names', () => {
    expect(nameAdvice(['read_file', 'write_file', 'v2_search'])).toEqual([]);
  });

  it('names what is not snake_case', () => {
    expect(nameAdvice(['readFile', 'read-file_now'])).toEqual([
      '"readFile" is not snake_case.',
      '"read-file_now" is not snake_case.',
    ]);
  });

  it('names what is too long once a host has put its prefix in front', () => {
    expect(nameAdvice(['x'.repeat(40)])).toEqual([]);
    expect(nameAdvice(['x'.repeat(41)])).toEqual([expect.stringContaining('41 characters')]);
  });

  it.each([
    [['get', 'GET'], 'differ only by case'],
    [['get_it', 'get-it'], 'look alike'],
    [['get.it', 'get_it'], 'look alike'],
    [['log0', 'logO'], 'look alike'],
    [['al1', 'all', 'aII'], 'look alike'],
  ])('warns of %j', (names, text) => {
    const [advice] = nameAdvice(names).filter((sentence) => sentence.includes('confuse'));

    expect(advice).toContain(text);
    for (const name of names) expect(advice).toContain(`"${name}"`);
  });

  it('does not take a repeated name for a look-alike', () => {
    expect(nameAdvice(['get', 'get'])).toEqual([]);
  });

  it('looks at each of ten thousand names once', () => {
    const names = Array.from({ length: 10_000 }, (_, index) => `tool_${index.toString(36)}`);
    const started = performance.now();
    nameAdvice(names);

    // Comparing every pair takes fifty million looks, which is seconds.
    expect(performance.now() - started).toBeLessThan(500);
  });
});
