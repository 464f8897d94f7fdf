import { expect, it } from 'vitest';
import { durationText } from './receipts-format.ts';

it.each([
  [0, '0'],
  [0.00123, '0.00123'],
  [1.5, '1.5'],
  [12.345, '12.3'],
  [100.4, '100'],
  [1234.5, '1235'],
  [86_400_000.4, '86400000'],
])('a duration of %d ms is written %s', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});
