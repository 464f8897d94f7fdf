/**
 * Text that must never show: in which forms it is looked for, and everywhere a call can leave a
 * trace.
 */

import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ToolResult } from '../src/index.ts';

/**
 * A new one for every run, so that nothing can know it. Looks like an access token, so that
 * detectors find it.
 */
export const secretCanary = (): string =>
  `${['gh', 'p'].join('')}_${randomBytes(18).toString('hex')}`;

/** Looks like nothing in particular: only the dispatcher knows that it is secret. */
export const plainCanary = (): string => `hidden-${randomBytes(16).toString('hex')}`;

/** The forms a value can take on its way out. */
export function formsOf(value: string): readonly string[] {
  // Base64 of a text depends on where in a group of three bytes it begins; the middle is the same
  // whatever surrounds it.
  const base64 = [0, 1, 2].map((shift) =>
    Buffer.from('x'.repeat(shift) + value)
      .toString('base64')
      .slice(4, -4),
  );
  const bytes = Buffer.from(value);
  return [
    value,
    ...base64,
    ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
    bytes.toString('hex'),
    [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
    Array.from(value, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
    Array.from(value).reverse().join(''),
  ];
}

/** The forms of a value that a text contains. */
export const formsIn = (text: string, value: string): readonly string[] =>
  formsOf(value).filter((form) => text.toLowerCase().includes(form.toLowerCase()));

/** Everything of a result but what a person is shown to decide about. */
export const tracesOf = ({ interruption: _shown, ...result }: ToolResult): string =>
  JSON.stringify(result);

/** The text of every file below a folder, names included. */
export function filesBelow(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.name}\n${readFileSync(join(entry.parentPath, entry.name), 'utf8')}`)
    .join('\n');
}
