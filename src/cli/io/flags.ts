/** Options that several commands have. */

import { UsageError } from './io.ts';
import { safeText } from './text-table.ts';

/** An option that may be given several times: its values in order. */
export const collect = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  value,
];

/** A port, as every command that listens takes it. */
export function readPort(value: string): number {
  const number = Number(value);
  if (/^\d{1,5}$/.test(value) && number <= 65_535) return number;
  throw new UsageError(`--listen takes a port, got "${safeText(value)}"`);
}
