import { describe, expect, it } from 'vitest';
import { makeCall } from '../../conformance/index.ts';
import type { ApprovalQuestion, JsonObject } from '../index.ts';
import { describeQuestion } from './describe-question.ts';
import { cut, plainLine, visible } from './plain-text.ts';

/** Characters that a terminal acts upon or draws with no width, by an enumeration of their own. */
const DANGEROUS = [
  ...Array.from({ length: 0x20 }, (_, code) => code),
  ...Array.from({ length: 0x21 }, (_, index) => 0x7f + index),
  ...[
    0xa0, 0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x180e, 0x2028, 0x2029, 0x202f, 0x205f,
    0x3000, 0x3164, 0xfe0f, 0xfeff, 0xffa0,
  ],
  ...Array.from({ length: 0x10 }, (_, index) => 0x2000 + index),
  ...Array.from({ length: 5 }, (_, index) => 0x202a + index),
  ...Array.from({ length: 16 }, (_, index) => 0x2060 + index),
  ...Array.from({ length: 0x70 }, (_, index) => 0x300 + index),
  ...Array.from({ length: 0x80 }, (_, index) => 0xe0000 + index),
  ...[0xd800, 0xdfff, 0xe000, 0xfff9, 0x1d173, 0xe0100, 0xe01ef, 0x10ffff],
];

describe('visible', () => {
  it('writes every dangerous character by its number, and nothing else with it', () => {
    const shown = DANGEROUS.map((code) => visible(`a${String.fromCodePoint(code)}b`));

    expect(shown).toEqual(DANGEROUS.map((code) => `a\\u{${code.toString(16)}}b`));
  });

  it('leaves no control, format or separator character of all there are', () => {
    const all = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code)).join(' ');

    expect(/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u.test(visible(all))).toBe(false);
  });

  it.each(['plain text, with 1 space', 'Größe ñ', '漢字', 'हिन्दी', 'ภาษาไทย', '👍', '"{}\\'])(
    'leaves %s alone',
    (text) => {
      expect(visible(text)).toBe(text);
    },
  );

  it('is needed: escaping as JSON lets C1, bidi and zero-width characters through', () => {
    expect(JSON.stringify('\u009b31m\u202e\u200b')).toMatch(/[\u009b\u202e\u200b]/);
  });
});

describe('cut', () => {
  it('counts what is missing and never halves a character', () => {
    expect(cut('abc', 3)).toBe('abc');
    expect(cut('abcd', 3)).toBe('abc… [1 more characters]');
    expect(cut(`ab👍${'x'.repeat(2000)}`, 3)).toBe('ab… [2,002 more characters]');
    expect(plainLine('x'.repeat(1_000_000))).toHaveLength(
      500 + '… [999,500 more characters]'.length,
    );
  });
});

describe('describeQuestion', () => {
  const { turn, annotations } = makeCall();
  const lines = (args: JsonObject, changes: Partial<ApprovalQuestion> = {}, limits = {}) =>
    describeQuestion(
      {
        ...{
          id: 'a',
          toolName: 'send',
          callId: 'call-1',
          turn,
          annotations,
          fingerprint: 'sha256:abc',
        },
        ...{
          shown: { args },
          options: ['allow_once'],
          signal: new AbortController().signal,
          ...changes,
        },
      },
      { maxTextLength: 40, maxLines: 10, columns: 60, ...limits },
    ).split('\n');

  it('cuts long texts one by one, so that none pushes another out of sight', () => {
    const shown = lines({ padding: 'x'.repeat(1_000_000), command: 'rm -rf /' });

    expect(shown.join('')).toContain('[999,960 more characters]');
    expect(shown.join('')).toContain('"command": "rm -rf /"');
    expect(shown.join('').length).toBeLessThan(400);
  });

  it('maxLines counts the lines that are not shown', () => {
    const shown = lines(
      { list: Array.from({ length: 1000 }, (_, index) => index) },
      {},
      { maxLines: 5 },
    );

    expect(shown).toHaveLength(10);
    expect(shown).toContain('│  NOT ALL IS SHOWN: 999 more lines of arguments');
    expect(shown).toContain('│  Fingerprint: sha256:abc');
  });

  it('wraps by itself, so that no text can choose where a line of the terminal begins', () => {
    const forged = `${' '.repeat(55)}│  Tool: harmless ${'漢'.repeat(60)}`;
    const shown = lines({ text: forged }, { toolName: forged }, { maxTextLength: 1000 }).slice(
      0,
      -1,
    );

    expect(shown.every((line) => line.startsWith('│  ') && line.length <= 59)).toBe(true);
    expect(shown.filter((line) => line.startsWith('│  Tool:'))).toHaveLength(1);
  });

  it('tells why it is asked and how long the question is open', () => {
    const shown = lines(
      {},
      { shown: { args: {}, reason: 'over the limit' }, expiresAt: '2026-01-01T00:00:00.000Z' },
    );

    expect(shown).toContain('│  Asked because: over the limit');
    expect(shown).toContain('│  Open until: 2026-01-01T00:00:00.000Z');
  });
});
