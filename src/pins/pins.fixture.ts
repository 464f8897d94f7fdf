/** A tool with something of everything, and changes of it. */

import type { ToolSpec } from '../core/contract/layer.ts';
import { type PinBook } from './pin-book.ts';
import { reconcilePins } from './judge-definition.ts';

export const NOW = Date.UTC(2026, 0, 1);

/** A definition. `null` takes a member off. */
export function toolOf(changes: object = {}): ToolSpec {
  const tool = {
    name: 'read_file',
    description: 'Reads a file of the project.',
    inputSchema: {
      type: 'object',
      properties: { path: { type: 'string', description: 'Where it is.' } },
      required: ['path'],
    },
    outputSchema: { type: 'object', properties: { text: { type: 'string' } } },
    annotations: {
      readOnly: true,
      destructive: false,
      idempotent: true,
      openWorld: false,
      safety: { allowedRoots: ['src'] },
    },
    ...changes,
  };
  return Object.fromEntries(
    Object.entries(tool).filter(([, value]) => value !== null),
  ) as unknown as ToolSpec; // The parts are above.
}

/** A book in which these are pinned. */
export function bookOf(...tools: readonly ToolSpec[]): PinBook {
  const book = reconcilePins(null, {
    source: 'files',
    tools,
    pinsNew: true,
    listed: null,
    now: NOW,
  });
  if (book === null) throw new Error('nothing was pinned');
  return book;
}
